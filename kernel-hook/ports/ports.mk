# SPDX-License-Identifier: MIT
# The kernels that carry the hook, as `make` builds them: demo and tiny from source, Linux from Debian's packages.
# The Makefile at the top includes this.

PORTS = kernel-hook/ports
DEMO = $(call in,$(PORTS)/demo/,boot main) $(call in,$(PORTS)/demo/machine/,acpi apic command console spin string) \
	$(call in,$(PORTS)/demo/memory/,page program slab space) $(call in,$(PORTS)/demo/kernel/,clock cpu entry hook_calls \
		keyboard mutex port process programs sched smp switch syscall thread trap) \
	$(call in,$(PORTS)/demo/work/,mix oracle_tail)
DEMO_WORK = $(call in,$(PORTS)/demo/,machine/checksum kernel/file) $(call in,$(PORTS)/demo/work/,cost mix_files mix_ledger \
		mix_mail mix_memory mix_processes mix_quiet oracle oracle_shapes spike locks)
DEMO_PROGRAMS = hash primes queens sort pulse
TEMPLATE = $(call in,$(PORTS)/template/,alarm current memory port start string)
DEMO_TEMPLATE = $(filter %/port %/start,$(TEMPLATE))
TINY = $(call in,$(PORTS)/tiny/,boot main port)

QEMU = qemu-system-x86_64 -accel tcg -display none
DEMO_GUEST = $(QEMU) -smp 4 -m 256 -device pvpanic -kernel build/demo/demo.elf -append work=mix
LINUX_GUEST = $(QEMU) -smp 2 -m 512 -kernel build/linux/vmlinuz -initrd build/linux/initramfs \
	-append 'console=ttyS0 quiet tsc=reliable no_timer_check'

# ---- demo and tiny: the hook as a kernel compiles it, and a kernel around it ----

GUEST = -std=c11 $(WARN) -O2 -g -ffreestanding -nostdlib -fno-stack-protector -fno-pic -mno-red-zone \
	-mgeneral-regs-only -fcf-protection=none -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
	-fno-optimize-sibling-calls -fno-asynchronous-unwind-tables
# gcc gives a function that calls nothing no frame, so a walk from there misses its caller. With -pg it gives one; a NOP
# in place of the call is all that remains of -pg. The other flags keep each function one function, under its own name.
FRAMES = -fno-shrink-wrap -pg -mfentry -mnop-mcount -fno-ipa-icf -fno-ipa-sra -fno-ipa-cp -fno-partial-inlining
GUEST_CPPFLAGS = -Ikernel-hook
GUEST_LDFLAGS = -nostdlib -static -no-pie -Wl,--build-id=sha1,-z,max-page-size=4096,-z,noexecstack

# The demo's work has to show by function, so none is inlined. One file is there for its tail call.
$(DEMO_WORK:%=build/guest/%.o): SHAPE = -fno-inline
build/guest/$(PORTS)/demo/work/oracle_tail.o: SHAPE = -foptimize-sibling-calls
# The hook is built with the flags of docs/porting.md, and no others.
$(HOOK:%=build/guest/%.o) $(TEMPLATE:%=build/guest/%.o) build/guest/$(PORTS)/demo/kernel/port.o: FRAMES =

build/guest/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(GUEST_CPPFLAGS) $(GUEST) $(FRAMES) -mcmodel=kernel $(SHAPE) -MMD -MP -c -o $@ $<
build/guest/%.o: %.S
	@mkdir -p $(@D)
	$(call say,AS)$(CC) $(GUEST_CPPFLAGS) $(GUEST) -Wa,-Ibuild/demo -MMD -MP -c -o $@ $<
# The demo's trace points have a part of its port inlined.
build/demo/trace.o: kernel-hook/trace.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(GUEST_CPPFLAGS) -include $(PORTS)/demo/kernel/port_cpu.h $(GUEST) -mcmodel=kernel -MMD -MP -c -o $@ $<

build/demo/%: $(call in,$(PORTS)/demo/,user/%.c user/start.S user/program.h machine/call.h)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(GUEST_CPPFLAGS) $(GUEST) $(FRAMES) -fno-inline $(GUEST_LDFLAGS) -o $@ $(filter %.c %.S,$^)
build/guest/$(PORTS)/demo/kernel/programs.o: $(DEMO_PROGRAMS:%=build/demo/%)

build/demo/demo.elf: $(patsubst %,build/guest/%.o,$(DEMO) $(DEMO_WORK) $(DEMO_TEMPLATE) $(filter-out %/trace,$(HOOK))) \
	build/demo/trace.o $(PORTS)/demo/link.ld
build/tiny/tiny.elf: $(patsubst %,build/guest/%.o,$(TINY) $(TEMPLATE) $(HOOK)) $(PORTS)/tiny/link.ld
build/demo/demo.elf build/tiny/tiny.elf:
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(GUEST_LDFLAGS) -T $(filter %.ld,$^) -o $@ $(filter %.o,$^)

LINT_GUEST = $(wildcard $(patsubst %,%.c,$(DEMO) $(DEMO_WORK) $(TEMPLATE) $(TINY)))

demo-kernel: build/demo/demo.elf build/tiny/tiny.elf

# ---- Linux: ktop.ko for the newest Debian kernel whose headers are installed, and a guest with it ----

LINUX_HEADERS ?= /usr/src
LINUX = $(shell ls $(LINUX_HEADERS) | sed -n 's/^linux-headers-\(.*[0-9]-amd64\)$$/\1/p' | sort -V | tail -1)
LINUX_DIR = $(PORTS)/linux

build/linux/version: FORCE
	@mkdir -p $(@D)
	@echo $(LINUX) | cmp -s - $@ || echo $(LINUX) >$@

build/linux/ktop.ko: build/linux/version $(wildcard $(LINUX_DIR)/*.[ch] $(LINUX_DIR)/include/*.h) \
		$(LINUX_DIR)/Kbuild $(LINUX_DIR)/Makefile $(HOOK:%=%.c) $(wildcard kernel-hook/*.h kernel-hook/*/*.h)
	$(call say,MAKE)$(MAKE) -C $(LINUX_DIR) KDIR=$(LINUX_HEADERS)/linux-headers-$(LINUX) OUT=$(abspath build/linux) \
		>build/linux/log 2>&1 || { cat build/linux/log; false; }

build/linux/vmlinuz: build/linux/version
	$(LINUX_DIR)/demo/fetch $(LINUX) build/linux

build/linux/work build/linux/load: build/linux/%: $(LINUX_DIR)/demo/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -D_GNU_SOURCE $(CFLAGS) -O2 -fno-inline -static -o $@ $<

build/linux/initramfs: build/linux/vmlinuz build/linux/ktop.ko build/linux/work build/linux/load \
		$(wildcard $(LINUX_DIR)/demo/*)
	$(LINUX_DIR)/demo/pack build/linux

# For tests/e2e/linux_silent and tests/e2e/linux_brief.
build/linux/silent build/linux/brief: build/linux/%: tests/e2e/%.c
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -D_GNU_SOURCE $(CFLAGS) -O2 -static -o $@ $<

# For tests/e2e/linux_nmi.
build/linux/overflow/overflow.ko: build/linux/version $(wildcard tests/e2e/overflow/*)
	@mkdir -p $(@D)
	ln -sf $(abspath $(wildcard tests/e2e/overflow/*)) $(@D)
	$(MAKE) -C $(LINUX_HEADERS)/linux-headers-$(LINUX) M=$(abspath $(@D)) CONFIG_DEBUG_INFO_BTF_MODULES= modules \
		>$(@D)/log 2>&1 || { cat $(@D)/log; false; }
