/* SPDX-License-Identifier: MIT */
#include "raw_samples.h"

enum { X86_64, I386, RISCV64, AARCH64 };	/* as on the wire */

enum { PAGE_BITS = 12 };

static const uint8_t pc_number[] = { [X86_64] = 16, [I386] = 8, [RISCV64] = 32, [AARCH64] = 32 };

/* Where nothing tells the mode, the half of the addresses does, as all kernels of these CPUs have it. */
static enum mode mode_of(const struct raw_sample *raw, uint64_t pc)
{
	if (raw->mode < MODES)
		return raw->mode;
	return pc >> (raw->arch == I386 ? 31 : 63) ? MODE_KERNEL : MODE_USER;
}

void raw_samples_read(const struct raw_sample *raw, struct raw_stack *stack)
{
	bool known = raw_register(raw, pc_number[raw->arch], &stack->kernel[0]);
	enum mode mode = mode_of(raw, known ? stack->kernel[0] : 0);

	stack->user[0] = stack->kernel[0];
	stack->sample = (struct sample) {
		.process = raw->space ? (uint32_t)(raw->space >> PAGE_BITS) : EVENT_KERNEL,
		.thread = EVENT_NONE,
		.mode = mode,
		.kernel_cut = mode != MODE_USER, .user_cut = mode == MODE_USER,
		.weight = raw->weight,
		.exact = 1, .user_exact = true,
		.kernel_count = known && mode != MODE_USER, .user_count = known && mode == MODE_USER,
		.kernel = stack->kernel, .user = stack->user,
	};
}
