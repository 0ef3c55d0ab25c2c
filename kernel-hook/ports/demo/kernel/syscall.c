/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "cpu.h"
#include "file.h"
#include "hook_calls.h"
#include "ports/demo/machine/call.h"
#include "ports/demo/machine/checksum.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/frame.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/x86.h"
#include "process.h"
#include "sched.h"
#include "syscall.h"
#include "thread.h"
#include "trace.h"

enum { FAILED = -1, PIECE = 256, MARK = 63 };

static int64_t call_exit(const struct frame *frame)
{
	process_exit((int64_t)frame->rdi);
}

static int64_t call_write(const struct frame *frame)
{
	char bytes[PIECE];
	uint64_t size = frame->rsi < sizeof(bytes) ? frame->rsi : sizeof(bytes);

	if (!process_read(frame->rdi, bytes, size))
		return FAILED;
	console_write(bytes, size);
	return (int64_t)size;
}

static int64_t call_process(const struct frame *frame)
{
	(void)frame;
	return thread_current()->process->id;
}

static int64_t call_yield(const struct frame *frame)
{
	(void)frame;
	sched_yield();
	return 0;
}

static int64_t call_sleep(const struct frame *frame)
{
	sched_sleep(frame->rdi);
	return 0;
}

/* Only moves the end of the heap. A page is given when the program first uses it. */
static int64_t call_map(const struct frame *frame)
{
	struct process *process = thread_current()->process;
	uint64_t start = process->heap_end, limit = USER_STACK / 2;

	if (frame->rdi > limit - start)
		return FAILED;
	process->heap_end += (frame->rdi + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
	return (int64_t)start;
}

static int64_t call_read(const struct frame *frame)
{
	uint8_t bytes[PIECE];
	uint64_t size = frame->r10 < sizeof(bytes) ? frame->r10 : sizeof(bytes);

	file_read((uint32_t)frame->rdi, frame->rsi, bytes, size);
	return process_write(frame->rdx, bytes, size) ? (int64_t)size : FAILED;
}

static int64_t call_digest(const struct frame *frame)
{
	uint64_t address = frame->rdi, end = address + frame->rsi;
	uint32_t sum = 0;
	uint8_t bytes[PIECE];

	while (address < end) {
		uint64_t size = end - address < sizeof(bytes) ? end - address : sizeof(bytes);

		if (!process_read(address, bytes, size))
			return FAILED;
		sum = checksum_crc32(sum, bytes, size);
		address += size;
	}
	return sum;
}

static int64_t call_mark(const struct frame *frame)
{
	uint64_t size = frame->rsi < MARK ? frame->rsi : MARK;
	char text[MARK + 1];

	if (!process_read(frame->rdi, text, size))
		return FAILED;
	text[size] = 0;
	return hook_mark(text) ? 0 : FAILED;
}

static int64_t (*const calls[CALLS])(const struct frame *frame) = {
	[CALL_EXIT] = call_exit,
	[CALL_WRITE] = call_write,
	[CALL_PROCESS] = call_process,
	[CALL_YIELD] = call_yield,
	[CALL_SLEEP] = call_sleep,
	[CALL_MAP] = call_map,
	[CALL_READ] = call_read,
	[CALL_DIGEST] = call_digest,
	[CALL_MARK] = call_mark,
};

void syscall_handle(struct frame *frame)
{
	uint32_t thread = thread_current()->id;
	uint64_t number = frame->rax;

	irq_on();
	ktop_trace_syscall_enter(hook, thread, (uint32_t)number, frame->rdi, frame->rsi, frame->rdx, frame->r10,
		frame->r8, frame->r9);
	frame->rax = (uint64_t)(number < CALLS ? calls[number](frame) : FAILED);
	ktop_trace_syscall_exit(hook, thread, (uint32_t)number, frame->rax);
	irq_off();
	if (cpu_this()->resched)
		sched_switch();
	traced_irqs_on();
}
