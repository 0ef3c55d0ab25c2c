/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "packets.h"

uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* ---- payloads ---- */

void body_fixed(struct body *body, const void *fields, size_t size)
{
	assert(size <= sizeof(body->bytes) - body->size);
	memcpy(body->bytes + body->size, fields, size);
	body->size += size;
}

void body_list(struct body *body, const void *elements, size_t count, size_t element_size)
{
	uint16_t length = (uint16_t)count;

	body_fixed(body, &length, sizeof(length));
	if (count)
		body_fixed(body, elements, count * element_size);
}

void body_text(struct body *body, const char *text)
{
	body_list(body, text, strlen(text), 1);
}

/* A field's value is valid below this; 0: any value is valid. */
static uint64_t limit_of(const char *name)
{
	static const struct { const char *name; uint64_t limit; } limits[] = {
		{ "stream", KTOP_STREAMS }, { "mode", KTOP_MODES }, { "sampler", KTOP_SAMPLERS },
		{ "flags", 16 }, { "cpu", PACKETS_CPUS }, { "cpus", PACKETS_CPUS },
		{ "running", 2 }, { "enabled", 2 }, { "ok", 2 }, { "arch", KTOP_ARCHS },
		{ "physical", 2 }, { "cut", 2 },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (strcmp(limits[i].name, name) == 0)
			return limits[i].limit;
	return 0;
}

static void random_fixed(struct body *body, uint64_t *seed, const char *name, size_t size)
{
	uint64_t value = random_next(seed), limit = limit_of(name);

	if (limit)
		value %= limit;
	body_fixed(body, &value, size);
}

static void random_list(struct body *body, uint64_t *seed, bool text, size_t size, size_t list_max)
{
	uint64_t elements[KTOP_TEXT_MAX];
	size_t count = random_next(seed) % (list_max + 1);
	uint8_t *bytes = (uint8_t *)elements;

	assert(count <= KTOP_TEXT_MAX);
	for (size_t i = 0; i < count * size; i++)
		bytes[i] = (uint8_t)(text ? 'a' + random_next(seed) % 26 : random_next(seed));
	body_list(body, elements, count, size);
}

void body_random(struct body *body, uint16_t id, uint64_t *seed, size_t list_max)
{
#define RANDOM_FIXED(type, name) random_fixed(body, seed, #name, sizeof(ktop_##type));
#define RANDOM_LIST(type, name) \
	random_list(body, seed, #type[0] == 'c', sizeof(ktop_##type), list_max);
#define RANDOM_CASE(number, stream, name) \
	case number: KTOP_WIRE_##name(RANDOM_FIXED, RANDOM_LIST) break;
	typedef char ktop_char;

	body->size = 0;
	switch (id) {
		KTOP_WIRE_EVENTS(RANDOM_CASE)
	}
}

/* ---- packets ---- */

struct packets *packets_new(uint8_t boot)
{
	struct packets *packets = util_alloc(sizeof(*packets));

	packets_boot(packets, boot);
	return packets;
}

void packets_free(struct packets *packets)
{
	free(packets->bytes);
	free(packets);
}

void packets_boot(struct packets *packets, uint8_t boot)
{
	for (int i = 0; i < KTOP_BOOT_ID; i++)
		packets->boot_id[i] = (uint8_t)(boot * 7 + i * 31);
	memset(packets->lanes, 0, sizeof(packets->lanes));
}

void packets_raw(struct packets *packets, const void *bytes, size_t size)
{
	if (packets->size + size > packets->room) {
		packets->room = 2 * (packets->size + size);
		packets->bytes = util_grow(packets->bytes, packets->room, 1);
	}
	if (size)
		memcpy(packets->bytes + packets->size, bytes, size);
	packets->size += size;
}

void packets_begin(struct packets *packets, uint32_t stream, uint32_t cpu, uint64_t begin)
{
	const struct packets_lane *lane = &packets->lanes[stream][cpu];
	struct ktop_wire_packet wire = {
		.magic = KTOP_MAGIC, .stream = stream, .begin = begin, .sequence = lane->sequence,
		.discarded = lane->discarded, .before = lane->before, .cpu = cpu,
	};

	memcpy(wire.boot_id, packets->boot_id, KTOP_BOOT_ID);
	packets->open = packets->size;
	packets->events = 0;
	packets_raw(packets, &wire, sizeof(wire));
}

void packets_event(struct packets *packets, uint64_t time, uint16_t id, const struct body *body)
{
	struct ktop_wire_event wire = {
		.time = (uint32_t)time, .id = id, .size = (uint16_t)body->size,
	};

	packets_raw(packets, &wire, sizeof(wire));
	packets_raw(packets, body->bytes, body->size);
	packets->events++;
}

void packets_end(struct packets *packets, uint64_t end)
{
	struct ktop_wire_packet wire;
	struct packets_lane *lane;

	memcpy(&wire, packets->bytes + packets->open, sizeof(wire));
	wire.end = end;
	wire.content_size = wire.packet_size = 8 * (packets->size - packets->open);
	memcpy(packets->bytes + packets->open, &wire, sizeof(wire));
	lane = &packets->lanes[wire.stream][wire.cpu];
	lane->sequence++;
	lane->before += packets->events;
}

void packets_discard(struct packets *packets, uint32_t stream, uint32_t cpu, uint64_t events)
{
	packets->lanes[stream][cpu].discarded += events;
}
