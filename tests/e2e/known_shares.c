/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording of a machine whose samples are known: several CPUs, processes, threads and modes. Prints a line
 * for each sample: WEIGHT CPU PROCESS THREAD MODE STACK, with the names that ktop gives them; its stack from the
 * outermost function on. Usage: known_shares FOLDER
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "tests/unit/fakes/packets.h"

enum {
	CPUS = 4, RATE = 1000, SECONDS = 12, TICKS = RATE * SECONDS, PACKET = 50,	/* ticks in a packet */
	TICK_NS = 1000000, BEGIN_NS = 1000000000, FIRST = 0x100000, SIZE = 0x1000, DEPTH = 6, ALL = (1 << CPUS) - 1,
};

enum function {
	NONE, THREAD_MAIN, FLUSH_WORK, CRC, NET_POLL, NET_RX, MEMCPY, ENTRY, SYS_READ, VM_FAULT, PAGE_ALLOC, SPIN_LOCK,
	IRQ, TIMER, FUNCTIONS,
};

static const char *const functions[FUNCTIONS] = {
	[THREAD_MAIN] = "thread_main", [FLUSH_WORK] = "flush_work", [CRC] = "crc", [NET_POLL] = "net_poll",
	[NET_RX] = "net_rx", [MEMCPY] = "memcpy", [ENTRY] = "entry", [SYS_READ] = "sys_read", [VM_FAULT] = "vm_fault",
	[PAGE_ALLOC] = "page_alloc", [SPIN_LOCK] = "spin_lock", [IRQ] = "irq", [TIMER] = "timer",
};

static const struct { uint32_t id; const char *name; } processes[] = {
	{ 10, "primes" }, { 20, "sort" }, { 30, "shell" },
};

/* A name without its number may be that of several threads. */
static const struct { uint32_t id, process; const char *name; } threads[] = {
	{ 4, KTOP_KERNEL, "flush" }, { 5, KTOP_KERNEL, "net" }, { 6, KTOP_KERNEL, "net" },
	{ 11, 10, "primes" }, { 12, 10, "worker" }, { 21, 20, "sort" }, { 22, 20, "worker" }, { 31, 30, "shell" },
};

/* How often a CPU that may run it does so, compared with the others. The stack: the outermost function first. */
static const struct recipe {
	uint32_t cpus, often, thread;
	uint8_t mode, flags;
	enum function stack[DEPTH];
} recipes[] = {
	{ ALL, 20, 0, KTOP_MODE_IDLE, 0, { NONE } },
	{ 1, 30, 4, KTOP_MODE_KERNEL, KTOP_TASK, { THREAD_MAIN, FLUSH_WORK, CRC } },
	{ 3, 7, 4, KTOP_MODE_KERNEL, KTOP_TASK, { THREAD_MAIN, FLUSH_WORK, MEMCPY } },
	{ 3, 5, 5, KTOP_MODE_KERNEL, KTOP_TASK, { THREAD_MAIN, NET_POLL, NET_RX, MEMCPY } },
	{ 12, 9, 6, KTOP_MODE_KERNEL, KTOP_SOFTIRQ, { THREAD_MAIN, NET_POLL, NET_RX } },
	{ 2, 40, 11, KTOP_MODE_USER, KTOP_TASK, { NONE } },
	{ 2, 11, 11, KTOP_MODE_KERNEL, KTOP_TASK, { ENTRY, VM_FAULT, PAGE_ALLOC, SPIN_LOCK } },
	{ 14, 6, 12, KTOP_MODE_KERNEL, KTOP_TASK, { ENTRY, VM_FAULT, PAGE_ALLOC } },
	{ 12, 25, 21, KTOP_MODE_USER, KTOP_TASK, { NONE } },
	{ 12, 8, 21, KTOP_MODE_KERNEL, KTOP_TASK, { ENTRY, SYS_READ, MEMCPY } },
	{ 8, 13, 22, KTOP_MODE_KERNEL, KTOP_TASK, { ENTRY, SYS_READ, VM_FAULT, PAGE_ALLOC, SPIN_LOCK } },
	{ 4, 10, 22, KTOP_MODE_KERNEL, KTOP_TASK, { ENTRY, VM_FAULT } },
	{ ALL, 3, 31, KTOP_MODE_USER, KTOP_TASK, { NONE } },
	{ ALL, 2, 31, KTOP_MODE_KERNEL, KTOP_IRQ, { ENTRY, SYS_READ, IRQ, TIMER } },
	{ 5, 4, 21, KTOP_MODE_KERNEL, KTOP_IRQ, { IRQ, TIMER, SPIN_LOCK } },
};
enum { RECIPES = sizeof(recipes) / sizeof(*recipes) };

static uint32_t process_of(uint32_t thread)
{
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		if (threads[i].id == thread)
			return threads[i].process;
	return KTOP_KERNEL;
}

/* ---- what the guest tells of itself ---- */

static void put(struct packets *packets, uint64_t at, uint16_t id, const struct body *body)
{
	packets_begin(packets, KTOP_META, 0, at);
	packets_event(packets, at, id, body);
	packets_end(packets, at);
}

static void tell_facts(struct packets *packets, uint64_t at)
{
	const struct ktop_wire_guest guest = { .cpus = CPUS, .clock = 1000000000 };
	const struct ktop_wire_status status = { .running = 1, .rate = RATE, .sampler_cpu = KTOP_NO_CPU };
	struct body facts = { 0 }, state = { 0 };

	body_fixed(&facts, &guest, sizeof(guest));
	body_text(&facts, "known");
	body_text(&facts, "1.0");
	body_text(&facts, "x86_64");
	body_text(&facts, "");
	body_list(&facts, NULL, 0, 1);
	put(packets, at, KTOP_EVENT_guest, &facts);
	body_fixed(&state, &status, sizeof(status));
	body_text(&state, "");
	put(packets, at, KTOP_EVENT_status, &state);
}

static void tell_names(struct packets *packets, uint64_t at)
{
	for (int i = THREAD_MAIN; i < FUNCTIONS; i++) {
		const struct ktop_wire_symbol symbol = { .address = FIRST + (uint64_t)i * SIZE, .size = SIZE };
		struct body body = { 0 };

		body_fixed(&body, &symbol, sizeof(symbol));
		body_text(&body, functions[i]);
		put(packets, at, KTOP_EVENT_symbol, &body);
	}
	for (size_t i = 0; i < sizeof(processes) / sizeof(*processes); i++) {
		const struct ktop_wire_process process = { .process = processes[i].id };
		struct body body = { 0 };

		body_fixed(&body, &process, sizeof(process));
		body_text(&body, processes[i].name);
		put(packets, at, KTOP_EVENT_process, &body);
	}
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
		const struct ktop_wire_thread thread = { .thread = threads[i].id, .process = threads[i].process };
		struct body body = { 0 };

		body_fixed(&body, &thread, sizeof(thread));
		body_text(&body, threads[i].name);
		put(packets, at, KTOP_EVENT_thread, &body);
	}
}

/* ---- samples ---- */

static const struct recipe *choose(uint64_t *seed, uint32_t cpu)
{
	uint32_t all = 0, at;

	for (int i = 0; i < RECIPES; i++)
		all += recipes[i].cpus >> cpu & 1 ? recipes[i].often : 0;
	at = (uint32_t)(random_next(seed) % all);
	for (int i = 0;; i++) {
		uint32_t often = recipes[i].cpus >> cpu & 1 ? recipes[i].often : 0;

		if (at < often)
			return &recipes[i];
		at -= often;
	}
}

/* "primes/10 worker/12"; idle time is no thread's. */
static void print_names(uint32_t thread)
{
	uint32_t process = process_of(thread);

	if (thread == 0)
		printf("[idle]");
	else if (process == KTOP_KERNEL)
		printf("kernel");
	for (size_t i = 0; i < sizeof(processes) / sizeof(*processes); i++)
		if (processes[i].id == process)
			printf("%s/%" PRIu32, processes[i].name, process);
	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		if (threads[i].id == thread)
			printf(" %s/%" PRIu32, threads[i].name, thread);
	if (thread == 0)
		printf(" [idle]");
}

static void print_sample(const struct recipe *recipe, uint32_t cpu, uint32_t weight)
{
	static const char *const modes[] = {
		[KTOP_MODE_KERNEL] = "kernel", [KTOP_MODE_USER] = "user", [KTOP_MODE_IDLE] = "[idle]",
	};
	const char *mode = recipe->flags & KTOP_IRQ ? "irq" : recipe->flags & KTOP_SOFTIRQ ? "softirq" :
		modes[recipe->mode];

	printf("%" PRIu32 " CPU_%" PRIu32 " ", weight, cpu);
	print_names(recipe->thread);
	printf(" %s ", mode);
	for (int i = 0; i < DEPTH && recipe->stack[i]; i++)
		printf("%s%s", i ? ";" : "", functions[recipe->stack[i]]);
	puts(recipe->stack[0] ? "" : recipe->mode == KTOP_MODE_IDLE ? "[idle]" : "[unknown]");
}

/* A user's code has an address of which nothing is known. */
static void add_sample(struct packets *packets, const struct recipe *recipe, uint32_t weight, uint64_t at)
{
	const struct ktop_wire_sample sample = {
		.process = process_of(recipe->thread), .thread = recipe->thread, .mode = recipe->mode,
		.flags = recipe->flags, .weight = weight, .exact = 1,
	};
	uint64_t frames[DEPTH], user = 0x400000;
	struct body body = { 0 };
	size_t depth = 0;

	while (depth < DEPTH && recipe->stack[depth])
		depth++;
	for (size_t i = 0; i < depth; i++)
		frames[i] = FIRST + (uint64_t)recipe->stack[depth - 1 - i] * SIZE + 8;
	body_fixed(&body, &sample, sizeof(sample));
	body_list(&body, frames, depth, sizeof(*frames));
	body_list(&body, &user, recipe->mode == KTOP_MODE_USER, sizeof(user));
	packets_event(packets, at, KTOP_EVENT_sample, &body);
}

/* A sample may stand for several ticks, those before it. Each CPU has samples of the same weight in all. */
static void add_samples(struct packets *packets, uint64_t *seed, uint32_t cpu, uint32_t from, uint32_t to)
{
	packets_begin(packets, KTOP_SAMPLES, cpu, BEGIN_NS + (uint64_t)from * TICK_NS);
	for (uint32_t tick = from; tick < to;) {
		uint32_t weight = random_next(seed) % 8 ? 1 : 2;
		const struct recipe *recipe = choose(seed, cpu);

		if (tick + weight > to)
			weight = 1;
		tick += weight;
		add_sample(packets, recipe, weight, BEGIN_NS + (uint64_t)tick * TICK_NS);
		print_sample(recipe, cpu, weight);
	}
	packets_end(packets, BEGIN_NS + (uint64_t)to * TICK_NS);
}

/* ---- the recording ---- */

static void no_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

static void no_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}

static void take_packet(void *context, const struct packet *packet)
{
	recording_writer_packet(context, packet);
}

static bool write_recording(const char *folder, const struct packets *packets, char **error)
{
	struct recording_writer *writer;
	struct decode *decode;

	if (!recording_folder(folder, error))
		return false;
	writer = recording_writer_new(&(struct recording_options) { .folder = folder },
		&(struct metadata_machine) { .name = "known" });
	decode = decode_new(&(struct decode_sink) {
		.context = writer, .boot = no_boot, .packet = take_packet, .events = no_events });
	decode_feed(decode, packets->bytes, packets->size);
	decode_free(decode);
	return recording_writer_close(writer, error);
}

int main(int count, char **words)
{
	struct packets *packets = packets_new(1);
	uint64_t seed = 1;
	char *error = NULL;

	if (count != 2)
		return EXIT_FAILURE;
	tell_facts(packets, BEGIN_NS);
	tell_names(packets, BEGIN_NS);
	for (uint32_t tick = 0; tick < TICKS; tick += PACKET)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			add_samples(packets, &seed, cpu, tick, tick + PACKET);
	if (!write_recording(words[1], packets, &error)) {
		fprintf(stderr, "known_shares: %s\n", error);
		free(error);
		return EXIT_FAILURE;
	}
	packets_free(packets);
	return EXIT_SUCCESS;
}
