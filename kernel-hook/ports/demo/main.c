/* SPDX-License-Identifier: MIT */
/*
 * A small kernel for x86-64 machines with many CPUs, and ktop's reference port. A tour:
 *
 *   boot.S main.c                       from the loader to all CPUs idling
 *   machine/  acpi.c apic.c console.c   the PC: its tables, interrupt controllers, serial port
 *             spin.c                    locks whose waiters stay awake
 *   memory/   page.c slab.c space.c     pages; objects cut from pages; page tables
 *             program.c                 loads a program into an address space
 *   kernel/   cpu.c smp.c               the state of each CPU; starting the other CPUs
 *             entry.S trap.c            the ways in: interrupts, exceptions, NMIs, system calls
 *             clock.c keyboard.c        the devices that interrupt
 *             thread.c switch.S sched.c mutex.c    threads, and which of them runs
 *             process.c syscall.c file.c           programs in address spaces of their own
 *             port.c hook_calls.c       what ktop asks of this kernel, and what this kernel tells ktop
 *   work/     mix*.c oracle*.c          work to look at
 *             spike.c locks.c
 *             cost.c                    measures what ktop costs
 *   user/                               the programs
 *
 * This file brings the kernel up: memory, clock, ktop, the other CPUs, then the work that the command line names. With
 * books=on, it prints ktop's counts.
 */
#include <stddef.h>
#include <stdint.h>

#include "ktop.h"
#include "ports/demo/kernel/clock.h"
#include "ports/demo/kernel/cpu.h"
#include "ports/demo/kernel/file.h"
#include "ports/demo/kernel/hook_calls.h"
#include "ports/demo/kernel/keyboard.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/smp.h"
#include "ports/demo/kernel/thread.h"
#include "ports/demo/machine/acpi.h"
#include "ports/demo/machine/apic.h"
#include "ports/demo/machine/command.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/memory.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/start_info.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/machine/x86.h"
#include "ports/demo/memory/page.h"
#include "ports/demo/memory/space.h"
#include "ports/demo/work/cost.h"
#include "ports/demo/work/locks.h"
#include "ports/demo/work/mix.h"
#include "ports/demo/work/oracle.h"
#include "ports/demo/work/spike.h"
#include "wire.h"

extern const char kernel_end[];		/* link.ld */

_Noreturn void main(uint64_t start);

/* Gives all free memory above the kernel's image to the allocator. Below are the firmware's data and the image. */
static void find_memory(const struct start_info *info)
{
	const struct start_memory *piece = memory_at(info->memory_map);
	uint64_t image_end = memory_physical(kernel_end);

	for (uint32_t i = 0; i < info->memory_pieces; i++, piece++) {
		uint64_t start = piece->start < image_end ? image_end : piece->start;

		if (piece->type == MEMORY_FREE && start < piece->start + piece->size)
			page_add(start, piece->start + piece->size);
	}
}

static void show_books(uint32_t cpu)
{
	print("books: cpu=%u samples=%lu/%lu trace=%lu/%lu\n", cpu,
		ktop_taken(hook, cpu, KTOP_SAMPLES), ktop_lost(hook, cpu, KTOP_SAMPLES),
		ktop_taken(hook, cpu, KTOP_TRACE), ktop_lost(hook, cpu, KTOP_TRACE));
}

/*
 * The hook's counts, shown in another way than through ktop's port. With books=on, the console shows once a second what
 * was counted since boot:
 *
 *   books: cpu=N samples=TAKEN/LOST trace=TAKEN/LOST
 *   ...
 *   books: end
 */
static void books_run(void *argument)
{
	(void)argument;
	for (;;) {
		sched_sleep(NS_PER_SECOND);
		for (uint32_t cpu = 0; cpu < cpu_count; cpu++)
			show_books(cpu);
		print("books: end\n");
	}
}

/* For as many seconds as the command line says at this word. */
static void sleep_for(const char *word)
{
	sched_sleep((uint64_t)command_number(word) * NS_PER_SECOND);
}

static void power_off(void *argument)
{
	(void)argument;
	sleep_for("poweroff");
	print("power off\n");
	acpi_power_off();
}

static void fail(void *argument)
{
	(void)argument;
	sleep_for("panic");
	panic("as the command line asks for");
}

/* Takes the CPU that it runs on, for good. */
static void hang(void *argument)
{
	(void)argument;
	sleep_for("hang");
	irq_off();
	for (;;)
		cpu_pause();
}

/* The CPU finds no handler for the fault, nor for that of not finding one: the machine is reset. */
static void triple_fault(void *argument)
{
	const struct { uint16_t limit; uint64_t base; } __attribute__((packed)) none = { 0 };

	(void)argument;
	sleep_for("fault");
	__asm__ volatile("lidt %0; ud2" :: "m"(none));
}

static void start_work(void)
{
	if (command_is("books", "on"))
		thread_spawn("books", books_run, NULL);
	if (command_number("poweroff") > 0)
		thread_spawn("poweroff", power_off, NULL);
	if (command_number("panic") > 0)
		thread_spawn("panic", fail, NULL);
	for (uint32_t cpu = 0; command_number("hang") > 0 && cpu < cpu_count; cpu++)
		thread_spawn("hang", hang, NULL);
	if (command_number("fault") > 0)
		thread_spawn("fault", triple_fault, NULL);
	if (command_is("work", "oracle"))
		oracle_start();
	else if (command_is("work", "cost"))
		cost_start();
	else if (command_is("work", "spike"))
		spike_start();
	else if (command_is("work", "locks"))
		locks_start();
	else if (!command_is("work", "idle"))
		mix_start();
}

static void init(void *argument)
{
	(void)argument;
	hook_start_sending();
	keyboard_start();
	file_start();
	start_work();
}

_Noreturn void main(uint64_t start)
{
	const struct start_info *info = memory_at(start);
	struct acpi_machine machine;

	cpu_start(0);
	console_start();
	if (info->magic != START_MAGIC || info->version < 1)
		panic("the loader speaks another protocol than PVH");
	command_read(memory_at(info->command_line));
	find_memory(info);
	acpi_read(info->acpi, &machine);
	apic_map(&machine);
	apic_start();
	clock_measure();
	print("demo-kernel 0.1, x86-64, %lu MiB free, clock %lu MHz\n", page_free_bytes() >> 20,
		clock_rate() / 1000000);
	hook_start(machine.cpus);
	thread_adopt(0);
	clock_start();
	smp_start(&machine);
	space_drop_identity();
	print("%u CPUs online\n", cpu_count);
	thread_spawn("init", init, NULL);
	sched_idle();
}
