# SPDX-License-Identifier: MIT
# The plugin for QEMU: the hook's own files, and a port of them to QEMU. The Makefile at the top includes this.

PLUGIN = $(call in,kernel-hook/plugin/,boot functions gate moment outside plugin program_stack ram reads roles socket stack_link task thread vcpus) \
	$(call in,kernel-hook/plugin/machine/,clock debugger instruction memory public qemu self_test target)
PLUGIN_HOOK = $(filter-out kernel-hook/virtio/% %/unwind %/unwind_user,$(HOOK))

# The plugin's samples take the place of the hook's.
$(call in,build/plugin/kernel-hook/,sample.o drain.o trace.o): OWN = -include kernel-hook/plugin/raw.h

build/ktop-plugin.so: $(patsubst %,build/plugin/%.o,$(PLUGIN) $(PLUGIN_HOOK))
	$(call say,LD)$(CC) $(CFLAGS) -shared -o $@ $^

# A guest that knows nothing of ktop: Debian's own kernel, and busybox.
UNTOUCHED_GUEST = $(QEMU) -smp 1 -m 256 -kernel build/linux/vmlinuz -initrd build/untouched/initramfs \
	-append 'console=ttyS0 quiet'

build/untouched/initramfs: kernel-hook/plugin/demo/init
	@mkdir -p $(@D)/root/bin
	cp /bin/busybox $(@D)/root/bin/
	cp $< $(@D)/root/init
	cd $(@D)/root && find . | cpio --quiet -o -H newc >../initramfs.new
	mv $@.new $@
