/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/wire/decode.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "packet_maker.h"

enum { HEADER = sizeof(struct ktop_wire_packet) };

struct packet_maker {
	struct recording_writer *writer;
	const uint8_t *boot_id;
	struct ktop_wire_packet head;	/* of the present packet; begin <= end: its last event */
	uint64_t events;		/* in it */
	size_t size;			/* of it, in bytes */
	uint8_t bytes[KTOP_PACKET_MAX];
};

/* ---- events ---- */

void made_event_begin(struct made_event *event, uint16_t id, const void *fixed, size_t size)
{
	event->id = id;
	event->size = size;
	memcpy(event->bytes, fixed, size);
}

static void add_list(struct made_event *event, const void *list, uint16_t count, size_t size)
{
	memcpy(event->bytes + event->size, &count, sizeof(count));
	if (size)
		memcpy(event->bytes + event->size + sizeof(count), list, size);
	event->size += sizeof(count) + size;
}

void made_event_text(struct made_event *event, struct text text)
{
	size_t left = MADE_EVENT_MOST - event->size - sizeof(uint16_t);
	size_t most = left < KTOP_TEXT_MAX ? left : KTOP_TEXT_MAX, size = text.size < most ? text.size : most;

	add_list(event, text.bytes, (uint16_t)size, size);
}

void made_event_words(struct made_event *event, const uint64_t *words, uint32_t count)
{
	add_list(event, words, (uint16_t)count, count * sizeof(*words));
}

/* ---- packets ---- */

struct packet_maker *packet_maker_new(struct recording_writer *writer, const uint8_t *boot_id, enum stream stream,
	uint32_t cpu, uint64_t begin)
{
	struct packet_maker *maker = util_alloc(sizeof(*maker));

	maker->writer = writer;
	maker->boot_id = boot_id;
	maker->size = HEADER;
	maker->head = (struct ktop_wire_packet) {
		.magic = KTOP_MAGIC, .stream = stream, .cpu = cpu, .begin = begin, .end = begin,
	};
	memcpy(maker->head.boot_id, boot_id, KTOP_BOOT_ID);
	return maker;
}

void packet_maker_free(struct packet_maker *maker)
{
	free(maker);
}

/* Also if there is no event in it. The next packet begins where this one ends. */
static void end_packet(struct packet_maker *maker)
{
	maker->head.content_size = maker->head.packet_size = 8 * maker->size;
	memcpy(maker->bytes, &maker->head, HEADER);
	recording_writer_packet(maker->writer, &(struct packet) {
		.bytes = maker->bytes, .size = maker->size, .boot_id = maker->boot_id,
		.stream = (enum stream)maker->head.stream, .cpu = maker->head.cpu,
		.begin = maker->head.begin, .end = maker->head.end,
	});
	recording_writer_wait(maker->writer);
	maker->head.begin = maker->head.end;
	maker->head.sequence++;
	maker->head.before += maker->events;
	maker->events = 0;
	maker->size = HEADER;
}

void packet_maker_flush(struct packet_maker *maker)
{
	if (maker->events)
		end_packet(maker);
}

void packet_maker_add(struct packet_maker *maker, uint64_t time, const struct made_event *event)
{
	const struct ktop_wire_event wire = {
		.time = (uint32_t)time, .id = event->id, .size = (uint16_t)event->size,
	};

	if (maker->size + sizeof(wire) + event->size > sizeof(maker->bytes) || time - maker->head.begin > UINT32_MAX)
		packet_maker_flush(maker);
	if (!maker->events)			/* nothing is told of the time between two packets */
		maker->head.begin = time;
	memcpy(maker->bytes + maker->size, &wire, sizeof(wire));
	memcpy(maker->bytes + maker->size + sizeof(wire), event->bytes, event->size);
	maker->size += sizeof(wire) + event->size;
	maker->head.end = time;
	maker->events++;
}

void packet_maker_end(struct packet_maker *maker, uint64_t time)
{
	packet_maker_flush(maker);
	maker->head.begin = maker->head.end = time;
	end_packet(maker);
}
