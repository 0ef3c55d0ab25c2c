/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "cpu.h"
#include "ports/demo/machine/acpi.h"
#include "ports/demo/machine/apic.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/frame.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/memory.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/machine/sync.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/machine/x86.h"
#include "ports/demo/memory/page.h"
#include "sched.h"
#include "smp.h"
#include "thread.h"

extern const uint8_t boot_trampoline[], boot_trampoline_end[];

char *smp_stack;
static uint32_t starting;		/* number of the CPU that is being started */
static bool under_way;			/* that CPU still uses `starting` and smp_stack */

/* Runs on the stack that start_one() has made. It becomes the stack of this CPU's idle thread. */
_Noreturn void smp_main(void)
{
	cpu_start(starting);
	thread_adopt(starting);
	apic_start();
	clock_start();
	sync_leave(&under_way);
	sched_idle();
}

/* CPUs are started one at a time, since the trampoline has one stack pointer for all. */
static void start_one(uint32_t number)
{
	uint64_t give_up = clock_now() + 10 * clock_rate();
	char *stack = page_alloc(2);

	if (stack == NULL)
		panic("no memory for CPU %u", number);
	memset(stack, 0, STACK_SIZE);
	smp_stack = stack + STACK_SIZE - sizeof(struct frame);
	starting = number;
	under_way = true;
	apic_start_up(cpus[number].apic, TRAMPOLINE);
	while (sync_is_used(&under_way)) {
		if (clock_now() > give_up)
			panic("CPU %u does not start", number);
		cpu_pause();
	}
	cpu_count = number + 1;
	print("cpu %u: apic %u\n", number, cpus[number].apic);
}

/* Intel SDM 3A, section 8.4.4.1: INIT, 10 ms, then the start-up message. */
void smp_start(const struct acpi_machine *machine)
{
	size_t size = (size_t)(boot_trampoline_end - boot_trampoline);

	memcpy(memory_at(TRAMPOLINE), boot_trampoline, size);
	for (uint32_t i = 0; i < machine->cpus; i++) {
		cpus[i].apic = machine->apics[i];
		if (i > 0)
			apic_init(cpus[i].apic);
	}
	print("cpu 0: apic %u\n", cpus[0].apic);
	if (machine->beyond > 0)
		print("%u CPUs more than this kernel has room for\n", machine->beyond);
	clock_spin(10 * NS_PER_MS);
	for (uint32_t i = 1; i < machine->cpus; i++)
		start_one(i);
}
