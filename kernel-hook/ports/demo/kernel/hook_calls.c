/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "cpu.h"
#include "demo_events.h"
#include "file.h"
#include "hook_calls.h"
#include "ktop.h"
#include "mutex.h"
#include "ports/demo/machine/call.h"
#include "ports/demo/machine/command.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/memory.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/machine/vector.h"
#include "ports/demo/machine/x86.h"
#include "ports/demo/memory/page.h"
#include "ports/demo/memory/program.h"
#include "ports/demo/memory/traced.h"
#include "ports/template/template.h"
#include "process.h"
#include "sched.h"
#include "thread.h"
#include "trace.h"
#include "wire.h"

enum { BUILD_ID_HEADER = 16 };		/* bytes */

/* link.ld */
extern const uint8_t build_id_note[], build_id_note_end[];

struct ktop *hook;
static struct spin names;		/* held during each call that is serial (ktop.h) */

/* The kernel's own build id. Its note has a header of three words, "GNU", and the id's bytes. */
static void find_build_id(struct ktop_facts *facts)
{
	ptrdiff_t size = build_id_note_end - build_id_note;

	if (size > BUILD_ID_HEADER) {
		facts->build_id = build_id_note + BUILD_ID_HEADER;
		facts->build_id_size = (uint32_t)(size - BUILD_ID_HEADER);
	}
}

/* ---- what the template asks for (template.h) ---- */

void *ktop_pages(size_t size)
{
	return page_reserve(size);
}

uint64_t ktop_physical(const void *address)
{
	return memory_physical(address);
}

/* The direct map also has the devices below its end. */
void *ktop_map(uint64_t physical, size_t size)
{
	return physical + size <= DIRECT_SIZE ? memory_at(physical) : NULL;
}

bool ktop_hotplug(void)
{
	return !command_is("ktop.hotplug", "off");
}

/* ---- start, and names ---- */

static bool number_at(uint32_t index, struct ktop_number *number)
{
	static const struct ktop_number numbers[] = {
		{ KTOP_EVENT_syscall_enter, CALL_EXIT, "exit", "s64 status;" },
		{ KTOP_EVENT_syscall_enter, CALL_WRITE, "write", "u64 address;u64 size;" },
		{ KTOP_EVENT_syscall_enter, CALL_PROCESS, "process", "" },
		{ KTOP_EVENT_syscall_enter, CALL_YIELD, "yield", "" },
		{ KTOP_EVENT_syscall_enter, CALL_SLEEP, "sleep", "s64 ns;" },
		{ KTOP_EVENT_syscall_enter, CALL_MAP, "map", "u64 bytes;" },
		{ KTOP_EVENT_syscall_enter, CALL_READ, "read", "u32 file;u64 offset;u64 address;u64 size;" },
		{ KTOP_EVENT_syscall_enter, CALL_DIGEST, "digest", "u64 address;u64 size;" },
		{ KTOP_EVENT_syscall_enter, CALL_MARK, "mark", "u64 address;u64 size;" },
		{ KTOP_EVENT_irq_enter, VECTOR_CLOCK - VECTOR_CLOCK, "clock", NULL },
		{ KTOP_EVENT_irq_enter, VECTOR_KEYBOARD - VECTOR_CLOCK, "keyboard", NULL },
		{ KTOP_EVENT_irq_enter, VECTOR_MOUSE - VECTOR_CLOCK, "mouse", NULL },
		{ KTOP_EVENT_irq_enter, VECTOR_KICK - VECTOR_CLOCK, "kick", NULL },
		{ KTOP_EVENT_memory_alloc, TRACED_SLAB, "slab", NULL },
		{ KTOP_EVENT_memory_alloc, TRACED_PAGES, "pages", NULL },
		{ KTOP_EVENT_block_begin, FILE_DISK_READ, "read", NULL },
	};

	const uint32_t count = sizeof(numbers) / sizeof(numbers[0]);
	const struct mutex *mutex = index < count ? NULL : mutex_named(index - count);

	if (index < count)
		*number = numbers[index];
	else if (mutex != NULL)
		*number = (struct ktop_number) { KTOP_EVENT_lock_wait, (uintptr_t)mutex, mutex->name, NULL };
	return index < count || mutex != NULL;
}

void hook_start(uint32_t cpu_total)
{
	char trace[128];
	struct ktop_settings settings = {
		.rate = command_number("ktop.rate"), .ring_size = command_number("ktop.ring"),
		.plain_keys = command_is("ktop.keys", "plain"), .start = command_is("ktop", "on"),
		.nmi = command_is("ktop.sampler", "nmi"), .trace = command_words("ktop.trace", trace, sizeof(trace)),
	};
	struct ktop_facts facts = {
		.kernel = "demo-kernel", .version = "0.1", .arch = "x86_64",
		.cpus = cpu_total, .clock_hz = clock_rate(), .numbers = number_at,
		.untraced = KTOP_UNTRACED(softirq_enter) | KTOP_UNTRACED(softirq_exit) | KTOP_UNTRACED(net_send) |
			KTOP_UNTRACED(net_receive) | KTOP_UNTRACED(task_exec) | KTOP_UNTRACED(signal_send) |
			KTOP_UNTRACED(sched_priority),
	};

	find_build_id(&facts);
	hook = ktop_start(&facts, &settings);
	if (hook == NULL)
		panic("ktop: no memory, or a setting on the command line is out of range");
	KTOP_TELL(hook, MAIL_EVENTS);
}

static void pause(uint32_t ms)
{
	sched_sleep((uint64_t)ms * NS_PER_MS);
}

/* The drainer is urgent, so that the rings are emptied on a busy machine, too. It nearly always sleeps. */
static void hook_send(void *argument)
{
	(void)argument;
	ktop_drainer(hook, sched_yield, pause);
}

void hook_start_sending(void)
{
	struct thread *thread = thread_new(&(struct thread_plan) {
		.name = "ktop", .run = hook_send, .pinned = THREAD_ANY_CPU, .urgent = true,
	});

	if (thread == NULL)
		panic("no memory for ktop's thread");
	thread_start(thread);
}

static void tell_name(const struct thread *thread)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_thread(hook, thread->id, thread->profiled.process, thread->name);
	spin_unlock_irq(&names, flags);
}

void panic_told(const char *why)
{
	if (hook != NULL)
		ktop_died(hook, why);
}

void hook_thread(struct thread *thread)
{
	port_thread(thread);
	tell_name(thread);
}

void hook_renamed(const struct thread *thread)
{
	tell_name(thread);
	ktop_trace_task_name(hook, thread->id);
}

void hook_thread_exit(const struct thread *thread)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_thread_exit(hook, thread->id);
	spin_unlock_irq(&names, flags);
}

void hook_process(const struct process *process)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_process(hook, process->id, process->program->name);
	spin_unlock_irq(&names, flags);
}

void hook_process_exit(const struct process *process)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_process_exit(hook, process->id);
	spin_unlock_irq(&names, flags);
}

void hook_program(const struct process *process, const struct program_facts *facts)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_object(hook, &(struct ktop_object) {
		.process = process->id, .name = process->program->name,
		.start = facts->start, .end = facts->end,
		.build_id = facts->build_id, .build_id_size = facts->build_id_size,
	});
	spin_unlock_irq(&names, flags);
}

/* ---- trace ---- */

bool hook_mark(const char *text)
{
	unsigned long flags = spin_lock_irq(&names);
	bool good = ktop_mark(hook, thread_current()->id, text);

	spin_unlock_irq(&names, flags);
	return good;
}

uint32_t hook_traced(const struct thread *thread)
{
	return thread == cpus[thread->cpu].idle ? KTOP_NO_THREAD : thread->id;
}

/* No interrupt has memory of these allocators. The first pages are given out before the hook is there. */
void traced_alloc(enum traced_allocator allocator, const void *address, uint64_t bytes)
{
	if (hook != NULL && address != NULL)
		ktop_trace_memory_alloc(hook, hook_traced(thread_current()), allocator, (uintptr_t)address, bytes);
}

void traced_free(enum traced_allocator allocator, const void *address)
{
	if (hook != NULL)
		ktop_trace_memory_free(hook, hook_traced(thread_current()), allocator, (uintptr_t)address);
}

/* Not where an interrupt has masked them: its handler is traced itself. So an end without a beginning is left out. */
void traced_irqs_off(void)
{
	if (hook == NULL || !ktop_tracing(hook, KTOP_EVENT_irqsoff_begin))
		return;
	cpu_this()->irqs_off = true;
	ktop_trace_irqsoff_begin(hook, cpu_number(), hook_traced(thread_current()));
}

void traced_irqs_on(void)
{
	if (hook == NULL || !cpu_this()->irqs_off)
		return;
	cpu_this()->irqs_off = false;
	ktop_trace_irqsoff_end(hook, cpu_number());
}
