# SPDX-License-Identifier: MIT
# The tests: their lists, and how each kind is built and run. The Makefile includes this file.

# Unit tests: each is a program in tests/unit/, in the room of the module that it tests. A room's long ones come first.
UNIT = $(call in,kernel-hook/test_,control control_sampler drain drain_time hotkeys meta meta_tables overflow sample trace trace_alone unwind wire) \
	$(call in,kernel-hook/base/test_,grid ring) $(call in,kernel-hook/virtio/test_,hotplug \
		virtio_bytes virtio_serial virtq) $(call in,kernel-hook/plugin/test_,instruction program_stack public ram socket stack_link task vcpus) \
	$(call in,kernel-hook/ports/template/test_,alarm template) $(call in,agent/base/test_,recent util) \
	$(call in,agent/wire/test_,decode decode_damage fields recording_writer recording_parts recording recording_cut recording_ends recording_repair trace_kinds) $(call in,agent/vm/qmp/test_,qmp qmp_memory qmp_events) \
	$(call in,agent/vm/gdb/test_,gdb_direct gdb_faults gdb_keeper gdb_memory gdb_packets gdb_stub) \
	$(call in,agent/vm/ram/test_,page_tables ram_file ram_map) \
	agent/vm/console/test_console \
	$(call in,agent/vm/test_,launch launch_plugin link link_choice plug port_socket) \
	$(call in,agent/trace/test_,allocations latencies pairs slowest trace trace_order) $(call in,agent/store/test_,run sample_log stacks store trace_log) $(call in,agent/names/files/test_,demangle \
		bare_code sym_elf sym_text) $(call in,agent/names/dwarf/test_,debug_file debuginfod line_worker sym_dwarf) \
	$(call in,agent/names/linux/test_,call_sites kallsyms modules orc processes slide) \
	agent/names/bare/test_flow agent/names/copies/test_file_copies \
	$(call in,agent/names/test_,absurd_files boot_image given_objects kernel_names lines regions returns running_kernel symbols threads) \
	$(call in,agent/unwind/test_,rules unwind) $(call in,agent/code/test_,disassembler flow_lengths listing riscv64) \
	$(call in,agent/query/question/test_,filter_words grouping) $(call in,agent/query/test_,baseline fine heat query query_cpus query_random query_tree query_tree_live series table) $(call in,agent/query/addresses/test_,query_addresses query_inlined) \
	$(call in,agent/query/tree/test_,contexts) \
	$(call in,agent/guest/test_,boot_marks commands guest_clock guest_events guest_memory guest_symbols kernel_place kernel_reading layouts profiler raw_samples symbols_programs trace_places user_stacks waiting_samples) $(call in,agent/export/test_,export ranking) \
	$(call in,agent/samples/test_,sample_collect sample_set set_code) $(call in,agent/formats/test_,firefox formats pictures times trace_spans) \
	$(call in,agent/answers/test_,contradictions event_table memory_table thread_states timeline) agent/cut/test_black_box agent/cut/test_recorded_packets agent/cut/test_recording_cut agent/import/test_folded_import agent/diff/test_set_diff agent/diff/test_diff_memory agent/diff/test_diff_side agent/strace/test_call_lines \
	$(call in,agent/size/test_,code_sizes size_rows) \
	$(call in,agent/session/test_,flight memory session session_files session_orders turn) \
	$(call in,agent/session/subscription/test_,subscription subscription_costs) \
	$(call in,agent/fleet/test_,fleet fleet_annotation fleet_events fleet_memory fleet_time fleet_timeline fleet_tree) $(call in,agent/report/test_,options recorder report report_gone report_guest report_others report_range) \
	$(call in,agent/,test_compared test_growth test_pprof_back test_report_cut test_saved_recording waits/test_waits waits/test_waits_disk $(addprefix scarce/test_scarce_,boot fleet qmp recording report) test_replay) \
	$(call in,agent/service/test_,control_socket private service) $(call in,tui/terminal/test_,canvas signals term) \
	$(call in,tui/frame/test_,header list prompt scope wanted) $(call in,tui/views/test_,config flame_cells keymap view_events view_functions view_memory view_timeline) $(call in,tui/views/tree/test_,folds tree_lines) \
	$(call in,tui/gallery/test_,burst deeper gallery) tui/walk/test_walk $(call in,tui/screen/test_,annotate chosen console_keys page_keys screen screen_input states steady tabs tabs_orders timeline_keys view_keys)
# Both test the hook's threads: under the thread sanitizer; and on a memory as weak as C11 allows (tests/unit/fakes/weak/).
THREADED = $(call in,kernel-hook/threads/test_,pace_threads hook_threads) $(call in,kernel-hook/base/test_,ring_threads)
WEAK = $(call in,kernel-hook/threads/test_,sampler_barriers) $(call in,kernel-hook/base/test_,name_table_barriers ring_barriers) \
	$(call in,kernel-hook/virtio/test_,virtq_barriers) $(call in,kernel-hook/ports/,linux/test_queue_barriers demo/machine/test_sync_barriers) \
	$(call in,kernel-hook/plugin/test_,call_barriers asked_barriers)
FAKES = $(basename $(notdir $(wildcard tests/unit/fakes/*.c)))
FAKES_tsan = fake_host fake_port fake_serial fake_smp	# the hook's own: no other is needed under the thread sanitizer
FUZZ = $(addprefix fuzz_,decode recording qmp qmp_memory gdb elf boot_image kallsyms orc trace black_box modules processes copies dwarf cfi nm folded pprof demangle unwind control service screen session)
# The same targets with each allocation refused in turn. Hook, unwinding and gdb take from no budget; fuzz_session would
# take too long.
SCARCE = $(patsubst fuzz_%,scarce_%,$(filter-out fuzz_control fuzz_unwind fuzz_gdb fuzz_session,$(FUZZ)))
TOOLS = formats_written known_shares pty liar harmless odd_qemu image_symbols image_kernel listing places refuse.so slow_disk.so stall.so clock.so	# used by tests/e2e
CHECKS = bench licence links format style run tour layers clocks callers arguments pairs messages message-table manual completion install cpus barriers
# The short ones come last, so that at the end no long one runs alone.
E2E = tiny groups diff formats books events memory trace_alone locks hunt export export_cut export_ends interrupt snapshot saved plugin_choice plugin_clock plugin_safety linux untouched untouched_events function_trace cost boot plug report annotate agree changes heat screen terminal refused \
	hostile faults_guest faults_qemu faults_qmp waits leaves faults_port faults_files ctl ctl_sources record replay machines suspend \
	demo config size crash rolling
# Linux from outside and from inside, and the hook's driver on all kinds of machines.
E2E_LONG = linux_leaves linux_port linux_goes gdb gdb_devices gdb_safety plugin boot_profile stub_choice linux_nmi plug_linux \
	linux_away linux_demo linux_silent linux_brief linux_debug linux_memory linux_made linux_calls \
	linux_events linux_allocations linux_tools linux_crash images port viewers
ALONE = oracle plugin_oracle unread	# in tests/e2e too; they run alone, since they compare times of the host

REFUSES = build/check/tests/unit/agent/scarce/scarce.o	# memory
UNIT_PROGRAMS = $(UNIT:%=build/check/tests/unit/%)
FUZZ_PROGRAMS = $(FUZZ:%=build/check/%) $(SCARCE:%=build/check/%)
TSAN_PROGRAMS = $(THREADED:%=build/tsan/tests/unit/%) $(WEAK:%=build/tsan/tests/unit/%)

# ---- test programs: the sources under sanitizers, those of the hook as host code ----

# Where binutils has gold, it links the tests: in half the time.
GOLD := $(if $(shell command -v ld.gold),-fuse-ld=gold)
# A test is linked with what else is in its folder and in those around it: parts of it, or stand-ins for real modules. The
# libraries come behind these. An object that has __wrap_NAME gets the calls of NAME.
around = $(wildcard $1/*.c) $(if $(filter-out tests/unit,$1),$(call around,$(patsubst %/,%,$(dir $1))))
parts = $(foreach file,$(call around,$(1:build/check/%=%)),$(if $(filter test_%,$(notdir $(file))),,$(file:%.c=build/check/%.o)))
wraps = $$(nm $(filter %.o,$^) | sed -n 's/.* T __wrap_/-Wl,--wrap=/p')
.SECONDEXPANSION:
$(UNIT_PROGRAMS): %: %.o $$(call parts,$$(@D)) $(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD) $(wraps),-lcmocka $(LIBS))
# A fuzz target on the committed corpus, without libFuzzer; and the same with each allocation refused in turn. The parts of
# fuzz_NAME are in tests/fuzz/NAME/.
fuzzed = $(patsubst %.c,build/$1/%.o,tests/fuzz/fuzz_$2.c $(wildcard tests/fuzz/$2/*.c) tests/unit/clock.c)
$(FUZZ:%=build/check/%): build/check/fuzz_%: $$(call fuzzed,check,$$*) build/check/tests/fuzz/replay.o $(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD) $(wraps),$(LIBS))
$(SCARCE:%=build/check/%): build/check/scarce_%: $$(call fuzzed,check,$$*) build/check/tests/fuzz/scarcely.o \
		$(REFUSES) $(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD) $(wraps),$(LIBS))
$(FUZZ:%=build/fuzz/%): build/fuzz/fuzz_%: $$(call fuzzed,fuzz,$$*) build/fuzz/tests/unit/fakes/work.o $(call libraries,fuzz)
	$(call link,$(CLANG),-fsanitize=fuzzer$(comma)address$(comma)undefined -Wl$(comma)--allow-multiple-definition $(wraps),$(LIBS))
$(THREADED:%=build/tsan/tests/unit/%): %: %.o build/tsan/libfakes.a build/tsan/libhook.a
	$(call link,$(CC),-fsanitize=thread,-lcmocka)
$(WEAK:%=build/tsan/tests/unit/%): %: %.o $(patsubst %.c,build/host/%.o,$(wildcard tests/unit/fakes/weak/*.c)) \
		build/tsan/libfakes.a build/tsan/libhook.a
	$(call link,$(CC),,-lcmocka)
# For tests/e2e. Linux as vmlinuz unpacks it: a machine starts it much sooner, always where it was linked (no KASLR).
build/linux/vmlinux: build/linux/vmlinuz build/check/image_kernel
	build/check/image_kernel $< >$@.new
	mv $@.new $@
# For tests/e2e: programs that play a terminal or a VM, or check what was sent; the .so are preloaded into ktop.
$(patsubst %,build/check/%,$(filter-out %.so,$(TOOLS))): build/check/%: build/check/tests/e2e/%.o \
		$(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD),$(LIBS))
# For tests/browser: writes the pictures that Chromium opens.
build/check/write_pictures: build/check/tests/browser/write_pictures.o build/check/tests/unit/agent/formats/hand_set.o \
		$(call libraries,check)
	$(call link,$(CC),$(SANITIZE) $(GOLD),$(LIBS))
build/check/%.so: tests/e2e/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -D_GNU_SOURCE $(CFLAGS) -O1 -fPIC -shared -o $@ $<

test = $(filter %/test_$1,$(UNIT_PROGRAMS))
# What is built into a kernel, and is in no library.
$(filter build/check/tests/unit/$(PORTS)/template/%,$(UNIT_PROGRAMS)): $(patsubst %,build/check/%.o,$(filter-out %/string,$(TEMPLATE)))
$(call test,memory) $(call test,absurd_files): | build/ktop	# they run it
$(REFUSES): OWN = -fno-sanitize=all	# it runs before the sanitizer does
$(foreach kind,check fuzz,build/$(kind)/tests/unit/fakes/work.o): OWN = -O2 -fno-sanitize=all	# it runs in each basic block

unit: build/ktop $(TOOLS:%=build/check/%) $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TSAN_PROGRAMS)

# Builds and runs the unit tests that are touched by changes since this last passed.
unit-quick:
	@tests/quick $(UNIT_PROGRAMS) $(TSAN_PROGRAMS)

# Writes the screens of tests/golden anew, in all programs that compare with one. A change of the title is in most.
golden: $(foreach name,annotate canvas console_keys header keymap page_keys states tabs view_functions view_keys,$(call test,$(name)))
	@for program in $^; do GOLDEN=write $$program >$$program.log 2>&1 || { cat $$program.log; exit 1; }; done
	@git diff --stat tests/golden

# The tests of Linux are skipped where its packages cannot be had.
linux-guest:
	@if ./packages linux && $(MAKE) build/linux/vmlinuz; then $(MAKE) build/linux/initramfs; fi

check: packages
	$(MAKE) -j$(shell nproc) linux-guest build/lint build/ktop build/ktop-plugin.so demo-kernel unit
	@./packages cpus
	@env -u QUICK tests/run $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TSAN_PROGRAMS) $(CHECKS:%=tests/check-%) $(E2E:%=tests/e2e/%) \
		-- $(ALONE:%=tests/e2e/%)

# Long tests, which take as long as all others: `make check` has a short one of each thing that they look at.
check-long: packages linux-guest
	$(MAKE) build/ktop build/ktop-plugin.so demo-kernel $(TOOLS:%=build/check/%) $(call test,burst)
	@LISTS=150 tests/run $(call test,burst) $(E2E_LONG:%=tests/e2e/%)

# First each allocation is refused; then comes everything that costs memory, at once; then the books, for SOAK_MINUTES.
SCARCE_ALL = $(SCARCE:%=build/check/%) $(filter build/check/tests/unit/agent/scarce/%,$(UNIT_PROGRAMS))
soak: packages
	$(MAKE) build/ktop build/ktop-plugin.so demo-kernel $(SCARCE_ALL) $(call test,memory) $(TOOLS:%=build/check/%)
	for program in $(SCARCE_ALL) tests/e2e/refused tests/e2e/gdb; do $$program all || exit 1; done
	$(call test,memory) soak
	tests/soak
	for test in plugin_safety gdb_safety; do ROUNDS=200 tests/e2e/$$test || exit 1; done
	BOOTS=5 tests/e2e/linux_kaslr
	$(MAKE) check-guests

# All tests with a clock that goes four times as slow as the host's, and four times as fast.
check-clock: packages linux-guest
	$(MAKE) build/ktop build/ktop-plugin.so demo-kernel unit
	for times in 0.25 4; do tests/with-clock $$times tests/run $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TSAN_PROGRAMS) \
		$(E2E:%=tests/e2e/%) || exit 1; done

# Runs the tests of Linux on the kernel of Debian's backports.
check-linux-newer: packages
	./packages linux
	tests/linux-newer

# Compares the source lines of Debian's Linux with those of binutils: downloads its debug package, of 858 MB.
check-linux-lines: packages
	$(MAKE) build/check/places build/check/listing
	tests/run -- tests/e2e/linux_lines

# Runs the tests of untouched guests that take long: four architectures, and the plugin's shares beside the module's.
check-guests: packages
	./packages linux
	$(MAKE) build/ktop build/ktop-plugin.so build/linux/initramfs build/linux/ktop.ko
	tests/run -- tests/e2e/guests tests/e2e/plugin_shares tests/e2e/qemu_newer

# Reads the formats of an export by the tools that they are for.
check-export: packages
	./packages export
	$(MAKE) build/ktop build/check/formats_written build/check/write_pictures
	npm install --silent --no-audit --no-fund --prefix build/export speedscope@1.25.0 ajv@8.17.1
	tests/run tests/e2e/formats tests/browser/pictures tests/browser/tools

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
