# ktop. `make` builds build/ktop; `make demo` and `make check` also install what they need.
# Everything that is made goes to build/.

CC = gcc
CLANG = clang
WARN = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith \
	-Wwrite-strings -Wvla -Werror
CPPFLAGS = -D_GNU_SOURCE -I. -Ikernel-hook -Iagent -Itui
CFLAGS = -std=c11 $(WARN) -g -fno-omit-frame-pointer -pthread
LIBS = -lncursesw -ltinfo -ldw -lelf -lcjson -liberty -lm -pthread
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined

HOOK = hook ring packet table str grid unwind unwind_user sample pace trace meta drain sampler control keys \
	pci pci_ports virtq virtio virtio_legacy virtio_modern virtio_pci virtio_port virtio_serial
AGENT = util util_file budget json unix_socket source payload decode metadata record record_writer hash recent pattern threads stack_cache stacks run arrivals cells cpus store \
	filter filter_words naming span profile window query query_stacks query_inlined table \
	symbols kernel_image guest_symbols objects programs sysroot layouts functions specials address_cache image symbol_table sym_elf sym_text debug_file debuginfod sym_dwarf sym_dwarf_lines sym_dwarf_inlines \
	sym_dwarf_module line_worker sources demangle \
	export_folded export_json \
	errand peer qmp qmp_state qmp_keys qmp_talk qmp_buses qmp_plug qmp_unplug qmp_discover link link_silence link_remark commands profiler profiler_drive loan meter epoch remarks picture fleet fleet_picture fleet_names mailbox saver spool kernel_names turn session session_names session_picture session_orders \
	options report report_file report_guest report_options report_text control_socket control_client service launch launch_folder
DEMO_KERNEL = boot entry switch main command console string acpi cpu apic smp trap clock \
	page slab space thread sched spin mutex program programs process syscall keyboard port profile books \
	mix oracle_tail $(DEMO_WORK)
DEMO_WORK = oracle cost oracle_shapes checksum file mix_files mix_processes mix_memory mix_ledger mix_mail mix_quiet
DEMO_PROGRAMS = hash primes queens sort pulse
TUI = canvas theme glyphs keys key_bar list scope prompt status remark_line title header emptiness column config config_file \
	view_functions view_help snapshot screen screen_prompt screen_input machine overview tab_row tabs signals tty term term_keys app
PROGRAM = main command command_screen command_top command_report command_ctl command_run command_config

# One program each, in tests/unit/. What a test needs beside the libraries stands below it.
UNIT = test_wire test_ring test_unwind test_grid test_sample test_overflow test_trace test_drain test_meta test_control test_keys \
	test_alarm test_template test_virtq test_virtio_serial test_hotplug test_util test_source test_decode test_record test_recent test_threads test_stack_cache test_stacks \
	test_run test_store test_table test_query test_query_inlined test_export test_symbols test_guest_symbols test_layouts test_sym_elf test_sym_text test_sym_dwarf test_line_worker test_debug_file test_debuginfod test_sources \
	test_memory test_absurd_files test_signals test_demangle test_qmp test_profiler test_launch test_options \
	test_link test_commands test_plug test_waits test_kernel_names test_turn test_fleet test_session test_session_files test_control_socket test_private test_report \
	test_canvas test_config test_keymap \
	test_filter_words test_list test_prompt test_header test_view_functions test_screen test_states test_walk test_steady test_tabs
FUZZ = fuzz_decode fuzz_qmp fuzz_elf fuzz_dwarf fuzz_nm fuzz_demangle fuzz_control fuzz_service fuzz_screen fuzz_session
SCARCE = $(patsubst fuzz_%,scarce_%,$(filter-out fuzz_control fuzz_session,$(FUZZ)))	# the same, an allocation refused; the hook has none, floods are too long
FAKES = packets fake_port fake_serial fake_guest safe_canvas	# of tests/unit, for these
THREADED = test_ring_threads test_pace_threads test_hook_threads
WEAK = test_ring_barriers test_sampler_barriers test_table_barriers test_virtq_barriers	# on weak_memory.c
TOOLS = pty refuse.so slow_disk.so liar harmless odd_qemu	# of tests/e2e
BENCH = ingest names screen memory first perfdata bytes folded cost
BENCH_PARTS = world traffic setup intake guest terminal
CHECKS = bench layers messages message-table manual completion install cpus barriers
# The short ones last, so that none is left alone for long.
E2E = tiny port books linux_port linux_goes linux_leaves linux_away linux_silent linux linux_nmi plug_linux linux_demo linux_debug cost boot plug report \
	screen terminal refused hostile faults_guest faults_qemu faults_qmp waits leaves faults_port faults_files ctl machines suspend demo config
ALONE = oracle unread	# of tests/e2e as well: they compare times of the host

HOOK_SRC = $(HOOK:%=kernel-hook/%.c)
AGENT_SRC = $(AGENT:%=agent/%.c)
TUI_SRC = $(TUI:%=tui/%.c)
PROGRAM_SRC = $(PROGRAM:%=tui/%.c)
HOST_SRC = $(AGENT_SRC) $(TUI_SRC) $(PROGRAM_SRC)
ALL_SRC = $(HOOK_SRC) $(HOST_SRC)
BENCH_SRC = $(BENCH:%=bench/%.c) $(BENCH_PARTS:%=bench/%.c)

all: build/ktop demo-kernel

# ---- the program ----

build/host/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -O2 -MMD -MP -c -o $@ $<

build/libagent.a: $(AGENT_SRC:%.c=build/host/%.o)
	@rm -f $@
	ar rcs $@ $^

build/ktop: $(PROGRAM_SRC:%.c=build/host/%.o) $(TUI_SRC:%.c=build/host/%.o) build/libagent.a
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

# ---- the guest: the hook as a kernel compiles it, and the demo kernel around it ----

GUEST = -std=c11 $(WARN) -O2 -g -ffreestanding -nostdlib -fno-stack-protector -fno-pic -mno-red-zone \
	-mgeneral-regs-only -fcf-protection=none -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
	-fno-optimize-sibling-calls -fno-asynchronous-unwind-tables
# gcc gives a function that calls nothing no frame, so that a walk from there misses its caller;
# unless it is to be profiled: what remains of that is a NOP. And each function stays one, by its name.
FRAMES = -fno-shrink-wrap -pg -mfentry -mnop-mcount -fno-ipa-icf -fno-ipa-sra -fno-ipa-cp -fno-partial-inlining
GUEST_CPPFLAGS = -Ikernel-hook -I$(DEMO_DIR)
GUEST_LDFLAGS = -nostdlib -static -no-pie -Wl,--build-id=sha1,-z,max-page-size=4096,-z,noexecstack
DEMO_DIR = kernel-hook/ports/demo
DEMO_SRC = $(wildcard $(DEMO_KERNEL:%=$(DEMO_DIR)/%.c))
DEMO_OBJ = $(DEMO_KERNEL:%=build/guest/$(DEMO_DIR)/%.o)

# Work is seen by function: none is put into another; and one file is there for its tail call.
$(DEMO_WORK:%=build/guest/$(DEMO_DIR)/%.o): SHAPE = -fno-inline
# The hook is built with what docs/porting.md says, no more.
$(HOOK_SRC:%.c=build/guest/%.o) build/guest/$(DEMO_DIR)/port.o: FRAMES =
build/guest/$(DEMO_DIR)/oracle_tail.o: SHAPE = -foptimize-sibling-calls

build/guest/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GUEST_CPPFLAGS) $(GUEST) $(FRAMES) -mcmodel=kernel $(SHAPE) -MMD -MP -c -o $@ $<

build/guest/%.o: %.S
	@mkdir -p $(@D)
	$(CC) $(GUEST_CPPFLAGS) $(GUEST) -Wa,-Ibuild/demo -MMD -MP -c -o $@ $<

build/demo/%: $(DEMO_DIR)/user/%.c $(DEMO_DIR)/user/start.S $(DEMO_DIR)/user/program.h $(DEMO_DIR)/call.h
	@mkdir -p $(@D)
	$(CC) $(GUEST_CPPFLAGS) $(GUEST) $(FRAMES) -fno-inline $(GUEST_LDFLAGS) -o $@ $(filter %.c %.S,$^)

build/guest/$(DEMO_DIR)/programs.o: $(DEMO_PROGRAMS:%=build/demo/%)

# The port to copy from, on the template; the demo kernel takes two files of that.
DEMO_TEMPLATE = $(patsubst %,build/guest/$(PORTS)/template/%.o,port start)
PORTS = kernel-hook/ports
TEMPLATE = alarm current memory port start string
TEMPLATE_SRC = $(TEMPLATE:%=$(PORTS)/template/%.c)
TINY = boot main profile
TINY_OBJ = $(TINY:%=build/guest/$(PORTS)/tiny/%.o) $(TEMPLATE_SRC:%.c=build/guest/%.o)

$(TEMPLATE_SRC:%.c=build/guest/%.o): FRAMES =

build/tiny/tiny.elf: $(TINY_OBJ) $(HOOK_SRC:%.c=build/guest/%.o) $(PORTS)/tiny/link.ld
	@mkdir -p $(@D)
	$(CC) $(GUEST_LDFLAGS) -T $(PORTS)/tiny/link.ld -o $@ $(filter %.o,$^)

build/demo/demo.elf: $(DEMO_OBJ) $(DEMO_TEMPLATE) $(HOOK_SRC:%.c=build/guest/%.o) $(DEMO_DIR)/link.ld
	$(CC) $(GUEST_LDFLAGS) -T $(DEMO_DIR)/link.ld -o $@ $(filter %.o,$^)

demo-kernel: build/demo/demo.elf build/tiny/tiny.elf

# ---- tests: the same files under sanitizers, the hook's as host code ----

build/check/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit $(CFLAGS) -O1 $(SANITIZE) -MMD -MP -c -o $@ $<

build/check/libagent.a: $(AGENT_SRC:%.c=build/check/%.o)
build/check/libtui.a: $(TUI_SRC:%.c=build/check/%.o)
build/check/libhook.a: $(HOOK_SRC:%.c=build/check/%.o)
build/check/%.a:
	@rm -f $@
	ar rcs $@ $^

$(UNIT:%=build/check/%): build/check/%: build/check/tests/unit/%.o \
		build/check/libtui.a build/check/libagent.a build/check/libhook.a
	$(CC) $(CFLAGS) $(SANITIZE) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LIBS)

$(foreach test,ring unwind sample overflow trace drain meta control keys,build/check/test_$(test)): \
		build/check/tests/unit/fake_port.o build/check/tests/unit/fake_host.o
build/tsan/test_ring_threads build/tsan/test_pace_threads: build/tsan/tests/unit/fake_port.o
build/tsan/test_hook_threads: build/tsan/tests/unit/fake_smp.o build/tsan/tests/unit/fake_host.o
build/check/test_virtio_serial build/check/test_hotplug: build/check/tests/unit/fake_serial.o
build/check/test_alarm: build/check/$(PORTS)/template/alarm.o
build/check/test_template: $(filter-out %/string.o,$(TEMPLATE_SRC:%.c=build/check/%.o))
build/check/test_decode: build/check/tests/unit/packets.o build/check/tests/unit/decode_log.o
build/check/test_record build/check/test_guest_symbols: build/check/tests/unit/packets.o
build/check/test_qmp: build/check/tests/unit/fake_qmp.o
build/check/test_session build/check/test_link build/check/test_plug build/check/test_waits: build/check/tests/unit/fake_qmp.o
build/check/test_plug build/check/test_waits: build/check/tests/unit/fake_machine.o
build/check/test_waits: build/check/tests/unit/no_waits.o build/check/tests/unit/session_fixture.o \
	build/check/tests/unit/fake_guest.o build/check/tests/unit/packets.o
build/check/test_waits: LIBS += $(WAITS:%=-Wl,--wrap=%)
WAITS = poll recv read connect fsync pthread_join pthread_cond_wait nanosleep opendir fopen open stat lstat fstatat access mkdir rename write realpath
build/check/test_session build/check/test_turn build/check/test_session_files build/check/test_control_socket build/check/test_private build/check/test_report build/check/test_link: build/check/tests/unit/session_fixture.o \
	build/check/tests/unit/fake_guest.o build/check/tests/unit/packets.o
build/check/test_memory: build/check/tests/unit/fake_guest.o build/check/tests/unit/packets.o build/ktop
build/check/test_absurd_files: build/ktop
build/check/test_query build/check/test_query_inlined build/check/test_export: build/check/tests/unit/fake_symbols.o
build/check/test_query build/check/test_query_inlined: build/check/tests/unit/query_world.o
build/check/test_store: build/check/tests/unit/counts.o
build/check/test_canvas build/check/test_keymap: build/check/tests/unit/golden.o
build/check/test_fleet build/check/test_tabs build/check/test_header build/check/test_view_functions build/check/test_screen build/check/test_states: \
	build/check/tests/unit/golden.o build/check/tests/unit/hand_picture.o
build/check/test_walk: build/check/tests/unit/safe_canvas.o
build/check/test_screen build/check/test_states build/check/test_steady: build/check/tests/unit/stage.o \
	build/check/tests/unit/fake_session.o
build/check/test_tabs: build/check/tests/unit/fake_session.o
build/check/test_canvas: build/check/tests/unit/safe_canvas.o
build/check/test_steady: build/check/tests/unit/hand_picture.o
build/check/test_states: build/check/tests/unit/sheet.o

# The fuzz targets on the committed corpus alone.
build/check/libfakes.a: $(FAKES:%=build/check/tests/unit/%.o)
$(FUZZ:%=build/check/%): build/check/%: build/check/tests/fuzz/%.o build/check/tests/fuzz/replay.o \
		build/check/libfakes.a build/check/libtui.a build/check/libagent.a build/check/libhook.a
	$(CC) $(CFLAGS) $(SANITIZE) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# Each allocation refused in turn. scarce.c runs before the sanitizer does.
build/check/tests/unit/scarce.o: SANITIZE =
build/check/tests/unit/scarce.o: CPPFLAGS = -D_GNU_SOURCE -Iagent	# the hook has an unwind.h, too
build/check/test_scarce: build/check/tests/unit/test_scarce.o build/check/tests/unit/scarce.o build/check/tests/unit/session_fixture.o \
		build/check/tests/unit/fake_machine.o build/check/tests/unit/fake_qmp.o \
		build/check/libfakes.a build/check/libagent.a
	$(CC) $(CFLAGS) $(SANITIZE) -Wl,--wrap=budget_take -o $@ $(filter %.o,$^) $(filter %.a,$^) -lcmocka $(LIBS)

$(SCARCE:%=build/check/%): build/check/scarce_%: build/check/tests/fuzz/fuzz_%.o build/check/tests/fuzz/scarcely.o \
		build/check/tests/unit/scarce.o build/check/libfakes.a build/check/libtui.a build/check/libagent.a build/check/libhook.a
	$(CC) $(CFLAGS) $(SANITIZE) -Wl,--wrap=budget_take -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

build/check/scarce_screen build/check/fuzz_screen: build/check/tests/unit/fake_session.o
build/fuzz/fuzz_screen: build/fuzz/tests/unit/fake_session.o
build/check/fuzz_session: build/check/tests/fuzz/flood.o
build/fuzz/fuzz_session: build/fuzz/tests/fuzz/flood.o

build/tsan/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit $(CFLAGS) -O1 -fsanitize=thread -Wno-tsan -MMD -MP -c -o $@ $<

$(THREADED:%=build/tsan/%): build/tsan/%: build/tsan/tests/unit/%.o $(HOOK_SRC:%.c=build/tsan/%.o)
	$(CC) $(CFLAGS) -fsanitize=thread -o $@ $(filter %.o,$^) -lcmocka

build/check/pty: tests/e2e/pty.c		# a terminal for tests/e2e/terminal
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE $(CFLAGS) -O1 -o $@ $<

# Loaded before ktop, for tests/e2e/refused and leaves.
build/check/refuse.so build/check/slow_disk.so: build/check/%.so: tests/e2e/%.c
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE $(CFLAGS) -O1 -fPIC -shared -o $@ $<

# For tests/e2e/hostile: a VM of tricks, and what reads the terminal's bytes.
build/check/liar build/check/harmless build/check/odd_qemu: build/check/%: build/check/tests/e2e/%.o build/check/tests/unit/fake_qmp.o \
		build/check/libfakes.a build/check/libtui.a build/check/libagent.a
	$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(LIBS)
build/check/odd_qemu: build/check/tests/unit/fake_machine.o

$(WEAK:%=build/tsan/%): build/tsan/%: build/tsan/tests/unit/%.o build/tsan/tests/unit/fake_port.o \
		build/host/tests/unit/weak_memory.o $(HOOK_SRC:%.c=build/tsan/%.o)
	$(CC) $(CFLAGS) -o $@ $^ -lcmocka

unit: $(TOOLS:%=build/check/%) $(UNIT:%=build/check/%) $(FUZZ:%=build/check/%) $(SCARCE:%=build/check/%) build/check/test_scarce $(THREADED:%=build/tsan/%) $(WEAK:%=build/tsan/%)

# ---- fuzzing ----

FUZZ_SECONDS = 1800
FUZZER = -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined

build/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS) -Itests/unit $(CFLAGS) $(FUZZER) -MMD -MP -c -o $@ $<

build/fuzz/libktop.a: $(FAKES:%=build/fuzz/tests/unit/%.o) $(TUI_SRC:%.c=build/fuzz/%.o) $(AGENT_SRC:%.c=build/fuzz/%.o) $(HOOK_SRC:%.c=build/fuzz/%.o)
	@rm -f $@
	ar rcs $@ $^

$(FUZZ:%=build/fuzz/%): build/fuzz/%: build/fuzz/tests/fuzz/%.o build/fuzz/libktop.a
	$(CLANG) $(CFLAGS) -fsanitize=fuzzer,address,undefined -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

fuzz: packages
	./packages fuzz
	$(MAKE) $(FUZZ:%=build/fuzz/%)
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(FUZZ)

# ---- what it costs: programs of bench/, each of one measurement ----

build/host/bench/%.o: CPPFLAGS += -Itests/unit -Ibench
build/host/tests/unit/%.o: CPPFLAGS += -Itests/unit
build/libbench.a: $(BENCH_PARTS:%=build/host/bench/%.o) build/host/tests/unit/packets.o
	@rm -f $@
	ar rcs $@ $^

$(BENCH:%=build/bench/%): build/bench/%: build/host/bench/%.o build/libbench.a build/libagent.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

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
build/lint: $(HOST_SRC) $(HOOK_SRC) $(DEMO_SRC) $(TEMPLATE_SRC) $(wildcard $(PORTS)/tiny/*.c) $(BENCH_SRC)
	$(CLANG) $(CPPFLAGS) $(CFLAGS) -fsyntax-only $(HOST_SRC) $(HOOK_SRC)
	$(CLANG) $(CPPFLAGS) -Itests/unit -Ibench $(CFLAGS) -fsyntax-only $(BENCH_SRC)
	$(CLANG) $(GUEST_CPPFLAGS) $(GUEST) -fsyntax-only $(DEMO_SRC) $(TEMPLATE_SRC) $(wildcard $(PORTS)/tiny/*.c)
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
		$(LINUX_DIR)/Kbuild $(LINUX_DIR)/Makefile $(HOOK_SRC) $(wildcard kernel-hook/*.h kernel-hook/arch/*.h)
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
	@tests/run $(UNIT:%=build/check/%) $(FUZZ:%=build/check/%) $(SCARCE:%=build/check/%) build/check/test_scarce $(THREADED:%=build/tsan/%) $(WEAK:%=build/tsan/%) $(CHECKS:%=tests/check-%) $(E2E:%=tests/e2e/%) -- $(ALONE:%=tests/e2e/%)

# All attacks on the memory at once; each allocation refused; the books, for SOAK_MINUTES.
soak: packages
	$(MAKE) build/ktop demo-kernel build/check/test_memory $(SCARCE:%=build/check/%) build/check/test_scarce $(TOOLS:%=build/check/%)
	for program in $(SCARCE:%=build/check/%) build/check/test_scarce tests/e2e/refused; do $$program all || exit 1; done
	build/check/test_memory soak
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

-include $(ALL_SRC:%.c=build/host/%.d) $(ALL_SRC:%.c=build/check/%.d) $(wildcard build/host/bench/*.d build/check/tests/*/*.d build/fuzz/*/*.d build/fuzz/*/*/*.d build/tsan/*/*.d build/tsan/*/*/*.d) \
	$(DEMO_OBJ:%.o=%.d) $(TINY_OBJ:%.o=%.d) $(HOOK_SRC:%.c=build/guest/%.d)

.PHONY: FORCE all demo-kernel unit packages demo demo-linux linux-module check-linux-newer screenshots check soak fuzz bench bench-linux install uninstall deb clean
.SECONDARY:
.DELETE_ON_ERROR:
