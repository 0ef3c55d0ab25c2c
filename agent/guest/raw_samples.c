/* SPDX-License-Identifier: MIT */
#include "kernel_code.h"
#include "raw_samples.h"

enum { PAGE_BITS = 12 };		/* page tables begin at multiples of 4 KiB */

static void take_registers(const struct raw_sample *raw, struct registers *registers)
{
	uint64_t value;

	for (uint32_t i = 0; i < registers->arch->registers; i++)
		if (raw_sample_register(raw, i, &value))
			registers_set(registers, i, value);
}

/* If the raw sample does not tell the mode, the frames do: a sample with kernel frames was taken in the kernel. */
static enum mode mode_of(const struct raw_sample *raw, const struct unwound *frames)
{
	if (raw->mode < MODES)
		return raw->mode;
	return frames->kernel.count ? MODE_KERNEL : MODE_USER;
}

/*
 * A CPU in the kernel's mode runs no program. Code that is not the kernel's is a boot loader's or the
 * firmware's. It has one frame, since how it keeps its stack is not known.
 */
static void take_for_kernel(struct unwound *frames)
{
	if (frames->kernel.count || !frames->user.count)
		return;
	frames->kernel = frames->user;
	frames->kernel.count = 1;
	frames->kernel.exact = 1;
	frames->user = (struct unwound_frames) { .count = 0 };
}

/*
 * Where the thread is not known, the root of the page tables, as a page number, stands for the process. Linux numbers
 * its threads from 1 on, and has an idle one for each CPU, which belongs to no process.
 */
static void take_task(const struct raw_sample *raw, struct sample *sample)
{
	if (!raw->name.size) {
		sample->process = raw->space ? (uint32_t)(raw->space >> PAGE_BITS) : EVENT_KERNEL;
		sample->thread = EVENT_NONE;
	} else {
		sample->process = raw->thread ? raw->process : EVENT_KERNEL;
		sample->thread = raw->thread ? raw->thread : EVENT_NONE;
	}
}

/* Of the user frames only the first can be exact. */
void raw_samples_read(const struct raw_sample *raw, struct kernel_code *code, struct raw_stack *stack)
{
	const struct arch *arch = arch_get(raw->arch);
	struct registers registers = { .arch = arch };
	struct stack_memory memory = { .count = 3 };
	struct unwound *frames = &stack->frames;
	struct sample *sample = &stack->sample;
	struct unwind_code known;

	*sample = (struct sample) { .weight = raw->weight };
	take_task(raw, sample);
	known = kernel_code_now(code, arch, raw->mode == MODE_USER, sample->process);
	take_registers(raw, &registers);
	memory.pieces[0] = (struct stack_piece) {
		.address = raw->stack_address, .bytes = (const uint8_t *)raw->stack.bytes, .size = raw->stack.size,
	};
	memory.pieces[1] = (struct stack_piece) {
		.address = raw->linked_address, .bytes = (const uint8_t *)raw->linked.bytes, .size = raw->linked.size,
	};
	memory.pieces[2] = (struct stack_piece) {
		.address = raw->user_address, .bytes = (const uint8_t *)raw->user.bytes, .size = raw->user.size,
	};
	unwind(&registers, &known, &memory, frames);
	if (raw->mode == MODE_KERNEL || raw->mode == MODE_IDLE)
		take_for_kernel(frames);
	kernel_code_saw(code, &frames->kernel);
	sample->mode = mode_of(raw, frames);
	sample->kernel_cut = frames->kernel.cut;
	sample->user_cut = frames->user.cut;
	sample->exact = frames->kernel.exact;
	sample->user_exact = frames->user.exact & 1;
	sample->kernel_count = frames->kernel.count;
	sample->user_count = frames->user.count;
	sample->kernel = frames->kernel.frames;
	sample->user = frames->user.frames;
}
