# SPDX-License-Identifier: MIT
# `make` builds build/ktop, the plugin for QEMU and the demo kernel. `make demo` and `make check` also install the
# packages that they need. Everything that is made goes to build/. Make prints a short line for each file; V=1 prints the
# commands.

CC = gcc
CLANG = clang
WARN = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith -Wwrite-strings -Wvla -Werror
CPPFLAGS = -D_GNU_SOURCE -I. -Ibuild/generated
CFLAGS = -std=c11 $(WARN) -g -fno-omit-frame-pointer -pthread
LIBS = -lncursesw -ltinfo -ldw -lelf -lcjson -liberty -lcapstone -lprotobuf-c -lz -llzma -lzstd -llz4 -lm -pthread
SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=undefined
comma = ,
# $(call say,WORD)COMMAND: prints `WORD TARGET` in place of the command; the command with V=1, nothing with `make -s`.
quiet = $(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(V),,@$(if $(quiet),,echo '$1 $@';))

# ---- the source files, room by room (docs/architecture.md) ----

# $(call in,FOLDER/,NAMES): the names, each with the folder before it.
in = $(addprefix $1,$2)
HOOK = $(call in,kernel-hook/,black_box control drain events filter hook hotkeys init meta pace sample sampler trace unwind unwind_user) \
	$(call in,kernel-hook/base/,grid name_table packet ring str) $(call in,kernel-hook/virtio/,pci pci_ports virtio \
		virtio_legacy virtio_modern virtio_pci virtio_port virtio_serial virtq)
AGENT = \
	$(call in,agent/base/,arch_id budget hash job json options unix_socket util util_file wakeup) \
	$(call in,agent/wire/,decode fields metadata payload recording recording_reader recording_repair recording_writer trace_kinds) \
	$(call in,agent/vm/qmp/,qmp qmp_discover machine_memory qmp_gdbserver qmp_memory qmp_plug) \
	$(call in,agent/vm/gdb/,gdb_direct gdb_keeper gdb_packets gdb_process gdb_sample gdb_stub) \
	$(call in,agent/vm/ram/,page_tables ram_file) \
	$(call in,agent/vm/console/,console) \
	$(call in,kernel-hook/plugin/,machine/target program_stack ram stack_link) \
	$(call in,agent/vm/,hook_search launch launch_folder link link_choice port_socket \
		state_words) \
	$(call in,agent/store/,run sample_log stacks store) \
	$(call in,agent/trace/,allocations latencies pairs slowest span span_rows trace trace_order) \
	$(call in,agent/names/bare/,flow function_starts sym_frames) \
	$(call in,agent/names/linux/,boot_image call_sites kallsyms kernel_bytes kernel_layout linux_kernel modules orc processes) \
	$(call in,agent/names/copies/,file_copies) \
	$(call in,agent/names/files/,debug_file image sym_elf sym_elf_bare symbol_table) \
	$(call in,agent/names/dwarf/,line_worker sym_cfi sym_dwarf sym_dwarf_lines \
		) \
	$(call in,agent/names/objects/,layouts objects programs) \
	$(call in,agent/names/,guest_symbols kernel_function lines running_kernel \
		running_programs symbols symbols_code symbols_kernel threads) \
	$(call in,agent/unwind/,unwind) \
	$(call in,agent/query/tree/,contexts tree) $(call in,agent/query/addresses/,query_addresses) \
	$(call in,agent/code/,disassembler listing listings) \
	$(call in,agent/query/question/,filter grouping) $(call in,agent/query/,match query query_tree scan series slots table) \
	$(call in,agent/guest/,boot_marks call_text commands epoch guest_events kernel_reading kernel_watch lease profiler raw_samples remarks \
		trace_places) \
	$(call in,agent/answers/,annotation answer call_tree event_table function_page function_table heat_map memory_table profile slow_rows thread_now thread_states time_line timeline vitals) $(call in,agent/source/,live play replay) \
	$(call in,agent/samples/,kept_paths sample_collect sample_set) \
	$(call in,agent/formats/,callgrind chrome csv_stacks firefox json_stacks perf_script pictures pprof set_formats speedscope times) \
	$(call in,agent/diff/,diff_request set_diff) \
	$(call in,agent/cut/,black_box kept_recording recorded_packets recording_cut) $(call in,agent/import/,folded_import pprof_import pprof_tables set_imports) \
	$(call in,agent/formats/writing/,csv_text gzip_stream json_text name_text row_reader set_writing text_list trace_spans track_file) \
	$(call in,agent/formats/picture/,bins cells html markup palette svg) \
	$(call in,agent/export/,export export_csv export_folded export_json formats json_writer save_format) \
	$(call in,agent/size/,code_sizes size_request size_rows \
		) \
	$(call in,agent/session/,capture flight post_mortem profile_facts saver session session_orders subscription) \
	$(call in,agent/fleet/,fleet fleet_answers fleet_events fleet_memory fleet_timeline) \
	$(call in,agent/report/,recorder report report_annotation report_answer report_events report_export report_json report_file report_guest report_memory report_options \
		report_range report_recording report_text report_threads report_time report_timeline report_tree) \
	$(call in,agent/service/,control_client service) agent/strace/call_lines
TUI = $(call in,tui/terminal/,canvas keys term theme tty) \
	$(call in,tui/frame/,emptiness header key_bar list scope tab_row) \
	$(call in,tui/views/table/,annotate_row column hue sorted_table) \
	$(call in,tui/views/flame/,flame_cells) $(call in,tui/views/tree/,tree_lines) \
	$(call in,tui/views/,config page_body slow_page view_annotate view_console view_events view_function view_functions view_heat view_help \
		view_flame view_formats view_memory view_timeline view_tree) \
	$(call in,tui/screen/,app screen screen_input screen_views \
		 tabs)
COMMANDS = $(call in,tui/commands/,command command_config command_crash command_ctl command_diff command_export command_record command_report \
		command_run command_screen command_size command_strace command_top command_trace interruption live_guest main)

BENCH = ingest trace scan names screen tree memory first perfdata bytes folded cost replay stop_go
BENCH_PARTS = world traffic setup intake guest terminal recorded

all: build/ktop build/ktop-plugin.so demo-kernel

# $(call libraries,FOLDER): the libraries of that kind of build.
libraries = $(foreach name,fakes tui agent hook outside,build/$1/lib$(name).a)
include kernel-hook/ports/ports.mk kernel-hook/plugin/plugin.mk tests/tests.mk

# The process that samples by QEMU's gdb stub: it has the hook in it, as the plugin does.
GDB_SAMPLER = $(call in,build/host/agent/vm/gdb/,gdb_memory.o gdb_sampler.o) \
	$(patsubst %,build/plugin/%.o,$(call in,kernel-hook/plugin/,gate machine/memory outside reads socket) $(PLUGIN_HOOK))
# What of the samplers outside the guest is tested alone.
OUTSIDE = agent/vm/gdb/gdb_memory $(call in,kernel-hook/plugin/,machine/clock machine/instruction machine/memory machine/public reads socket task thread vcpus)

# ---- objects and libraries: each kind of build has its folder in build/ ----

# $(call kind,FOLDER,COMPILER,FLAGS): the rules of one kind of build. OWN has the flags of a single target.
define kind
build/$1/%.o: %.c
	@mkdir -p $$(@D)
	$$(call say,CC)$2 $$(CPPFLAGS) $$(CFLAGS) $3 $$(OWN) -MMD -MP -c -o $$@ $$<
build/$1/%.o: build/generated/%.c
	@mkdir -p $$(@D)
	$$(call say,CC)$2 $$(CPPFLAGS) $$(CFLAGS) $3 -MMD -MP -c -o $$@ $$<
build/$1/libhook.a: $$(HOOK:%=build/$1/%.o)
build/$1/libagent.a: $$(AGENT:%=build/$1/%.o) build/$1/agent/formats/writing/profile.pb-c.o
build/$1/libtui.a: $$(TUI:%=build/$1/%.o)
build/$1/liboutside.a: $$(OUTSIDE:%=build/$1/%.o)
build/$1/libfakes.a: $$(patsubst %,build/$1/tests/unit/fakes/%.o,$$(or $$(FAKES_$1),$$(FAKES)))
build/$1/libbench.a: $$(BENCH_PARTS:%=build/$1/bench/%.o) build/$1/tests/unit/fakes/packets.o
build/$1/%.a:
	@rm -f $$@
	$$(call say,AR)ar rcs $$@ $$^
endef
$(eval $(call kind,host,$(CC),-O2))
$(eval $(call kind,check,$(CC),-Og -g1 $(SANITIZE)))
$(eval $(call kind,plugin,$(CC),-O2 -fPIC -fvisibility=hidden))
$(eval $(call kind,tsan,$(CC),-O1 -fsanitize=thread -Wno-tsan))
$(eval $(call kind,fuzz,$(CLANG),-O1 -fsanitize=fuzzer-no-link $(SANITIZE)))
$(foreach kind,check fuzz,$(AGENT:%=build/$(kind)/%.o)): OWN = -fsanitize-coverage=trace-pc	# tests/unit/fakes/work.h

# The messages of pprof, as C that protobuf-c makes.
build/generated/%.pb-c.c build/generated/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(call say,GEN)protoc-c --proto_path=. --c_out=build/generated $<
$(patsubst %,build/%/agent/formats/pprof.o,host check fuzz) build/lint: build/generated/agent/formats/writing/profile.pb-c.h

# Scripts and styles that the program carries with it.
$(patsubst %,build/%/agent/formats/picture/sources.o,host check fuzz): $(wildcard agent/formats/picture/*.js agent/formats/picture/*.css)

# $(call link,COMPILER,FLAGS,LIBRARIES): links the objects and libraries among the prerequisites.
link = @mkdir -p $(@D)$(newline)	$(call say,LD)$1 $(CFLAGS) $2 -o $@ $(filter %.o,$^) \
	-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $3
define newline


endef

build/ktop: $(COMMANDS:%=build/host/%.o) $(GDB_SAMPLER) build/host/libtui.a build/host/libagent.a
	$(call link,$(CC),,$(LIBS))

# clang also reads every file, with the same warnings.
LINT = $(patsubst %,%.c,$(HOOK) $(PLUGIN) $(AGENT) $(call in,agent/vm/gdb/,gdb_memory gdb_sampler) $(TUI) $(COMMANDS) $(BENCH:%=bench/%) $(BENCH_PARTS:%=bench/%))
build/lint: $(LINT) $(LINT_GUEST)
	$(call say,LINT)$(CLANG) $(CPPFLAGS) $(CFLAGS) -fsyntax-only $(LINT)
	@$(CLANG) $(GUEST_CPPFLAGS) $(GUEST) -fsyntax-only $(LINT_GUEST)
	@touch $@

# ---- speed: programs of bench/, one for each measurement ----

$(BENCH:%=build/bench/%): build/bench/%: build/host/bench/%.o build/host/libbench.a build/host/libagent.a
	$(call link,$(CC),,$(LIBS))

bench: packages
	./packages bench
	$(MAKE) build/ktop demo-kernel $(BENCH:%=build/bench/%)
	bench/run

# Plays a recording of 1 GB on the screen, and makes a report of it: how many times faster than guest time, in how much
# memory. Fails if that is too slow or too much, or if samples are missing.
bench-replay: build/ktop build/bench/replay
	build/bench/replay build/ktop 1000 rate=4000 >build/bench/replay.results; status=$$?; \
		bench/table build/bench/replay.results bench/replay_rows | tee build/bench/replay.txt; exit $$status

bench-plugin: packages
	./packages linux
	$(MAKE) build/ktop build/ktop-plugin.so build/linux/initramfs build/untouched/initramfs build/bench/stop_go
	bench/plugin

bench-linux: packages
	./packages bench
	./packages linux
	$(MAKE) build/linux/initramfs
	bench/linux

# ---- the demos ----

packages:
	./packages

DURATION = 5
REPORT =	# more options for the table that a demo prints without a terminal
# $(call show,OPTIONS,GUEST): shows the screen, or prints a table where there is no terminal.
show = @if [ -t 0 ] && [ -t 1 ] && tput cup 0 0 >/dev/null 2>&1; then build/ktop run $1 -- $2; \
	else build/ktop run --headless --wait 300 --seconds $(DURATION) $(REPORT) $1 -- $2; fi

demo: packages
	@$(MAKE) build/ktop demo-kernel
	$(call show,,$(DEMO_GUEST))

linux-module: packages
	./packages linux
	$(MAKE) build/linux/ktop.ko

demo-linux: packages
	./packages linux
	@$(MAKE) build/ktop build/linux/initramfs
	$(call show,--sysroot build/linux/root,$(LINUX_GUEST))

# Debian's own kernel, untouched: a plugin in QEMU samples it. Without a terminal, the table has its boot and some work.
demo-untouched: DURATION = 25
demo-untouched: packages
	./packages linux
	@$(MAKE) build/ktop build/ktop-plugin.so build/linux/vmlinuz build/untouched/initramfs
	$(call show,--sysroot build/untouched/root,$(UNTOUCHED_GUEST))

# ---- screenshots, installation, packages ----

screenshots: packages
	./packages screenshots
	./packages linux
	$(MAKE) build/ktop demo-kernel build/linux/initramfs
	screenshots/take --film screenshots -- $(DEMO_GUEST)
	screenshots/take screenshots/linux --sysroot build/linux/root -- $(LINUX_GUEST)

PREFIX = /usr/local
install: build/ktop build/ktop-plugin.so
	packaging/install put '$(DESTDIR)$(PREFIX)'
uninstall:
	packaging/install remove '$(DESTDIR)$(PREFIX)'
deb: packages
	./packages deb
	packaging/deb
clean:
	rm -rf build

-include $(shell find build -name '*.d' -not -path 'build/linux/*' 2>/dev/null)

.PHONY: FORCE all demo-kernel golden unit unit-quick packages demo demo-linux demo-untouched linux-module \
	check-clock check-export check-guests check-long check-linux-lines check-linux-newer check-qemu-newer linux-guest screenshots check soak fuzz bench bench-linux bench-plugin bench-replay install uninstall deb clean
.SECONDARY:
.DELETE_ON_ERROR:
