#include <math.h>
#include <stdlib.h>

#include "packets.h"
#include "stream.h"
#include "util.h"
#include "world.h"

enum {
	CLOCK_HZ = 1000000000,
	TURN = CLOCK_HZ / 1000 * STREAM_TURN_MS,
	TURNS_PER_BEAT = 100 / STREAM_TURN_MS,
	THREADS_PER_PROCESS = 8,
	PROCESS = 100, THREAD = 1000,	/* the first ones' ids */
	RING = 262144,
};

struct stream {
	const struct world *world;
	struct stream_shape shape;
	struct packets *packets;
	uint64_t clock, turns, seed;
	uint64_t taken[PACKETS_CPUS];	/* samples */
};

struct stream *stream_new(const struct world *world, const struct stream_shape *shape)
{
	struct stream *stream = util_alloc(sizeof(*stream));

	stream->world = world;
	stream->shape = *shape;
	stream->packets = packets_new(1);
	stream->clock = CLOCK_HZ;
	stream->seed = 521288629521288629u;
	return stream;
}

void stream_free(struct stream *stream)
{
	packets_free(stream->packets);
	free(stream);
}

struct packets *stream_bytes(struct stream *stream)
{
	return stream->packets;
}

uint64_t stream_samples(const struct stream *stream)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < stream->shape.cpus; cpu++)
		sum += stream->taken[cpu];
	return sum;
}

/* ---- meta ---- */

static void put(struct stream *stream, uint16_t event, const struct body *body)
{
	packets_event(stream->packets, stream->clock, event, body);
}

static void put_guest(struct stream *stream)
{
	const struct ktop_wire_guest guest = { .cpus = stream->shape.cpus, .clock = CLOCK_HZ };
	struct body body = { 0 };

	body_fixed(&body, &guest, sizeof(guest));
	body_text(&body, "bench");
	body_text(&body, "1");
	body_text(&body, "x86_64");
	body_text(&body, "");
	body_text(&body, "");
	put(stream, KTOP_EVENT_guest, &body);
}

static void put_name(struct stream *stream, uint16_t event, const void *fields, size_t size,
	const char *kind, uint32_t number)
{
	struct body body = { 0 };
	char *name = util_format("%s-%u", kind, number);

	body_fixed(&body, fields, size);
	body_text(&body, name);
	put(stream, event, &body);
	free(name);
}

static void put_names(struct stream *stream)
{
	for (uint32_t i = 0; i < stream->shape.threads; i++) {
		const struct ktop_wire_thread thread = {
			.thread = THREAD + i, .process = PROCESS + i / THREADS_PER_PROCESS };
		const struct ktop_wire_process process = { .process = thread.process };

		if (i % THREADS_PER_PROCESS == 0)
			put_name(stream, KTOP_EVENT_process, &process, sizeof(process), "server",
				i / THREADS_PER_PROCESS);
		put_name(stream, KTOP_EVENT_thread, &thread, sizeof(thread), "worker", i);
	}
}

static void put_status(struct stream *stream)
{
	const struct ktop_wire_status status = {
		.running = stream->shape.rate > 0,
		.rate = (uint32_t)(stream->shape.rate / stream->shape.cpus),
		.sampler_cpu = KTOP_NO_CPU,
	};
	struct body body = { 0 };

	body_fixed(&body, &status, sizeof(status));
	body_text(&body, "");
	put(stream, KTOP_EVENT_status, &body);
}

static void put_counts(struct stream *stream, uint32_t cpu, uint8_t class)
{
	const struct ktop_wire_cpu_status status = {
		.cpu = cpu,
		.stream = class,
		.enabled = class == KTOP_SAMPLES && stream->shape.rate > 0,
		.taken = class == KTOP_SAMPLES ? stream->taken[cpu] : 0,
		.cost = class == KTOP_SAMPLES ? 100 * stream->taken[cpu] : 0,
		.span = class == KTOP_SAMPLES && stream->shape.rate > 0 ? stream->clock : 0,
		.size = RING,
	};
	struct body body = { 0 };

	body_fixed(&body, &status, sizeof(status));
	put(stream, KTOP_EVENT_cpu_status, &body);
}

static void put_beat(struct stream *stream)
{
	put_status(stream);
	for (uint32_t cpu = 0; cpu < stream->shape.cpus; cpu++) {
		put_counts(stream, cpu, KTOP_SAMPLES);
		put_counts(stream, cpu, KTOP_TRACE);
	}
}

void stream_hello(struct stream *stream)
{
	packets_begin(stream->packets, KTOP_META, 0, stream->clock);
	put_guest(stream);
	put_names(stream);
	put_beat(stream);
	packets_end(stream->packets, stream->clock);
}

void stream_reply(struct stream *stream)
{
	const struct ktop_wire_reply reply = { .ok = 1 };
	struct body body = { 0 };

	body_fixed(&body, &reply, sizeof(reply));
	body_text(&body, "");
	packets_begin(stream->packets, KTOP_META, 0, stream->clock);
	put(stream, KTOP_EVENT_reply, &body);
	packets_end(stream->packets, stream->clock);
}

/* ---- samples ---- */

static void make_sample(struct stream *stream, struct body *body)
{
	uint32_t thread = (uint32_t)((random_next(&stream->seed) >> 32) * stream->shape.threads >> 32);
	const struct ktop_wire_sample sample = {
		.process = PROCESS + thread / THREADS_PER_PROCESS,
		.thread = THREAD + thread,
		.mode = KTOP_MODE_KERNEL,
		.weight = 1,
		.exact = 1,
	};
	uint32_t stack = world_draw(stream->world, &stream->seed);

	body->size = 0;
	body_fixed(body, &sample, sizeof(sample));
	body_list(body, world_stack(stream->world, stack), world_shape(stream->world)->depth, 8);
	body_list(body, NULL, 0, 8);
}

/* The samples of one CPU in this turn, in as many packets as they need; one at least at a beat. */
static void put_samples(struct stream *stream, uint32_t cpu, struct body *body, bool beat)
{
	struct packets *packets = stream->packets;
	uint64_t end = stream->clock + TURN;
	uint64_t due = (uint64_t)floor(stream->shape.rate / stream->shape.cpus *
		(double)(stream->turns + 1) * STREAM_TURN_MS / 1000);
	uint64_t count = due - stream->taken[cpu], begin = stream->clock;

	if (count == 0 && !beat)
		return;
	packets_begin(packets, KTOP_SAMPLES, cpu, begin);
	for (uint64_t i = 1; i <= count; i++) {
		make_sample(stream, body);
		if (packets->size - packets->open + body->size + sizeof(struct ktop_wire_event) >
				KTOP_PACKET_MAX) {
			packets_end(packets, begin);
			packets_begin(packets, KTOP_SAMPLES, cpu, begin);
		}
		begin = stream->clock + TURN * i / count;
		packets_event(packets, begin, KTOP_EVENT_sample, body);
	}
	packets_end(packets, end);
	stream->taken[cpu] = due;
}

void stream_turn(struct stream *stream)
{
	bool beat = stream->turns % TURNS_PER_BEAT == 0;
	struct body body;

	if (beat) {
		packets_begin(stream->packets, KTOP_META, 0, stream->clock);
		put_beat(stream);
		packets_end(stream->packets, stream->clock);
	}
	for (uint32_t cpu = 0; cpu < stream->shape.cpus; cpu++) {
		put_samples(stream, cpu, &body, beat);
		if (!beat)
			continue;
		packets_begin(stream->packets, KTOP_TRACE, cpu, stream->clock);
		packets_end(stream->packets, stream->clock + TURN);
	}
	stream->clock += TURN;
	stream->turns++;
}
