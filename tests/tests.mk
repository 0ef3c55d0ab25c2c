# SPDX-License-Identifier: MIT
# The tests: their lists, and how each kind is built and run. The Makefile includes this file.

# Unit tests: each is a program in tests/unit/, in the room of the module that it tests. A room's long ones come first.
UNIT = $(call in,kernel-hook/test_,control control_sampler drain drain_time hotkeys meta meta_tables overflow sample trace unwind wire) \
	$(call in,kernel-hook/base/test_,grid ring) $(call in,kernel-hook/virtio/test_,hotplug \
		virtio_bytes virtio_serial virtq) $(call in,kernel-hook/plugin/test_,stack_link) \
	$(call in,kernel-hook/ports/test_,alarm template) $(call in,agent/base/test_,options recent util) \
	$(call in,agent/wire/test_,decode decode_damage fields record record_parts recording) $(call in,agent/vm/qmp/test_,qmp qmp_events) \
	$(call in,agent/vm/gdb/test_,gdb_packets gdb_stub) \
	$(call in,agent/vm/test_,launch launch_plugin link link_choice plug port_socket) \
	$(call in,agent/store/test_,run stack_cache stacks store) $(call in,agent/names/files/test_,absurd_files \
		debug_file debuginfod demangle sym_elf sym_text) $(call in,agent/names/dwarf/test_,line_worker sym_dwarf) \
	$(call in,agent/names/linux/test_,boot_image call_sites kallsyms modules orc slide) \
	$(call in,agent/names/test_,given_objects guest_symbols kernel_names regions running_kernel sources symbols symbols_programs threads) \
	$(call in,agent/names/objects/test_,layouts) \
	$(call in,agent/unwind/test_,rules unwind) \
	$(call in,agent/query/test_,filter_words query query_cpus query_inlined query_random table) \
	$(call in,agent/guest/test_,boot_marks commands guest_events guest_memory profiler raw_samples) $(call in,agent/source/test_,replay) $(call in,agent/export/test_,export) \
	$(call in,agent/session/test_,memory waits waits_disk scarce session session_files session_orders turn subscription) \
	$(call in,agent/fleet/test_,fleet) $(call in,agent/report/test_,growth report report_guest report_others) \
	$(call in,agent/service/test_,control_socket private) $(call in,tui/terminal/test_,canvas keymap signals) \
	$(call in,tui/frame/test_,header list prompt) $(call in,tui/views/test_,config view_functions) \
	$(call in,tui/screen/test_,walk screen screen_input states steady tabs tabs_orders)
# Both test the hook's threads: under the thread sanitizer; and on a memory as weak as C11 allows (weak_memory.c).
THREADED = $(call in,kernel-hook/test_,pace_threads hook_threads) $(call in,kernel-hook/base/test_,ring_threads)
WEAK = $(call in,kernel-hook/test_,sampler_barriers) $(call in,kernel-hook/base/test_,name_table_barriers ring_barriers) \
	$(call in,kernel-hook/virtio/test_,virtq_barriers) $(call in,kernel-hook/ports/test_,queue_barriers sync_barriers) \
	$(call in,kernel-hook/plugin/test_,call_barriers)
FAKES = ansi call_model canvas_dump counts decode_log fake_btf fake_gdb fake_guest fake_host fake_linux fake_machine fake_modules fake_port fake_qmp fake_serial fake_smp filter_of golden \
	hand_picture no_waits packets picture query_world recordings report_fixture safe_canvas session_fixture sheet stage
FUZZ = $(addprefix fuzz_,decode recording qmp gdb elf boot_image kallsyms orc modules dwarf cfi nm demangle unwind control service screen session)
# The same targets with each allocation refused in turn. Hook, unwinding and gdb take from no budget; fuzz_session would
# take too long.
SCARCE = $(patsubst fuzz_%,scarce_%,$(filter-out fuzz_control fuzz_unwind fuzz_gdb fuzz_session,$(FUZZ)))
TOOLS = pty liar harmless odd_qemu image_symbols refuse.so slow_disk.so	# used by tests/e2e
CHECKS = bench licence format style run tour layers pairs messages message-table manual completion install cpus barriers
# The short ones come last, so that at the end no long one runs alone.
E2E = tiny port books events plugin gdb plugin_choice stub_choice boot_profile plugin_safety linux_port linux_goes \
	linux_leaves linux_away linux_silent linux linux_nmi plug_linux linux_demo untouched \
	linux_debug cost boot plug report screen terminal refused hostile faults_guest faults_qemu faults_qmp waits leaves \
	faults_port faults_files ctl record replay machines suspend demo config
ALONE = oracle plugin_oracle unread	# in tests/e2e too; they run alone, since they compare times of the host

UNIT_PROGRAMS = $(UNIT:%=build/check/tests/unit/%)
FUZZ_PROGRAMS = $(FUZZ:%=build/check/%) $(SCARCE:%=build/check/%)
TSAN_PROGRAMS = $(THREADED:%=build/tsan/tests/unit/%) $(WEAK:%=build/tsan/tests/unit/%)

# ---- test programs: the sources under sanitizers, those of the hook as host code ----

# Where binutils has gold, it links the tests: in half the time.
GOLD := $(if $(shell command -v ld.gold),-fuse-ld=gold)
# All tests are linked in the same way. Some need a stand-in for the real session or symbols. WATCHED: the calls that a
# test watches; the linker leads each to the test's own __wrap_NAME.
$(UNIT_PROGRAMS): %: %.o $(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD) $(WATCHED:%=-Wl$(comma)--wrap=%),-lcmocka $(LIBS))
# A fuzz target on the committed corpus, without libFuzzer; and the same with each allocation refused in turn.
$(FUZZ:%=build/check/%): build/check/%: $(call in,build/check/tests/fuzz/,%.o replay.o) $(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD),$(LIBS))
$(SCARCE:%=build/check/%): build/check/scarce_%: $(call in,build/check/tests/fuzz/,fuzz_%.o scarcely.o) \
		$(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD) $(WATCHED:%=-Wl$(comma)--wrap=%),$(LIBS))
$(FUZZ:%=build/fuzz/%): build/fuzz/%: build/fuzz/tests/fuzz/%.o $(call libraries,fuzz)
	$(call link,$(CLANG),-fsanitize=fuzzer$(comma)address$(comma)undefined,$(LIBS))
$(THREADED:%=build/tsan/tests/unit/%): %: %.o build/tsan/libfakes.a build/tsan/libhook.a
	$(call link,$(CC),-fsanitize=thread,-lcmocka)
$(WEAK:%=build/tsan/tests/unit/%): %: %.o build/host/tests/unit/fakes/weak_memory.o build/tsan/libfakes.a \
		build/tsan/libhook.a
	$(call link,$(CC),,-lcmocka)
# For tests/e2e: programs that play a terminal or a VM, or check what was sent; the .so are preloaded into ktop.
$(patsubst %,build/check/%,$(filter-out %.so,$(TOOLS))): build/check/%: build/check/tests/e2e/%.o \
		$(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD),$(LIBS))
build/check/%.so: tests/e2e/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -D_GNU_SOURCE $(CFLAGS) -O1 -fPIC -shared -o $@ $<

test = $(filter %/test_$1,$(UNIT_PROGRAMS))
STAND_INS = build/check/tests/unit/fakes
$(filter build/check/tests/unit/tui/%,$(UNIT_PROGRAMS)) build/check/fuzz_screen build/check/scarce_screen: \
	$(STAND_INS)/fake_session.o
build/fuzz/fuzz_screen: build/fuzz/tests/unit/fakes/fake_session.o
$(filter build/check/tests/unit/agent/query/% %/test_export,$(UNIT_PROGRAMS)): $(STAND_INS)/fake_symbols.o
$(call test,stack_link): build/check/kernel-hook/plugin/stack_link.o
$(call test,alarm): build/check/$(PORTS)/template/alarm.o
$(call test,template): $(patsubst %,build/check/%.o,$(filter-out %/string,$(TEMPLATE)))
$(call test,waits) $(call test,waits_disk): WATCHED = poll recv read connect fsync pthread_join pthread_cond_wait nanosleep opendir fopen \
	open stat lstat fstatat access mkdir rename write realpath
$(call test,walk): $(patsubst %,build/check/tests/unit/tui/screen/walk_%.o,acts check fleet guest list model numbers \
	rows)
$(call test,memory) $(call test,absurd_files): | build/ktop	# they run it
$(call test,recording): WATCHED = pread
$(call test,walk): WATCHED = fleet_request fleet_vitals fleet_functions
$(call test,scarce) $(SCARCE:%=build/check/%): WATCHED = budget_take
$(call test,scarce) $(SCARCE:%=build/check/%): $(STAND_INS)/scarce.o
$(STAND_INS)/scarce.o: OWN = -fno-sanitize=all	# it runs before the sanitizer does
build/check/fuzz_session: $(call in,build/check/tests/fuzz/,flood.o judge.o)
build/fuzz/fuzz_session: $(call in,build/fuzz/tests/fuzz/,flood.o judge.o)

unit: build/ktop $(TOOLS:%=build/check/%) $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TSAN_PROGRAMS)

# Builds and runs the unit tests that are touched by changes since this last passed.
unit-quick:
	@tests/quick $(UNIT_PROGRAMS)

# The tests of Linux are skipped where its packages cannot be had.
check: packages
	$(MAKE) -j$(shell nproc) build/lint build/ktop build/ktop-plugin.so demo-kernel unit
	@if ./packages linux && $(MAKE) build/linux/vmlinuz; then $(MAKE) build/linux/initramfs; fi
	@./packages cpus
	@env -u QUICK tests/run $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TSAN_PROGRAMS) $(CHECKS:%=tests/check-%) $(E2E:%=tests/e2e/%) \
		-- $(ALONE:%=tests/e2e/%)

# First each allocation is refused; then comes everything that costs memory, at once; then the books, for SOAK_MINUTES.
SCARCE_ALL = $(SCARCE:%=build/check/%) $(call test,scarce)
soak: packages
	$(MAKE) build/ktop build/ktop-plugin.so demo-kernel $(SCARCE_ALL) $(call test,memory) $(TOOLS:%=build/check/%)
	for program in $(SCARCE_ALL) tests/e2e/refused tests/e2e/gdb; do $$program all || exit 1; done
	$(call test,memory) soak
	tests/soak
	ROUNDS=200 tests/e2e/plugin_safety
	$(MAKE) check-guests

# Runs the tests of Linux on the kernel of Debian's backports.
check-linux-newer: packages
	./packages linux
	tests/linux-newer

# Runs the tests of untouched guests that take long: four architectures, and the plugin's shares beside the module's.
check-guests: packages
	./packages linux
	$(MAKE) build/ktop build/ktop-plugin.so build/linux/initramfs build/linux/ktop.ko
	tests/run -- tests/e2e/guests tests/e2e/plugin_shares tests/e2e/qemu_newer

# Runs the tests of the plugin in the QEMU of Debian's backports.
check-qemu-newer: packages
	./packages linux
	$(MAKE) build/ktop build/ktop-plugin.so build/linux/initramfs demo-kernel
	tests/qemu-newer

FUZZ_SECONDS = 1800
fuzz: packages
	./packages fuzz
	$(MAKE) $(FUZZ:%=build/fuzz/%)
	FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/run $(FUZZ)
