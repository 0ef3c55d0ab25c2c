/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/bytes.h"
#include "agent/base/memory_reader.h"
#include "linux_kernel.h"
#include "slide.h"

/* linux/Documentation/arch/x86/x86_64/mm.rst: the area of each CPU's entry code begins with the IDT. */
#define IDT UINT64_C(0xfffffe0000000000)

enum {
	GATE_SIZE = 16, GATE_PRESENT = 0x80,	/* in its byte 5 */
	PAGE = 4096,
	X86_RANGE = 1 << 30, I386_RANGE = 512 << 20,	/* how far KASLR moves the kernel up */
	KERNEL_MOST = 128 << 20,		/* from the start of a kernel to any of its code */
	BANNER_LEAST = 24,			/* bytes that tell one kernel from another */
};

static bool read_word(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t address,
	uint64_t *word)
{
	uint8_t bytes[8] = { 0 };

	if (!memory->read(memory->context, address, bytes, kernel->arch == ARCH_I386 ? 4 : 8))
		return false;
	*word = bytes_64(bytes);
	return true;
}

bool slide_read_gate(const struct memory_reader *memory, uint64_t *handler)
{
	uint8_t gate[GATE_SIZE];

	if (!memory->read(memory->context, IDT, gate, sizeof(gate)) || !(gate[5] & GATE_PRESENT))
		return false;
	*handler = bytes_16(gate) | (uint64_t)bytes_16(gate + 6) << 16 | (uint64_t)bytes_32(gate + 8) << 32;
	return true;
}

bool slide_by_gate(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide)
{
	uint64_t link, run;

	if (kernel->arch != ARCH_X86_64 || !linux_kernel_landmark(kernel, LANDMARK_DIVIDE_ERROR, &link) ||
			!slide_read_gate(memory, &run))
		return false;
	if ((run - link) % SLIDE_STEP || run - link >= X86_RANGE)
		return false;
	*slide = run - link;
	return true;
}

/*
 * Physical memory may hold anything at that place. The word there is taken for `base` plus the slide only if it is
 * `base` moved by whole pages, and still in the same half of the address space: the kernel's.
 */
bool slide_by_physical_base(const struct linux_kernel *kernel, const struct memory_reader *physical,
	uint64_t start, uint64_t *slide)
{
	uint64_t base;

	if (!kernel->base_place || !read_word(kernel, physical, start + (kernel->base_place - kernel->start), &base) ||
			(base - kernel->base) % PAGE || base >> 63 != kernel->base >> 63)
		return false;
	*slide = base - kernel->base;
	return true;
}

bool slide_by_base(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t code,
	uint64_t *slide)
{
	uint64_t below = (code - kernel->start) % SLIDE_STEP;

	for (; kernel->base_place && below < KERNEL_MOST; below += SLIDE_STEP) {
		uint64_t candidate = code - below - kernel->start, base;

		if (read_word(kernel, memory, kernel->base_place + candidate, &base) &&
				base == kernel->base + candidate) {
			*slide = candidate;
			return true;
		}
	}
	return false;
}

bool slide_by_banner(const struct linux_kernel *kernel, const struct memory_reader *memory, uint64_t *slide)
{
	uint64_t link, range = kernel->arch == ARCH_X86_64 ? X86_RANGE :
		kernel->arch == ARCH_I386 ? I386_RANGE : 0;
	size_t size = strnlen(kernel->banner, LINUX_BANNER_MAX);

	if (!linux_kernel_landmark(kernel, LANDMARK_BANNER, &link) || size < BANNER_LEAST)
		return false;
	for (uint64_t candidate = 0; candidate < range; candidate += SLIDE_STEP) {
		char text[LINUX_BANNER_MAX];

		if (memory->read(memory->context, link + candidate, text, size) &&
				memcmp(text, kernel->banner, size) == 0) {
			*slide = candidate;
			return true;
		}
	}
	return false;
}
