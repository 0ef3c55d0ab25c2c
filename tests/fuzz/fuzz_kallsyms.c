/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a Linux kernel, an image or what was read of memory: its symbols, and what it says of itself. The same
 * bytes, again and again, are the memory in which it runs; the last ones are return addresses of its stacks.
 */
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/names/linux/call_sites.h"
#include "agent/names/linux/kallsyms.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/orc.h"
#include "fuzz.h"

enum { RETURNS = 32 };

struct guest {
	const uint8_t *bytes;
	size_t size;
};

static bool read_guest(void *context, uint64_t address, void *to, size_t size)
{
	const struct guest *guest = context;

	for (size_t done = 0, part; done < size; done += part) {
		size_t from = (address + done) % guest->size;

		part = guest->size - from < size - done ? guest->size - from : size - done;
		memcpy((uint8_t *)to + done, guest->bytes + from, part);
	}
	return true;
}

static void run(const struct linux_kernel *kernel, struct guest *guest)
{
	const struct memory_reader memory = { .read = read_guest, .context = guest };
	uint64_t returns[RETURNS], slide;
	struct orc_entry entry;

	read_guest(guest, guest->size > sizeof(returns) ? guest->size - sizeof(returns) : 0, returns,
		sizeof(returns));
	if (kernel->calls)
		call_sites_slide(kernel->calls, returns, RETURNS, SLIDE_STEP, &slide);
	slide_by_gate(kernel, &memory, &slide);
	slide_by_base(kernel, &memory, returns[0], &slide);
	slide_by_physical_base(kernel, &memory, returns[0], &slide);
	slide_by_banner(kernel, &memory, &slide);
	for (int i = 0; i < RETURNS; i++)
		if (linux_kernel_orc(kernel, returns[i], &entry))
			require(entry.type <= ORC_TYPE_REGS_PARTIAL && (unsigned)entry.sp < 16 &&
				(unsigned)entry.bp < 16);
}

static void look(struct kernel_bytes *kernel, struct guest *guest)
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
	if (known)
		run(known, guest);
	linux_kernel_free(known);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct guest guest = { bytes, size };
	struct kernel_bytes kernel;

	if (kernel_bytes_set(&kernel, bytes, size)) {
		look(&kernel, &guest);
		return 0;
	}
	kernel.arch = size % 2 ? ARCH_I386 : ARCH_X86_64;
	kernel_bytes_place(&kernel, 0xffffffff81000000);
	look(&kernel, &guest);
	return 0;
}
