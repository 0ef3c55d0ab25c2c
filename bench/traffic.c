/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/packets.h"
#include "traffic.h"
#include "world.h"

/* What a CPU does again and again: it switches to a thread, which calls the kernel, which is interrupted. */
enum { SWITCH, CALL, IRQ, IRQ_END, CALL_END, TRACED };

enum {
	CLOCK_HZ = 1000000000,
	TURN = CLOCK_HZ / 1000 * TRAFFIC_TURN_MS,
	TURNS_PER_BEAT = 100 / TRAFFIC_TURN_MS,
	THREADS_PER_PROCESS = 8,
	PROCESS = 100, THREAD = 1000,	/* the first ones' ids */
	RING = 262144,
	TRACE_MASK = (1 << TRACED) - 1,
	CALLS = 300, IRQS = 24,		/* numbers of system calls and interrupts */
};

struct traffic {
	const struct world *world;
	struct traffic_shape shape;
	struct packets *packets;
	uint64_t clock, turns, seed;
	uint64_t taken[PACKETS_CPUS];	/* samples */
	uint64_t traced[PACKETS_CPUS];	/* trace events */
	uint32_t thread[PACKETS_CPUS];	/* that the last switch was to */
};

struct traffic *traffic_new(const struct world *world, const struct traffic_shape *shape)
{
	struct traffic *traffic = util_alloc(sizeof(*traffic));

	traffic->world = world;
	traffic->shape = *shape;
	traffic->packets = packets_new(1);
	traffic->clock = CLOCK_HZ;
	traffic->seed = 521288629521288629u;
	return traffic;
}

void traffic_free(struct traffic *traffic)
{
	packets_free(traffic->packets);
	free(traffic);
}

struct packets *traffic_bytes(struct traffic *traffic)
{
	return traffic->packets;
}

uint64_t traffic_samples(const struct traffic *traffic)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < traffic->shape.cpus; cpu++)
		sum += traffic->taken[cpu];
	return sum;
}

uint64_t traffic_events(const struct traffic *traffic)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < traffic->shape.cpus; cpu++)
		sum += traffic->traced[cpu];
	return sum;
}

/* ---- meta ---- */

static void put(struct traffic *traffic, uint16_t event, const struct body *body)
{
	packets_event(traffic->packets, traffic->clock, event, body);
}

static void put_guest(struct traffic *traffic)
{
	const struct ktop_wire_guest guest = { .cpus = traffic->shape.cpus, .clock = CLOCK_HZ };
	struct body body = { 0 };

	body_fixed(&body, &guest, sizeof(guest));
	body_text(&body, "bench");
	body_text(&body, "1");
	body_text(&body, "x86_64");
	body_text(&body, "");
	body_text(&body, "");
	put(traffic, KTOP_EVENT_guest, &body);
}

static void put_name(struct traffic *traffic, uint16_t event, const void *fields, size_t size,
	const char *kind, uint32_t number)
{
	struct body body = { 0 };
	char *name = util_format("%s-%u", kind, number);

	body_fixed(&body, fields, size);
	body_text(&body, name);
	put(traffic, event, &body);
	free(name);
}

static void put_names(struct traffic *traffic)
{
	for (uint32_t i = 0; i < traffic->shape.threads; i++) {
		const struct ktop_wire_thread thread = {
			.thread = THREAD + i, .process = PROCESS + i / THREADS_PER_PROCESS };
		const struct ktop_wire_process process = { .process = thread.process };

		if (i % THREADS_PER_PROCESS == 0)
			put_name(traffic, KTOP_EVENT_process, &process, sizeof(process), "server",
				i / THREADS_PER_PROCESS);
		put_name(traffic, KTOP_EVENT_thread, &thread, sizeof(thread), "worker", i);
	}
}

static void put_status(struct traffic *traffic)
{
	const struct ktop_wire_status status = {
		.running = traffic->shape.rate > 0,
		.rate = (uint32_t)(traffic->shape.rate / traffic->shape.cpus),
		.sampler_cpu = KTOP_NO_CPU,
		.trace_mask = traffic->shape.events > 0 ? TRACE_MASK : 0,
	};
	struct body body = { 0 };

	body_fixed(&body, &status, sizeof(status));
	body_text(&body, "");
	put(traffic, KTOP_EVENT_status, &body);
}

static void put_counts(struct traffic *traffic, uint32_t cpu, uint8_t class)
{
	const struct ktop_wire_cpu_status status = {
		.cpu = cpu,
		.stream = class,
		.enabled = (class == KTOP_SAMPLES ? traffic->shape.rate : traffic->shape.events) > 0,
		.taken = class == KTOP_SAMPLES ? traffic->taken[cpu] : traffic->traced[cpu],
		.cost = class == KTOP_SAMPLES ? 100 * traffic->taken[cpu] : 0,
		.span = class == KTOP_SAMPLES && traffic->shape.rate > 0 ? traffic->clock : 0,
		.size = RING,
	};
	struct body body = { 0 };

	body_fixed(&body, &status, sizeof(status));
	put(traffic, KTOP_EVENT_cpu_status, &body);
}

static void put_beat(struct traffic *traffic)
{
	put_status(traffic);
	for (uint32_t cpu = 0; cpu < traffic->shape.cpus; cpu++) {
		put_counts(traffic, cpu, KTOP_SAMPLES);
		put_counts(traffic, cpu, KTOP_TRACE);
	}
}

void traffic_hello(struct traffic *traffic)
{
	packets_begin(traffic->packets, KTOP_META, 0, traffic->clock);
	put_guest(traffic);
	put_names(traffic);
	put_beat(traffic);
	packets_end(traffic->packets, traffic->clock);
}

void traffic_reply(struct traffic *traffic)
{
	const struct ktop_wire_reply reply = { .ok = 1 };
	struct body body = { 0 };

	body_fixed(&body, &reply, sizeof(reply));
	body_text(&body, "");
	packets_begin(traffic->packets, KTOP_META, 0, traffic->clock);
	put(traffic, KTOP_EVENT_reply, &body);
	packets_end(traffic->packets, traffic->clock);
}

/* ---- samples ---- */

static void make_sample(struct traffic *traffic, struct body *body)
{
	uint32_t thread = (uint32_t)((random_next(&traffic->seed) >> 32) * traffic->shape.threads >> 32);
	const struct ktop_wire_sample sample = {
		.process = PROCESS + thread / THREADS_PER_PROCESS,
		.thread = THREAD + thread,
		.mode = KTOP_MODE_KERNEL,
		.weight = 1,
		.exact = 1,
	};
	uint32_t stack = world_draw(traffic->world, &traffic->seed);

	body->size = 0;
	body_fixed(body, &sample, sizeof(sample));
	body_list(body, world_stack(traffic->world, stack), world_shape(traffic->world)->depth, 8);
	body_list(body, NULL, 0, 8);
}

/* Sends the samples of one CPU in this turn, in as many packets as needed; with a heartbeat due, at least one. */
static void put_samples(struct traffic *traffic, uint32_t cpu, struct body *body, bool beat)
{
	struct packets *packets = traffic->packets;
	uint64_t end = traffic->clock + TURN;
	uint64_t due = (uint64_t)floor(traffic->shape.rate / traffic->shape.cpus *
		(double)(traffic->turns + 1) * TRAFFIC_TURN_MS / 1000);
	uint64_t count = due - traffic->taken[cpu], begin = traffic->clock;

	if (count == 0 && !beat)
		return;
	packets_begin(packets, KTOP_SAMPLES, cpu, begin);
	for (uint64_t i = 1; i <= count; i++) {
		make_sample(traffic, body);
		if (packets->size - packets->open + body->size + sizeof(struct ktop_wire_event) >
				KTOP_PACKET_MAX) {
			packets_end(packets, begin);
			packets_begin(packets, KTOP_SAMPLES, cpu, begin);
		}
		begin = traffic->clock + TURN * i / count;
		packets_event(packets, begin, KTOP_EVENT_sample, body);
	}
	packets_end(packets, end);
	traffic->taken[cpu] = due;
}

/* ---- trace events ---- */

static uint32_t draw_thread(struct traffic *traffic)
{
	return THREAD + (uint32_t)((random_next(&traffic->seed) >> 32) * traffic->shape.threads >> 32);
}

/* Returns the event's id. */
static uint16_t make_event(struct traffic *traffic, uint32_t cpu, uint64_t index, struct body *body)
{
	uint32_t *thread = &traffic->thread[cpu], number = (uint32_t)(index / TRACED % CALLS);
	const struct ktop_wire_irq_enter irq = { .irq = (uint32_t)(index / TRACED % IRQS) };

	body->size = 0;
	switch (index % TRACED) {
	case SWITCH: {
		struct ktop_wire_sched_switch to = { .from = *thread, .to = draw_thread(traffic) };

		*thread = to.to;
		body_fixed(body, &to, sizeof(to));
		return KTOP_EVENT_sched_switch;
	}
	case CALL:
		body_fixed(body, &(struct ktop_wire_syscall_enter) { .thread = *thread, .number = number },
			sizeof(struct ktop_wire_syscall_enter));
		return KTOP_EVENT_syscall_enter;
	case CALL_END:
		body_fixed(body, &(struct ktop_wire_syscall_exit) { *thread, number, index },
			sizeof(struct ktop_wire_syscall_exit));
		return KTOP_EVENT_syscall_exit;
	default:
		body_fixed(body, &irq, sizeof(irq));
		return index % TRACED == IRQ ? KTOP_EVENT_irq_enter : KTOP_EVENT_irq_exit;
	}
}

/* Sends the trace events of one CPU in this turn, as put_samples does. */
static void put_events(struct traffic *traffic, uint32_t cpu, struct body *body, bool beat)
{
	struct packets *packets = traffic->packets;
	uint64_t due = (uint64_t)floor(traffic->shape.events / traffic->shape.cpus *
		(double)(traffic->turns + 1) * TRAFFIC_TURN_MS / 1000);
	uint64_t count = due - traffic->traced[cpu], time = traffic->clock;

	if (count == 0 && !beat)
		return;
	packets_begin(packets, KTOP_TRACE, cpu, time);
	for (uint64_t i = 1; i <= count; i++) {
		uint16_t id = make_event(traffic, cpu, traffic->traced[cpu]++, body);

		if (packets->size - packets->open + body->size + sizeof(struct ktop_wire_event) > KTOP_PACKET_MAX) {
			packets_end(packets, time);
			packets_begin(packets, KTOP_TRACE, cpu, time);
		}
		time = traffic->clock + TURN * i / count;
		packets_event(packets, time, id, body);
	}
	packets_end(packets, traffic->clock + TURN);
}

void traffic_turn(struct traffic *traffic)
{
	bool beat = traffic->turns % TURNS_PER_BEAT == 0;
	struct body body;

	if (beat) {
		packets_begin(traffic->packets, KTOP_META, 0, traffic->clock);
		put_beat(traffic);
		packets_end(traffic->packets, traffic->clock);
	}
	for (uint32_t cpu = 0; cpu < traffic->shape.cpus; cpu++) {
		put_samples(traffic, cpu, &body, beat);
		put_events(traffic, cpu, &body, beat);
	}
	traffic->clock += TURN;
	traffic->turns++;
}
