# SPDX-License-Identifier: MIT
# ktop. `make` builds build/ktop; `make demo` and `make check` also install what they need.
# Everything that is made goes to build/. A short line is printed for each file; V=1 prints the commands.

CC = gcc
CLANG = clang
WARN = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith \
	-Wwrite-strings -Wvla -Werror
CPPFLAGS = -D_GNU_SOURCE -I.
CFLAGS = -std=c11 $(WARN) -g -fno-omit-frame-pointer -pthread
LIBS = -lncursesw -ltinfo -ldw -lelf -lcjson -liberty -lm -pthread
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined
comma = ,
say = $(if $(V),,@echo '$1 $@';)

# ---- what there is, room by room (docs/architecture.md) ----

HOOK = $(addprefix kernel-hook/, \
	control drain grid hook keys meta pace packet ring sample sampler str table trace unwind unwind_user \
	$(addprefix virtio/, pci pci_ports virtio virtio_legacy virtio_modern virtio_pci virtio_port \
		virtio_serial virtq))
AGENT = $(addprefix agent/, \
	$(addprefix base/, budget errand hash json options pattern peer recent spool unix_socket util \
		util_file) \
	$(addprefix wire/, decode metadata payload record record_writer) \
	$(addprefix vm/qmp/, qmp qmp_buses qmp_discover qmp_keys qmp_plug qmp_state qmp_talk qmp_unplug) \
	$(addprefix vm/, launch launch_folder link link_port link_remark link_silence port_socket stand_in) \
	$(addprefix store/, arrivals cells cpus run span stack_cache stacks store) \
	$(addprefix names/files/, debug_file debuginfod demangle image line_worker sym_dwarf \
		sym_dwarf_inlines sym_dwarf_lines sym_dwarf_module sym_elf sym_text symbol_table sysroot) \
	$(addprefix names/, address_cache functions guest_symbols kernel_image kernel_names layouts objects \
		programs sources specials symbols threads) \
	$(addprefix query/, filter filter_words naming profile query query_inlined query_stacks table window) \
	$(addprefix guest/, commands epoch loan meter profiler profiler_drive remarks) \
	$(addprefix source/, live) \
	$(addprefix export/, export_folded) \
	$(addprefix session/, mailbox picture saver session session_names session_orders session_picture turn) \
	$(addprefix fleet/, fleet fleet_names fleet_picture) \
	$(addprefix report/, export_json report report_file report_guest report_options report_text) \
	$(addprefix service/, control_client control_socket service))
TUI = $(addprefix tui/, \
	$(addprefix terminal/, canvas glyphs keys signals term term_keys theme tty) \
	$(addprefix frame/, emptiness header key_bar list prompt remark_line scope status tab_row title) \
	$(addprefix views/, column config config_file view_functions view_help) \
	$(addprefix screen/, app machine overview screen screen_input screen_prompt snapshot tabs))
COMMANDS = $(addprefix tui/commands/, command command_config command_ctl command_report command_run command_screen \
	command_top main)
PORTS = kernel-hook/ports
DEMO = $(addprefix $(PORTS)/demo/, boot entry switch main command console string acpi cpu apic smp trap clock \
	page slab space thread sched spin mutex program programs process syscall keyboard port profile books mix oracle_tail)
DEMO_WORK = $(addprefix $(PORTS)/demo/, oracle cost oracle_shapes checksum file mix_files mix_processes mix_memory \
	mix_ledger mix_mail mix_quiet)
DEMO_PROGRAMS = hash primes queens sort pulse
TEMPLATE = $(addprefix $(PORTS)/template/, alarm current memory port start string)
DEMO_TEMPLATE = $(filter %/port %/start,$(TEMPLATE))
TINY = $(addprefix $(PORTS)/tiny/, boot main profile)

# Unit tests: one program each, in tests/unit/, in the room of what it tests.
UNIT = $(addprefix kernel-hook/test_, control drain grid keys meta overflow ring sample trace unwind wire) \
	$(addprefix kernel-hook/virtio/test_, hotplug virtio_serial virtq) \
	$(addprefix kernel-hook/ports/test_, alarm template) \
	$(addprefix agent/base/test_, options recent util) \
	$(addprefix agent/wire/test_, decode record) \
	$(addprefix agent/vm/qmp/test_, qmp) \
	$(addprefix agent/vm/test_, launch link plug port_socket) \
	$(addprefix agent/store/test_, run stack_cache stacks store) \
	$(addprefix agent/names/files/test_, absurd_files debug_file debuginfod demangle line_worker sym_dwarf \
		sym_elf sym_text) \
	$(addprefix agent/names/test_, guest_symbols kernel_names layouts sources symbols threads) \
	$(addprefix agent/query/test_, filter_words query query_inlined table) \
	$(addprefix agent/guest/test_, commands profiler) \
	$(addprefix agent/export/test_, export) \
	$(addprefix agent/session/test_, memory session session_files turn waits) \
	$(addprefix agent/fleet/test_, fleet) \
	$(addprefix agent/report/test_, growth report report_guest report_others) \
	$(addprefix agent/service/test_, control_socket private) \
	$(addprefix tui/terminal/test_, canvas keymap signals) \
	$(addprefix tui/frame/test_, header list prompt) \
	$(addprefix tui/views/test_, config view_functions) \
	$(addprefix tui/screen/test_, screen states steady tabs walk)
THREADED = kernel-hook/test_ring_threads kernel-hook/test_pace_threads kernel-hook/test_hook_threads
WEAK = kernel-hook/test_ring_barriers kernel-hook/test_sampler_barriers kernel-hook/test_table_barriers kernel-hook/virtio/test_virtq_barriers
SCARCE_UNIT = agent/session/test_scarce
FAKES = counts decode_log fake_guest fake_host fake_machine fake_port fake_qmp fake_serial fake_smp golden \
	hand_picture no_waits packets query_world report_fixture safe_canvas session_fixture sheet stage
STAND_INS = fake_session fake_symbols	# each in the place of the real one
FUZZ = fuzz_decode fuzz_qmp fuzz_elf fuzz_dwarf fuzz_nm fuzz_demangle fuzz_control fuzz_service fuzz_screen fuzz_session
# The same, each allocation refused in turn; the hook allocates nothing, floods take too long.
SCARCE = $(patsubst fuzz_%,scarce_%,$(filter-out fuzz_control fuzz_session,$(FUZZ)))
TOOLS = pty liar harmless odd_qemu refuse.so slow_disk.so	# of tests/e2e
BENCH = ingest names screen memory first perfdata bytes folded cost
BENCH_PARTS = world traffic setup intake guest terminal
CHECKS = bench licence layers messages message-table manual completion install cpus barriers
# The short ones last, so that none is left alone for long.
E2E = tiny port books linux_port linux_goes linux_leaves linux_away linux_silent linux linux_nmi plug_linux linux_demo linux_debug cost boot plug report \
	screen terminal refused hostile faults_guest faults_qemu faults_qmp waits leaves faults_port faults_files ctl machines suspend demo config
ALONE = oracle unread	# of tests/e2e as well: they compare times of the host

UNIT_PROGRAMS = $(UNIT:%=build/check/tests/unit/%) $(SCARCE_UNIT:%=build/check/tests/unit/%)
FUZZ_PROGRAMS = $(FUZZ:%=build/check/%) $(SCARCE:%=build/check/%)
TSAN_PROGRAMS = $(THREADED:%=build/tsan/tests/unit/%) $(WEAK:%=build/tsan/tests/unit/%)

all: build/ktop demo-kernel

# ---- objects and libraries: a folder in build/ for each kind ----

# $(call kind,FOLDER,COMPILER,FLAGS)
define kind
build/$1/%.o: %.c
	@mkdir -p $$(@D)
	$$(call say,CC)$2 $$(CPPFLAGS) $$(CFLAGS) $3 $$(OWN) -MMD -MP -c -o $$@ $$<
build/$1/libhook.a: $$(HOOK:%=build/$1/%.o)
build/$1/libagent.a: $$(AGENT:%=build/$1/%.o)
build/$1/libtui.a: $$(TUI:%=build/$1/%.o)
build/$1/libfakes.a: $$(FAKES:%=build/$1/tests/unit/fakes/%.o)
build/$1/libbench.a: $$(BENCH_PARTS:%=build/$1/bench/%.o) build/$1/tests/unit/fakes/packets.o
build/$1/%.a:
	@rm -f $$@
	$$(call say,AR)ar rcs $$@ $$^
endef
$(eval $(call kind,host,$(CC),-O2))
$(eval $(call kind,check,$(CC),-O1 $(SANITIZE)))
$(eval $(call kind,tsan,$(CC),-O1 -fsanitize=thread -Wno-tsan))
$(eval $(call kind,fuzz,$(CLANG),-O1 -fsanitize=fuzzer-no-link$(comma)address$(comma)undefined -fno-sanitize-recover=undefined))

# $(call link,COMPILER,FLAGS,LIBRARIES): of the prerequisites' objects and libraries.
link = @mkdir -p $(@D)$(newline)	$(call say,LD)$1 $(CFLAGS) $2 -o $@ $(filter %.o,$^) \
	-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $3
define newline


endef
libraries = $(foreach name,fakes tui agent hook,build/$1/lib$(name).a)

# ---- the program ----

build/ktop: $(COMMANDS:%=build/host/%.o) build/host/libtui.a build/host/libagent.a
	$(call link,$(CC),,$(LIBS))

# ---- the guest: the hook as a kernel compiles it, the demo kernel around it, and the port to copy from ----

GUEST = -std=c11 $(WARN) -O2 -g -ffreestanding -nostdlib -fno-stack-protector -fno-pic -mno-red-zone \
	-mgeneral-regs-only -fcf-protection=none -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
	-fno-optimize-sibling-calls -fno-asynchronous-unwind-tables
# gcc gives a function that calls nothing no frame, so that a walk from there misses its caller;
# unless it is to be profiled: what remains of that is a NOP. And each function stays one, by its name.
FRAMES = -fno-shrink-wrap -pg -mfentry -mnop-mcount -fno-ipa-icf -fno-ipa-sra -fno-ipa-cp -fno-partial-inlining
GUEST_CPPFLAGS = -Ikernel-hook -I$(PORTS)/demo
GUEST_LDFLAGS = -nostdlib -static -no-pie -Wl,--build-id=sha1,-z,max-page-size=4096,-z,noexecstack

# Work is seen by function: none is put into another; and one file is there for its tail call.
$(DEMO_WORK:%=build/guest/%.o): SHAPE = -fno-inline
# The hook is built with what docs/porting.md says, no more.
$(HOOK:%=build/guest/%.o) $(TEMPLATE:%=build/guest/%.o) build/guest/$(PORTS)/demo/port.o: FRAMES =
build/guest/$(PORTS)/demo/oracle_tail.o: SHAPE = -foptimize-sibling-calls

build/guest/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(GUEST_CPPFLAGS) $(GUEST) $(FRAMES) -mcmodel=kernel $(SHAPE) -MMD -MP -c -o $@ $<

build/guest/%.o: %.S
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(GUEST_CPPFLAGS) $(GUEST) -Wa,-Ibuild/demo -MMD -MP -c -o $@ $<

build/demo/%: $(PORTS)/demo/user/%.c $(PORTS)/demo/user/start.S $(PORTS)/demo/user/program.h $(PORTS)/demo/call.h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(GUEST_CPPFLAGS) $(GUEST) $(FRAMES) -fno-inline $(GUEST_LDFLAGS) -o $@ $(filter %.c %.S,$^)

build/guest/$(PORTS)/demo/programs.o: $(DEMO_PROGRAMS:%=build/demo/%)

build/demo/demo.elf: $(patsubst %,build/guest/%.o,$(DEMO) $(DEMO_WORK) $(DEMO_TEMPLATE) $(HOOK)) $(PORTS)/demo/link.ld
build/tiny/tiny.elf: $(patsubst %,build/guest/%.o,$(TINY) $(TEMPLATE) $(HOOK)) $(PORTS)/tiny/link.ld
build/demo/demo.elf build/tiny/tiny.elf:
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(GUEST_LDFLAGS) -T $(filter %.ld,$^) -o $@ $(filter %.o,$^)

demo-kernel: build/demo/demo.elf build/tiny/tiny.elf

# ---- tests: the same files under sanitizers, the hook's as host code ----

# Every test is linked alike. Before the screens is another session, before the query are other symbols.
$(UNIT_PROGRAMS): %: %.o $(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(WRAP),-lcmocka $(LIBS))
$(filter build/check/tests/unit/tui/%,$(UNIT_PROGRAMS)) build/check/fuzz_screen build/check/scarce_screen: \
	build/check/tests/unit/fakes/fake_session.o
build/fuzz/fuzz_screen: build/fuzz/tests/unit/fakes/fake_session.o
$(filter build/check/tests/unit/agent/query/% %/test_export,$(UNIT_PROGRAMS)): build/check/tests/unit/fakes/fake_symbols.o
build/check/tests/unit/kernel-hook/ports/test_alarm: build/check/$(PORTS)/template/alarm.o
build/check/tests/unit/kernel-hook/ports/test_template: $(patsubst %,build/check/%.o,$(filter-out %/string,$(TEMPLATE)))
%/test_waits: WRAP = $(patsubst %,-Wl$(comma)--wrap=%,poll recv read connect fsync pthread_join pthread_cond_wait \
	nanosleep opendir fopen open stat lstat fstatat access mkdir rename write realpath)

# The fuzz targets on the committed corpus alone; and again, each allocation refused in turn.
$(FUZZ:%=build/check/%): build/check/%: build/check/tests/fuzz/%.o build/check/tests/fuzz/replay.o $(call libraries,check)
	$(call link,$(CC),$(SANITIZE),$(LIBS))
$(SCARCE:%=build/check/%): build/check/scarce_%: build/check/tests/fuzz/fuzz_%.o build/check/tests/fuzz/scarcely.o $(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(WRAP),$(LIBS))
$(SCARCE:%=build/check/%) $(SCARCE_UNIT:%=build/check/tests/unit/%): WRAP = -Wl,--wrap=budget_take
$(SCARCE:%=build/check/%) $(SCARCE_UNIT:%=build/check/tests/unit/%): build/check/tests/unit/fakes/scarce.o
build/check/tests/unit/fakes/scarce.o: OWN = -fno-sanitize=all	# it runs before the sanitizer does
build/check/fuzz_session: build/check/tests/fuzz/flood.o build/check/tests/fuzz/judge.o
build/fuzz/fuzz_session: build/fuzz/tests/fuzz/flood.o build/fuzz/tests/fuzz/judge.o

$(THREADED:%=build/tsan/tests/unit/%): %: %.o build/tsan/libfakes.a build/tsan/libhook.a
	$(call link,$(CC),-fsanitize=thread,-lcmocka)
$(WEAK:%=build/tsan/tests/unit/%): %: %.o build/host/tests/unit/fakes/weak_memory.o build/tsan/libfakes.a build/tsan/libhook.a
	$(call link,$(CC),,-lcmocka)

# A terminal for tests/e2e/terminal; for the others VMs of tricks, what reads the terminal's bytes, what is loaded before ktop.
$(patsubst %,build/check/%,$(filter-out %.so,$(TOOLS))): build/check/%: build/check/tests/e2e/%.o $(call libraries,check)
	$(call link,$(CC),$(SANITIZE),$(LIBS))
build/check/%.so: tests/e2e/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -D_GNU_SOURCE $(CFLAGS) -O1 -fPIC -shared -o $@ $<

unit: build/ktop $(TOOLS:%=build/check/%) $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TSAN_PROGRAMS)

# ---- fuzzing ----

FUZZ_SECONDS = 1800
$(FUZZ:%=build/fuzz/%): build/fuzz/%: build/fuzz/tests/fuzz/%.o $(call libraries,fuzz)
	$(call link,$(CLANG),-fsanitize=fuzzer$(comma)address$(comma)undefined,$(LIBS))

fuzz: packages
	./packages fuzz
	$(MAKE) $(FUZZ:%=build/fuzz/%)
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(FUZZ)

# ---- what it costs: programs of bench/, each of one measurement ----

$(BENCH:%=build/bench/%): build/bench/%: build/host/bench/%.o build/host/libbench.a build/host/libagent.a
	$(call link,$(CC),,$(LIBS))

bench: packages
	./packages bench
	$(MAKE) build/ktop demo-kernel $(BENCH:%=build/bench/%)
	bench/run

bench-linux: packages
	./packages bench
	./packages linux
	$(MAKE) build/linux/initramfs
	bench/linux

# clang reads every file too, with the same warnings.
LINT = $(patsubst %,%.c,$(HOOK) $(AGENT) $(TUI) $(COMMANDS) $(BENCH:%=bench/%) $(BENCH_PARTS:%=bench/%))
LINT_GUEST = $(wildcard $(patsubst %,%.c,$(DEMO) $(DEMO_WORK) $(TEMPLATE) $(TINY)))
build/lint: $(LINT) $(LINT_GUEST)
	$(call say,LINT)$(CLANG) $(CPPFLAGS) $(CFLAGS) -fsyntax-only $(LINT)
	$(call say,LINT)$(CLANG) $(GUEST_CPPFLAGS) $(GUEST) -fsyntax-only $(LINT_GUEST)
	@mkdir -p build && touch $@

# ---- the two commands ----

packages:
	./packages

DURATION = 5
REPORT =	# more options for the table of a demo without a terminal
DEMO = qemu-system-x86_64 -accel tcg -smp 4 -m 256 -display none -kernel build/demo/demo.elf -append work=mix

demo: packages
	@$(MAKE) build/ktop demo-kernel
	@if [ -t 0 ] && [ -t 1 ] && tput cup 0 0 >/dev/null 2>&1; then build/ktop run -- $(DEMO); \
	else build/ktop run --headless --seconds $(DURATION) $(REPORT) -- $(DEMO); fi

# ---- Linux: ktop.ko for the newest of Debian's kernels whose headers are here, and a guest with it ----

LINUX_HEADERS ?= /usr/src
LINUX = $(shell ls $(LINUX_HEADERS) | sed -n 's/^linux-headers-\(.*[0-9]-amd64\)$$/\1/p' | sort -V | tail -1)
LINUX_DIR = kernel-hook/ports/linux
LINUX_DEMO = qemu-system-x86_64 -accel tcg -smp 2 -m 512 -display none -kernel build/linux/vmlinuz \
	-initrd build/linux/initramfs -append 'console=ttyS0 quiet tsc=reliable no_timer_check'

build/linux/version: FORCE
	@mkdir -p $(@D)
	@echo $(LINUX) | cmp -s - $@ || echo $(LINUX) >$@

build/linux/ktop.ko: build/linux/version $(wildcard $(LINUX_DIR)/*.[ch] $(LINUX_DIR)/include/*.h) \
		$(LINUX_DIR)/Kbuild $(LINUX_DIR)/Makefile $(HOOK:%=%.c) $(wildcard kernel-hook/*.h kernel-hook/*/*.h)
	$(MAKE) -C $(LINUX_DIR) KDIR=$(LINUX_HEADERS)/linux-headers-$(LINUX) OUT=$(abspath build/linux) >build/linux/log 2>&1 || \
		{ cat build/linux/log; false; }

build/linux/vmlinuz: build/linux/version
	$(LINUX_DIR)/demo/fetch $(LINUX) build/linux

build/linux/work build/linux/load: build/linux/%: $(LINUX_DIR)/demo/%.c
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE $(CFLAGS) -O2 -fno-inline -static -o $@ $<

build/linux/initramfs: build/linux/vmlinuz build/linux/ktop.ko build/linux/work build/linux/load $(wildcard $(LINUX_DIR)/demo/*)
	$(LINUX_DIR)/demo/pack build/linux

# For tests/e2e/linux_silent.
build/linux/silent: tests/e2e/silent.c
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE $(CFLAGS) -O2 -static -o $@ $<

# For tests/e2e/linux_nmi.
build/linux/overflow/overflow.ko: build/linux/version $(wildcard tests/e2e/overflow/*)
	@mkdir -p $(@D)
	ln -sf $(abspath $(wildcard tests/e2e/overflow/*)) $(@D)
	$(MAKE) -C $(LINUX_HEADERS)/linux-headers-$(LINUX) M=$(abspath $(@D)) modules >$(@D)/log 2>&1 || { cat $(@D)/log; false; }

linux-module: packages
	./packages linux
	$(MAKE) build/linux/ktop.ko

demo-linux: packages
	./packages linux
	@$(MAKE) build/ktop build/linux/initramfs
	@if [ -t 0 ] && [ -t 1 ] && tput cup 0 0 >/dev/null 2>&1; then build/ktop run --sysroot build/linux/root -- $(LINUX_DEMO); \
	else build/ktop run --headless --wait 120 --seconds $(DURATION) $(REPORT) --sysroot build/linux/root -- $(LINUX_DEMO); fi

# The tests of Linux on the kernel of Debian's backports.
check-linux-newer: packages
	./packages linux
	tests/linux-newer

screenshots: packages
	./packages screenshots
	$(MAKE) build/ktop demo-kernel
	screenshots/take $(DEMO)

check: packages
	$(MAKE) -j$(shell nproc) build/ktop demo-kernel unit build/lint
	@if ./packages linux && $(MAKE) build/linux/vmlinuz; then $(MAKE) build/linux/initramfs; fi
	@./packages cpus
	@tests/run $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TSAN_PROGRAMS) $(CHECKS:%=tests/check-%) $(E2E:%=tests/e2e/%) -- $(ALONE:%=tests/e2e/%)

# All attacks on the memory at once; each allocation refused; the books, for SOAK_MINUTES.
soak: packages
	$(MAKE) build/ktop demo-kernel build/check/tests/unit/agent/session/test_memory $(SCARCE:%=build/check/%) build/check/tests/unit/agent/session/test_scarce $(TOOLS:%=build/check/%)
	for program in $(SCARCE:%=build/check/%) build/check/tests/unit/agent/session/test_scarce tests/e2e/refused; do $$program all || exit 1; done
	build/check/tests/unit/agent/session/test_memory soak
	tests/soak

# ---- for those who use it ----

PREFIX = /usr/local

install: build/ktop
	packaging/install put '$(DESTDIR)$(PREFIX)'

uninstall:
	packaging/install remove '$(DESTDIR)$(PREFIX)'

deb: packages
	./packages deb
	rm -rf build/deb && mkdir -p build/deb/ktop
	tar -c --exclude=./build --exclude=./.git . | tar -x -C build/deb/ktop
	mv build/deb/ktop/packaging/debian build/deb/ktop
	cd build/deb/ktop && dpkg-buildpackage --build=binary --unsigned-changes --unsigned-buildinfo
	lintian --fail-on error,warning build/deb/ktop_*.changes

clean:
	rm -rf build

-include $(shell find build -name "*.d" -not -path "build/linux/*" 2>/dev/null)

.PHONY: FORCE all demo-kernel unit packages demo demo-linux linux-module check-linux-newer screenshots check soak fuzz bench bench-linux install uninstall deb clean
.SECONDARY:
.DELETE_ON_ERROR:
