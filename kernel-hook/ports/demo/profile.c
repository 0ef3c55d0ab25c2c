#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "command.h"
#include "console.h"
#include "cpu.h"
#include "ktop.h"
#include "layout.h"
#include "memory.h"
#include "page.h"
#include "panic.h"
#include "process.h"
#include "profile.h"
#include "program.h"
#include "sched.h"
#include "spin.h"
#include "string.h"
#include "thread.h"
#include "virtio_serial.h"
#include "wire.h"
#include "x86.h"

enum { SENDING_PAUSE = 10000000, BUILD_ID_HEADER = 16 };	/* ns; bytes */

/* link.ld */
extern const char text_start[], kernel_end[];
extern const uint8_t build_id_note[], build_id_note_end[];

struct ktop *profile;
static struct spin names;		/* ktop takes one name at a time */

/* New at each boot as far as the clock is; where that counts instructions, the same each time. */
static void make_boot_id(uint8_t *id, uint32_t size)
{
	uint64_t mix = 0;

	for (uint32_t i = 0; i < size; i++) {
		mix = (mix ^ clock_now()) * 0x9e3779b97f4a7c15;
		id[i] = (uint8_t)(mix >> 56);
	}
}

/* The kernel's own build id: its note is a header of three words, "GNU" and the bytes. */
static void find_build_id(struct ktop_facts *facts)
{
	ptrdiff_t size = build_id_note_end - build_id_note;

	if (size > BUILD_ID_HEADER) {
		facts->build_id = build_id_note + BUILD_ID_HEADER;
		facts->build_id_size = (uint32_t)(size - BUILD_ID_HEADER);
	}
}

/* The direct map holds the devices too, as far as they lie below its end. */
static void *map_device(uint64_t physical, size_t size)
{
	return physical + size <= DIRECT_SIZE ? memory_at(physical) : NULL;
}

static struct ktop_transport *find_port(void)
{
	struct ktop_virtio_serial_config config = {
		.port = "org.ktop.0", .size = ktop_virtio_serial_memory_size(),
		.physical = memory_physical, .map = map_device,
		.hotplug = !command_is("ktop.hotplug", "off"),
	};
	struct ktop_transport *port;

	config.memory = page_reserve(config.size);
	port = config.memory == NULL ? NULL : ktop_virtio_serial_init(&config);
	print("ktop: %s\n", port == NULL ? "no virtio-serial" : "virtio-serial found");
	return port;
}

static void tell_kernel(const struct ktop_facts *facts)
{
	ktop_object(profile, &(struct ktop_object) {
		.process = KTOP_KERNEL, .name = facts->kernel,
		.start = (uint64_t)text_start, .end = (uint64_t)kernel_end,
		.build_id = facts->build_id, .build_id_size = facts->build_id_size,
	});
}

void profile_start(uint32_t cpu_total)
{
	struct ktop_settings settings = {
		.rate = command_number("ktop.rate"), .ring_size = command_number("ktop.ring"),
		.plain_keys = command_is("ktop.keys", "plain"), .start = command_is("ktop", "on"),
		.nmi = command_is("ktop.mode", "nmi"),
	};
	struct ktop_facts facts = {
		.kernel = "demo-kernel", .version = "0.1", .arch = "x86_64",
		.cpus = cpu_total, .clock_hz = clock_rate(),
		.anchor = "text_start", .anchor_address = (uint64_t)text_start,
	};
	size_t size = ktop_memory_size(cpu_total, &settings);
	void *memory = page_reserve(size);

	make_boot_id(facts.boot_id, sizeof facts.boot_id);
	find_build_id(&facts);
	if (memory == NULL)
		panic("ktop: no %lu bytes of memory", size);
	profile = ktop_init(&facts, &settings, find_port(), memory, size);
	if (profile == NULL)
		panic("ktop: the settings on the command line are out of range");
	tell_kernel(&facts);
}

/* Urgent, so that rings are emptied on a busy machine as well; it sleeps nearly always. */
static void profile_send(void *argument)
{
	(void)argument;
	for (;;) {
		if (ktop_drain(profile))
			sched_yield();
		else
			sched_sleep(SENDING_PAUSE);
	}
}

void profile_start_sending(void)
{
	struct thread *thread = thread_create(&(struct thread_plan) {
		.name = "ktop", .run = profile_send, .pinned = THREAD_ANY_CPU, .urgent = true,
	});

	if (thread == NULL)
		panic("no memory for ktop's thread");
	thread_start(thread);
}

void profile_thread(struct thread *thread)
{
	unsigned long flags;

	port_thread(thread);
	flags = spin_lock_irq(&names);
	ktop_thread(profile, thread->id, thread->profiled.process, thread->name);
	spin_unlock_irq(&names, flags);
}

void profile_thread_exit(const struct thread *thread)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_thread_exit(profile, thread->id);
	spin_unlock_irq(&names, flags);
}

void profile_process(const struct process *process)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_process(profile, process->id, process->program->name);
	spin_unlock_irq(&names, flags);
}

void profile_process_exit(const struct process *process)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_process_exit(profile, process->id);
	spin_unlock_irq(&names, flags);
}

void profile_program(const struct process *process, const struct program_facts *facts)
{
	unsigned long flags = spin_lock_irq(&names);

	ktop_object(profile, &(struct ktop_object) {
		.process = process->id, .name = process->program->name,
		.start = facts->start, .end = facts->end,
		.build_id = facts->build_id, .build_id_size = facts->build_id_size,
	});
	spin_unlock_irq(&names, flags);
}
