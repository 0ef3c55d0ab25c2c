/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/packets.h"
#include "flood.h"
#include "tests/fuzz/fuzz.h"

struct walk {
	uint64_t start, step, modulus;
};

struct words {
	const uint8_t *bytes;
	size_t size;
};

static struct body body;		/* of the event in the making */

/* ---- the input ---- */

static uint64_t input_number(struct fuzz_input *input)
{
	uint64_t low = input_byte(input), high = input_byte(input);

	return (low | high << 8) << input_byte(input) % 48;
}

static struct walk input_walk(struct fuzz_input *input)
{
	struct walk walk;

	walk.start = input_number(input);
	walk.step = input_number(input);
	walk.modulus = input_number(input);
	return walk;
}

static struct words input_words(struct fuzz_input *input)
{
	struct words words;

	words.size = input_bytes(input, &words.bytes, input_byte(input));
	return words;
}

static uint32_t input_count(struct fuzz_input *input, uint32_t most)
{
	uint64_t count = input_number(input);

	return count < most ? (uint32_t)count : most;
}

static uint64_t walk_at(const struct walk *walk, uint64_t k)
{
	return walk->start + (walk->modulus ? k % walk->modulus : k) * walk->step;
}

/* ---- packets ---- */

static void append(struct flood *flood, const void *bytes, size_t size)
{
	if (flood->size + size > flood->room) {
		flood->room = 2 * (flood->size + size);
		flood->bytes = util_grow(flood->bytes, flood->room, 1);
	}
	if (size)
		memcpy(flood->bytes + flood->size, bytes, size);
	flood->size += size;
}

static void begin_packet(struct flood *flood)
{
	struct ktop_wire_packet wire = {
		.magic = KTOP_MAGIC, .stream = flood->stream, .begin = flood->clock,
		.sequence = flood->sequence, .before = flood->sequence, .cpu = flood->cpu,
	};

	flood->sequence++;
	memcpy(wire.boot_id, flood->boot_id, KTOP_BOOT_ID);
	flood->open = flood->size;
	append(flood, &wire, sizeof(wire));
}

static void end_packet(struct flood *flood)
{
	struct ktop_wire_packet wire;

	memcpy(&wire, flood->bytes + flood->open, sizeof(wire));
	wire.end = flood->clock;
	wire.content_size = wire.packet_size = 8 * (flood->size - flood->open);
	memcpy(flood->bytes + flood->open, &wire, sizeof(wire));
}

/* Puts the event's body into the open packet, or into a new one when that is full. */
static void add(struct flood *flood, uint16_t id)
{
	struct ktop_wire_event wire = {
		.time = (uint32_t)flood->clock, .id = id, .size = (uint16_t)body.size,
	};

	if (flood->size - flood->open + sizeof(wire) + body.size > KTOP_PACKET_MAX) {
		end_packet(flood);
		begin_packet(flood);
	}
	append(flood, &wire, sizeof(wire));
	append(flood, body.bytes, body.size);
	body.size = 0;
}

/* ---- kinds ---- */

static void add_boot(struct flood *flood, struct fuzz_input *input)
{
	bool twice = input_byte(input) & 1;

	flood->boots++;
	memcpy(flood->boot_id, &flood->boots, sizeof(flood->boots));
	flood->sequence = 0;
	if (!twice)
		return;
	begin_packet(flood);
	end_packet(flood);
}

/* The machine is put back to an earlier state of this boot, as by loadvm. */
static void add_rewind(struct flood *flood)
{
	flood->sequence = 0;
	flood->clock /= 2;
	begin_packet(flood);
	end_packet(flood);
}

static void put_text(struct words text)
{
	body_list(&body, text.bytes, text.size, 1);
}

static void put_name(struct words text, bool differ, uint64_t k)
{
	uint16_t size = (uint16_t)(text.size + 8);
	char digits[8];

	if (!differ) {
		put_text(text);
		return;
	}
	for (int i = 0; i < 8; i++)
		digits[i] = "0123456789abcdef"[k >> 4 * (7 - i) & 15];
	body_fixed(&body, &size, sizeof(size));
	body_fixed(&body, text.bytes, text.size);
	body_fixed(&body, digits, sizeof(digits));
}

static void add_facts(struct flood *flood, struct fuzz_input *input)
{
	uint64_t clock = input_number(input);
	struct ktop_wire_guest facts = { .clock = clock, .cpus = input_byte(input) };
	struct words anchor = input_words(input);

	facts.anchor_address = 16ull * input_byte(input);
	body_fixed(&body, &facts, sizeof(facts));
	body_text(&body, "toy\x1b[2J");
	body_text(&body, "1.0");
	body_text(&body, "\x07x86_64");
	put_text(anchor);
	body_list(&body, NULL, 0, 1);
	add(flood, KTOP_EVENT_guest);
}

static void add_statuses(struct flood *flood, struct fuzz_input *input, uint32_t most)
{
	uint32_t count = input_count(input, most);
	uint8_t sampler = input_byte(input) % KTOP_SAMPLERS;
	struct walk cpu = input_walk(input);

	for (uint32_t k = 0; k < count; k++) {
		struct ktop_wire_status status = {
			.running = 1, .sampler = sampler, .rate = 997,
			.sampler_cpu = (uint32_t)walk_at(&cpu, k),
		};

		body_fixed(&body, &status, sizeof(status));
		body_text(&body, "");
		add(flood, KTOP_EVENT_status);
	}
}

static void add_symbols(struct flood *flood, struct fuzz_input *input, uint32_t most)
{
	uint32_t count = input_count(input, most);
	struct walk address = input_walk(input), size = input_walk(input);
	struct words name = input_words(input);

	for (uint32_t k = 0; k < count; k++) {
		struct ktop_wire_symbol symbol = {
			.address = walk_at(&address, k), .size = (uint32_t)walk_at(&size, k),
		};

		body_fixed(&body, &symbol, sizeof(symbol));
		put_text(name);
		add(flood, KTOP_EVENT_symbol);
	}
}

static void add_objects(struct flood *flood, struct fuzz_input *input, uint32_t most)
{
	uint32_t count = input_count(input, most);
	struct walk process = input_walk(input), start = input_walk(input), size = input_walk(input);
	uint8_t how = input_byte(input);
	struct words name = input_words(input);

	for (uint32_t k = 0; k < count; k++) {
		struct ktop_wire_object object = {
			.process = (uint32_t)walk_at(&process, k), .start = walk_at(&start, k),
		};

		object.end = object.start + walk_at(&size, k);
		body_fixed(&body, &object, sizeof(object));
		put_name(name, how & 2, k);
		body_list(&body, &k, how & 1 ? sizeof(k) : 0, 1);
		add(flood, KTOP_EVENT_object);
	}
}

static void add_names(struct flood *flood, struct fuzz_input *input, uint32_t most)
{
	uint32_t count = input_count(input, most);
	struct walk id = input_walk(input), process = input_walk(input);
	uint8_t how = input_byte(input);
	struct words name = input_words(input);

	for (uint32_t k = 0; k < count; k++) {
		uint32_t ids[] = { (uint32_t)walk_at(&id, k), (uint32_t)walk_at(&process, k) };

		body_fixed(&body, ids, how & 1 ? sizeof(ids[0]) : sizeof(ids));
		put_name(name, how & 2, k);
		add(flood, how & 1 ? KTOP_EVENT_process : KTOP_EVENT_thread);
	}
}

static void add_samples(struct flood *flood, struct fuzz_input *input, uint32_t most)
{
	uint32_t count = input_count(input, most);
	struct walk cpu = input_walk(input), process = input_walk(input), thread = input_walk(input);
	struct walk frame = input_walk(input), ticks = input_walk(input);
	uint32_t frames = input_byte(input) % (KTOP_FRAMES_MAX + 1);
	uint8_t mode = input_byte(input) % KTOP_MODES;

	for (uint32_t k = 0; k < count; k++) {
		uint32_t on = (uint32_t)(walk_at(&cpu, k) % 4096);
		struct ktop_wire_sample sample = {
			.process = (uint32_t)walk_at(&process, k), .mode = mode, .weight = 1, .exact = 1,
			.thread = (uint32_t)walk_at(&thread, k),
		};
		uint64_t addresses[KTOP_FRAMES_MAX], before = flood->clock;

		for (uint32_t i = 0; i < frames; i++)
			addresses[i] = walk_at(&frame, (uint64_t)k * frames + i);
		flood->clock += walk_at(&ticks, k);
		if (on != flood->cpu || flood->clock - before > UINT32_MAX) {
			end_packet(flood);
			flood->cpu = on;
			begin_packet(flood);
		}
		body_fixed(&body, &sample, sizeof(sample));
		body_list(&body, addresses, mode == KTOP_MODE_USER ? 0 : frames, 8);
		body_list(&body, addresses, mode == KTOP_MODE_USER ? frames : 0, 8);
		add(flood, KTOP_EVENT_sample);
	}
}

static void add_cpus(struct flood *flood, struct fuzz_input *input, uint32_t most)
{
	uint32_t count = input_count(input, most);
	struct walk cpu = input_walk(input);

	for (uint32_t k = 0; k < count; k++) {
		struct ktop_wire_cpu_status status = {
			.cpu = (uint32_t)walk_at(&cpu, k) % 4096, .stream = KTOP_SAMPLES, .enabled = 1,
			.taken = k, .span = k, .size = 4096,
		};

		body_fixed(&body, &status, sizeof(status));
		add(flood, KTOP_EVENT_cpu_status);
	}
}

/* Each is in a packet of its own, on any CPU. */
static void add_random(struct flood *flood, struct fuzz_input *input, uint32_t most)
{
	static const uint8_t ids[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 32, 33, 34, 35, 36 };
	uint32_t count = input_count(input, most);
	uint64_t seed = 1 + input_byte(input);
	uint8_t lists = 1 + input_byte(input) % 64;

	for (uint32_t k = 0; k < count; k++) {
		uint8_t id = ids[random_next(&seed) % sizeof(ids)];

		end_packet(flood);
		flood->stream = id >= 32 ? KTOP_TRACE : id >= 16 ? KTOP_SAMPLES : KTOP_META;
		flood->cpu = (uint32_t)(random_next(&seed) % 4096);
		flood->clock += random_next(&seed) >> (20 + random_next(&seed) % 44);
		begin_packet(flood);
		body_random(&body, id, &seed, lists);
		add(flood, id);
	}
}

static void add_event(struct flood *flood, struct fuzz_input *input)
{
	uint8_t id = input_byte(input), advance = input_byte(input);
	struct words payload = input_words(input);

	flood->clock += (uint64_t)advance << (advance % 32);
	body_fixed(&body, payload.bytes, payload.size);
	add(flood, id);
}

static void add_bytes(struct flood *flood, struct fuzz_input *input)
{
	struct words words = input_words(input);

	append(flood, words.bytes, words.size);
}

static void add_events(struct flood *flood, enum flood_kind kind, struct fuzz_input *input,
	uint32_t most)
{
	flood->stream = kind == FLOOD_SAMPLES ? KTOP_SAMPLES :
		kind == FLOOD_EVENT ? input_byte(input) % KTOP_STREAMS : KTOP_META;
	flood->cpu = 0;
	begin_packet(flood);
	switch (kind) {
	case FLOOD_FACTS: add_facts(flood, input); break;
	case FLOOD_STATUS: add_statuses(flood, input, most); break;
	case FLOOD_SYMBOLS: add_symbols(flood, input, most); break;
	case FLOOD_OBJECTS: add_objects(flood, input, most); break;
	case FLOOD_NAMES: add_names(flood, input, most); break;
	case FLOOD_SAMPLES: add_samples(flood, input, most); break;
	case FLOOD_CPUS: add_cpus(flood, input, most); break;
	case FLOOD_RANDOM: add_random(flood, input, most); break;
	default: add_event(flood, input); break;
	}
	end_packet(flood);
}

void flood_add(struct flood *flood, enum flood_kind kind, struct fuzz_input *input, uint32_t most)
{
	body.size = 0;
	if (kind == FLOOD_BOOT)
		add_boot(flood, input);
	else if (kind == FLOOD_REWIND)
		add_rewind(flood);
	else if (kind == FLOOD_JUMP)
		flood->clock += input_number(input);
	else if (kind == FLOOD_BYTES)
		add_bytes(flood, input);
	else
		add_events(flood, kind, input, most);
}
