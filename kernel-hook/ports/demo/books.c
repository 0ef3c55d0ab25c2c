/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "books.h"
#include "ktop.h"
#include "ports/demo/kernel/cpu.h"
#include "ports/demo/kernel/hook_calls.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/thread.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/time.h"
#include "wire.h"

static void show(uint32_t cpu)
{
	print("books: cpu=%u samples=%lu/%lu trace=%lu/%lu\n", cpu,
		ktop_taken(hook, cpu, KTOP_SAMPLES), ktop_lost(hook, cpu, KTOP_SAMPLES),
		ktop_taken(hook, cpu, KTOP_TRACE), ktop_lost(hook, cpu, KTOP_TRACE));
}

static void books_run(void *argument)
{
	(void)argument;
	for (;;) {
		sched_sleep(NS_PER_SECOND);
		for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
			show(cpu);
		print("books: end\n");
	}
}

void books_start(void)
{
	thread_spawn("books", books_run, NULL);
}
