/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kallsyms_lookup_name() finds all symbols, but is not exported itself. A kprobe is placed by name and then knows the
 * address: that is the one way left to find it.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <asm/cpufeature.h>

#include "private.h"

static unsigned long (*lookup)(const char *name);

int private_init(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	int error;

	if (IS_ENABLED(CONFIG_X86_KERNEL_IBT) && boot_cpu_has(X86_FEATURE_IBT)) {
		pr_err("ktop: this kernel checks where indirect calls go (IBT), and some of "
			"those that ktop needs are not allowed; boot it with ibt=off\n");
		return -EOPNOTSUPP;
	}
	error = register_kprobe(&probe);
	if (error) {
		pr_err("ktop: the kernel's symbols cannot be had: kprobes say %d; "
			"is this kernel built with CONFIG_KPROBES and CONFIG_KALLSYMS?\n", error);
		return error;
	}
	lookup = (void *)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

unsigned long private_address(const char *name)
{
	return lookup(name);
}
