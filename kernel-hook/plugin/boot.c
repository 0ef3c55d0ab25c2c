/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "../base/put.h"
#include "../base/str.h"
#include "../hook.h"
#include "../ktop.h"
#include "../port.h"
#include "boot.h"
#include "machine/clock.h"
#include "functions.h"
#include "gate.h"
#include "machine/memory.h"
#include "program_stack.h"
#include "ram.h"
#include "raw.h"
#include "reads.h"
#include "socket.h"
#include "stack_link.h"
#include "machine/target.h"
#include "task.h"
#include "thread.h"
#include "vcpus.h"

enum {
	RING = 1 << 21,			/* bytes a CPU: 0.3 s of the largest samples at the usual rate */
	NAMES = 4096,			/* of threads that trace events tell, and of their processes */
	PAGES = 4,			/* of the guest's memory that are read in one call of a CPU: some 4 us */
};

/* What the status says where public.c stands in for QEMU; and by the guest's clock. */
#define NOTE "this QEMU does not let its CPUs be called: samples land at the ends of blocks of code, and cost more"
#define GUEST_CLOCK_NOTE "samples are due by the guest's clock"

static struct {
	/* fixed after boot_prepare */
	struct boot_machine machine;
	struct vcpus *vcpus;
	struct ktop_settings settings;
	size_t size;
	struct ktop *ktop;
	int wake;			/* eventfd: for the drainer */

	/* atomic */
	bool ended;			/* boot_end was called */
	uint64_t reset;			/* the machine was reset at this time of clock_now(), and 1; 0: it was not */
	uint64_t begun;			/* this boot began then: its own clock was 0 */
	uint64_t gate;			/* what gate_read found in this boot; 0: nothing yet */

	/* the drainer's */
	bool gate_told;			/* the host has the gate's address */

	/* of the thread that begins and ends the drainer */
	bool has_thread;
	pthread_t thread;

	/* under the lock, which a call on a CPU's thread and the beginning of a boot take */
	pthread_mutex_t lock;
	struct qemu_cpu *cpu;		/* the one that is being sampled */
	uint32_t index;
	struct ktop_task_places places;	/* of threads */
	struct task_kept *kept;		/* of each CPU */
	uint64_t *deadlines;		/* of each CPU: when its sample is due, by clock_now() */
	struct ram_stacks stacks;
} boot = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1 };

/* The CPU whose events this thread writes; the drainer's is CPU 0. */
static _Thread_local uint32_t port_cpu;
static _Thread_local bool is_drainer;

void boot_be_cpu(uint32_t index)
{
	port_cpu = index;
}

/* Does public.c stand in for QEMU? */
static bool is_public(void)
{
	return boot.machine.qemu->read_virtual;
}

/* ---- a CPU's sample ---- */

/* Reads up to `size` bytes. Where nothing tells a device from RAM, no more than the `sure` ones. Returns the bytes. */
static uint32_t read_most(uint64_t address, uint32_t sure, uint8_t *to, uint32_t size)
{
	return memory_read(boot.machine.qemu, boot.cpu, address, to, is_public() && sure < size ? sure : size);
}

/* Reads the stack from its pointer on, up to the first page without memory. Returns the bytes. */
static uint32_t read_stack(const struct target_state *state, uint8_t *to)
{
	return state->flat ? read_most(state->sp, ram_stack(&boot.stacks, state), to, KTOP_STACK_MAX) : 0;
}

/*
 * Reads the rest of the stack, at the address that stack_link() gives, into the room that is left. Returns the bytes.
 */
static uint32_t read_linked(const struct target_state *state, const uint8_t *stack, uint32_t size, uint64_t *address,
	uint8_t *to)
{
	*address = stack_link(state, stack, size);
	return *address ? read_most(*address, ram_stack_at(&boot.stacks, state, *address), to,
		2 * KTOP_STACK_MAX - size) : 0;
}

/* Reads the stack of the program for which the kernel works, as far as a sample has room. Returns the bytes. */
static uint32_t read_program(const struct target_state *state, uint64_t linked, uint64_t *address, uint8_t *to)
{
	uint64_t at = program_stack_saved(state, linked);
	uint8_t saved[PROGRAM_STACK_SAVED];

	*address = 0;
	if (!at || is_public() || read_most(at, 0, saved, sizeof(saved)) != sizeof(saved))
		return 0;
	*address = program_stack_pointer(saved);
	return *address ? read_most(*address, 0, to, KTOP_STACK_MAX) : 0;
}

static uint8_t *put_count(uint8_t *to, uint32_t count)
{
	uint16_t size = (uint16_t)count;

	memcpy(to, &size, sizeof(size));
	return to + sizeof(size);
}

/*
 * If the CPU's registers cannot be read, the sample has none, and its weight counts all the same. The sample of an idle
 * CPU has no stack: how the kernel came to idle is of no interest.
 */
uint32_t plugin_write_sample(uint8_t *payload, uint32_t weight)
{
	struct target_state state = { .count = 0 };
	bool known = boot.machine.qemu->read_state(boot.cpu, &state);
	bool idle = boot.machine.qemu->cpu_thread_is_idle(boot.cpu);
	uint32_t count = known ? state.count : 0, size;
	struct ktop_wire_stacks_sample fixed = {
		.weight = weight,
		.mode = idle ? KTOP_MODE_IDLE : state.mode,
		.arch = state.arch,
		.space = state.space,
		.valid = ((uint64_t)1 << count) - 1,
		.stack_address = state.sp,
	};
	uint8_t *at = put_count(payload + sizeof(fixed), count), *stack;
	uint64_t linked_address, user_address = 0;
	const struct task_cpu cpu = {
		.qemu = boot.machine.qemu, .cpu = boot.cpu, .state = &state, .kept = &boot.kept[boot.index],
	};
	struct task task;

	fixed.base = task_read(&boot.places, &cpu, &task);
	fixed.process = task.process;
	fixed.thread = task.thread;
	memcpy(at, state.registers, count * sizeof(state.registers[0]));
	at += count * sizeof(state.registers[0]);
	stack = at + sizeof(uint16_t);
	size = known && !idle ? read_stack(&state, stack) : 0;
	at = put_count(at, size) + size;
	size = read_linked(&state, stack, size, &linked_address, at + sizeof(uint16_t));
	fixed.linked_address = linked_address;
	at = ktop_put_list(put_count(at, size) + size, task.name, task.size);
	size = known && !idle ? read_program(&state, linked_address, &user_address, at + sizeof(uint16_t)) : 0;
	fixed.user_address = user_address;
	memcpy(payload, &fixed, sizeof(fixed));
	return (uint32_t)(put_count(at, size) + size - payload);
}

static void find_gate(struct qemu_cpu *cpu)
{
	if (strcmp(boot.machine.arch, "x86_64") == 0 && !__atomic_load_n(&boot.gate, __ATOMIC_RELAXED))
		__atomic_store_n(&boot.gate, gate_read(boot.machine.qemu, cpu), __ATOMIC_RELAXED);
}

static bool symbol_after(uint64_t from, struct ktop_symbol *symbol)
{
	return gate_symbol(__atomic_load_n(&boot.gate, __ATOMIC_RELAXED), from, symbol);
}

static void wake(void)
{
	uint64_t one = 1;

	if (write(boot.wake, &one, sizeof(one)) != (ssize_t)sizeof(one))
		return;			/* it is awake already */
}

/* Where nothing tells a device from RAM, only pages are read that are surely RAM. */
static uint32_t read_page(void *cpu, bool physical, uint64_t address, uint8_t *to)
{
	if (is_public() && !ram_is(boot.machine.arch, address))
		return 0;
	return physical ? memory_read_physical(boot.machine.qemu, address, to, KTOP_MEMORY_PAGE) :
		memory_read(boot.machine.qemu, cpu, address, to, KTOP_MEMORY_PAGE);
}

static bool maps_kernel(const struct target_state *state)
{
	uint32_t sure = ram_stack(&boot.stacks, state);
	uint8_t byte;

	return ram_maps_kernel(state, sure && read_most(state->sp, sure, &byte, sizeof(byte)) == sizeof(byte));
}

/* Reads the guest's memory that the host has asked for. The time that this takes counts as the cost of sampling. */
static void serve_reads(struct qemu_cpu *cpu, uint32_t index)
{
	struct target_state state = { .count = 0 };
	uint64_t begun = ktop_port_clock();
	bool kernel;

	if (!reads_wanted() || !boot.machine.qemu->read_state(cpu, &state))
		return;
	kernel = maps_kernel(&state);
	if (reads_serve(&(struct reads_reader) { .page = read_page, .context = cpu, .most = PAGES }, kernel, begun))
		wake();
	ktop_count(&ktop_ring(&boot.ktop->cpu[index], KTOP_SAMPLES)->cost, ktop_port_clock() - begun);
}

/* Takes a sample if one is due. As vcpus_call. */
static void call(struct qemu_cpu *cpu, uint32_t index)
{
	pthread_mutex_lock(&boot.lock);
	boot.cpu = cpu;
	boot.index = index;
	boot_be_cpu(index);
	if (!boot.ended) {
		find_gate(cpu);
		ktop_tick(boot.ktop, &(struct ktop_regs) { .pc = 0 });
		if (boot.deadlines[index] > clock_now(boot.machine.qemu))	/* this call had another reason */
			vcpus_call_at(boot.vcpus, index, boot.deadlines[index]);
		serve_reads(cpu, index);
	}
	pthread_mutex_unlock(&boot.lock);
	if (functions_due())
		boot.machine.retranslate();
}

void boot_retranslate(void)
{
	for (uint32_t i = 0; i < boot.machine.cpus; i++)
		vcpus_call_at(boot.vcpus, i, 0);
	vcpus_wake(boot.vcpus);
}

/* ---- what the hook asks of its kernel (port.h); outside.c has the rest ---- */

uint32_t ktop_port_cpu(void)
{
	return port_cpu;
}

/* A mark that a control line asks for is an event of the drainer's: it keeps that CPU's own thread from its ring. */
unsigned long ktop_port_irq_save(void)
{
	if (is_drainer)
		functions_hold_cpu(port_cpu);
	return 0;
}

void ktop_port_irq_restore(unsigned long state)
{
	(void)state;
	if (is_drainer)
		functions_go_on_cpu(port_cpu);
}

uint64_t ktop_port_clock(void)
{
	return clock_now(boot.machine.qemu) - __atomic_load_n(&boot.begun, __ATOMIC_RELAXED);
}

void ktop_port_timer(uint64_t deadline)
{
	boot.deadlines[boot.index] = deadline + __atomic_load_n(&boot.begun, __ATOMIC_RELAXED);
	vcpus_call_at(boot.vcpus, boot.index, boot.deadlines[boot.index]);
}

void ktop_port_kick(uint32_t cpu)
{
	vcpus_call_at(boot.vcpus, cpu, 0);
	vcpus_wake(boot.vcpus);
}

/* ---- what the host asks of the guest's memory (ktop.h) ---- */

static bool are_same(const struct ktop_task_places *one, const struct ktop_task_places *other)
{
	return one->known == other->known && one->itself == other->itself && one->pointer == other->pointer &&
		one->process == other->process && one->thread == other->thread && one->name == other->name &&
		one->memory == other->memory && one->states == other->states && one->state == other->state &&
		one->queued == other->queued && one->context == other->context;
}

/* The host says it again and again. Only news hold the CPUs, since events that come meanwhile are lost. */
static void follow(const struct ktop_task_places *places)
{
	if (are_same(&boot.places, places))
		return;
	pthread_mutex_lock(&boot.lock);
	boot.places = *places;
	pthread_mutex_unlock(&boot.lock);
	functions_hold();
	functions_follow(places);
	functions_go_on();
}

static const struct ktop_memory guest_memory = { .ask = reads_ask, .next = reads_next, .follow = follow };
static const struct ktop_functions functions = {
	.choose = functions_choose, .drop = functions_drop, .drop_all = functions_drop_all,
	.in_force = functions_in_force, .place = functions_place,
};

/* ---- boots ---- */

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

/* Unix time, in ns, at which the clock was 0. */
static uint64_t epoch_of(uint64_t clock)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_SECOND + (uint64_t)now.tv_nsec - clock;
}

static bool begin(void)
{
	struct ktop_facts facts = {
		.kernel = "guest", .arch = boot.machine.arch, .cpus = boot.machine.cpus,
		.clock_hz = CLOCK_NS_PER_SECOND,
		.epoch_ns = epoch_of(ktop_port_clock()), .symbols = symbol_after, .memory = &guest_memory,
		.functions = &functions, .numbers = functions_number_at, .outside = KTOP_OUTSIDE,
		.untraced = ~KTOP_UNTRACED(mark),	/* until the host tells where the others happen */
	};

	if (getrandom(facts.boot_id, sizeof(facts.boot_id), 0) != (ssize_t)sizeof(facts.boot_id))
		return false;
	if (!ktop_init(&facts, &boot.settings, &boot.machine.socket->transport, boot.ktop, boot.size))
		return false;
	functions_begin(boot.ktop);
	if (is_public())
		ktop_str_set(&boot.ktop->meta.note, NOTE);
	else if (boot.machine.qemu->guest_clock)
		ktop_str_set(&boot.ktop->meta.note, GUEST_CLOCK_NOTE);
	return true;
}

/*
 * The machine was reset: its clock begins anew. Rate and profiling stay as they are. What lies in the rings belongs to
 * the last boot: it goes.
 */
static void begin_anew(uint64_t at)
{
	pthread_mutex_lock(&boot.lock);
	boot.settings.rate = boot.ktop->control.rate;
	boot.settings.start = ktop_running(boot.ktop);
	__atomic_store_n(&boot.begun, at, __ATOMIC_RELAXED);
	boot.gate_told = false;
	reads_forget();
	boot.places.known = false;
	memset(boot.kept, 0, boot.machine.cpus * sizeof(boot.kept[0]));
	memset(boot.deadlines, 0, boot.machine.cpus * sizeof(boot.deadlines[0]));
	memset(&boot.stacks, 0, sizeof(boot.stacks));
	__atomic_store_n(&boot.gate, 0, __ATOMIC_RELAXED);
	functions_hold();
	begin();
	functions_go_on();
	pthread_mutex_unlock(&boot.lock);
	boot_retranslate();
}

struct vcpus *boot_prepare(const struct boot_machine *machine)
{
	void *memory;

	boot.machine = *machine;
	boot.settings = (struct ktop_settings) {
		.ring_size = RING, .processes = NAMES, .threads = NAMES, .objects = 1, .start = machine->start,
	};
	boot.size = ktop_memory_size(machine->cpus, &boot.settings);
	boot.vcpus = vcpus_prepare(machine->qemu, machine->cpus, call);
	boot.kept = calloc(machine->cpus, sizeof(boot.kept[0]));
	boot.deadlines = calloc(machine->cpus, sizeof(boot.deadlines[0]));
	boot.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* Pages take memory only once they are written. So CPUs that are never plugged in cost nothing. */
	memory = boot.size ? mmap(NULL, boot.size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
	if (boot.vcpus == NULL || boot.kept == NULL || boot.deadlines == NULL || boot.wake < 0 ||
			memory == MAP_FAILED || !functions_prepare(&(struct functions_machine) {
			.qemu = machine->qemu, .arch = machine->arch, .api = machine->api, .cpus = machine->cpus }))
		return NULL;
	boot.ktop = memory;
	return begin() ? boot.vcpus : NULL;
}

/* ---- the drainer ---- */

static void wait_until(uint64_t due)
{
	uint64_t now = ktop_port_clock(), woken;
	struct pollfd fds[2] = { plugin_socket_wait(boot.machine.socket), { .fd = boot.wake, .events = POLLIN } };

	poll(fds, 2, due > now ? (int)((due - now + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS) : 0);
	if (fds[1].revents && read(boot.wake, &woken, sizeof(woken)) != (ssize_t)sizeof(woken))
		return;
}

static void tell_gate(void)
{
	if (boot.gate_told || !__atomic_load_n(&boot.gate, __ATOMIC_RELAXED))
		return;
	boot.gate_told = true;
	ktop_symbols(boot.ktop, 0);
}

static void *drain(void *context)
{
	(void)context;
	is_drainer = true;
	while (!is_set(&boot.ended)) {
		uint64_t reset = __atomic_exchange_n(&boot.reset, 0, __ATOMIC_RELAXED);
		bool more;

		if (reset)
			begin_anew(reset - 1);
		tell_gate();
		more = ktop_drain(boot.ktop);
		functions_follow_events();
		wait_until(more ? 0 : ktop_drain_by(boot.ktop));
	}
	return NULL;
}

bool boot_begin(void)
{
	boot.has_thread = thread_start(&boot.thread, drain, NULL);
	return boot.has_thread;
}

void boot_end(void)
{
	__atomic_store_n(&boot.ended, true, __ATOMIC_RELAXED);
	wake();
	if (boot.has_thread)
		thread_join(boot.thread);
	boot.has_thread = false;
}

void boot_anew(void)
{
	__atomic_store_n(&boot.reset, clock_now(boot.machine.qemu) + 1, __ATOMIC_RELAXED);
	wake();
}
