/* SPDX-License-Identifier: MIT */
/* Any bytes as a Linux kernel, an image or what was read of memory: its symbols, and what it says of itself. */
#include "agent/names/linux/kallsyms.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/linux/linux_kernel.h"
#include "fuzz.h"

static void look(struct kernel_bytes *kernel)
{
	struct kallsyms_cursor cursor = { .index = 0 };
	struct linux_kernel *known;
	struct kallsyms kallsyms;
	uint64_t address;

	if (!kallsyms_find(kernel, &kallsyms))
		return;
	while (kallsyms_next(&kallsyms, &cursor))
		require(cursor.size <= KALLSYMS_NAME_MAX && cursor.index <= kallsyms.count);
	known = linux_kernel_new(kernel, &kallsyms, NULL);
	for (int i = 0; known && i < LANDMARKS; i++)
		linux_kernel_landmark(known, (enum landmark)i, &address);
	linux_kernel_free(known);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct kernel_bytes kernel;

	if (kernel_bytes_set(&kernel, bytes, size)) {
		look(&kernel);
		return 0;
	}
	kernel.arch = size % 2 ? ARCH_I386 : ARCH_X86_64;
	kernel_bytes_place(&kernel, 0xffffffff81000000);
	look(&kernel);
	return 0;
}
