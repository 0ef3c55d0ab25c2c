/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../wire.h"
#include "packet.h"

enum {
	HEAD = sizeof(struct ktop_wire_packet),
	EVENT = sizeof(struct ktop_wire_event),
};

/* Times, sizes and the count of drops are set when the packet is closed. */
bool ktop_packet_open(struct ktop_packet *packet, const struct ktop_stream_id *id,
	struct ktop_books *books, uint32_t payload)
{
	struct ktop_wire_packet head = {
		.magic = KTOP_MAGIC,
		.stream = id->stream,
		.sequence = books->sequence,
		.before = books->before,
		.cpu = id->cpu,
	};

	if (packet->limit - packet->used < HEAD + EVENT + payload)
		return false;
	__builtin_memcpy(head.boot_id, id->boot_id, sizeof(head.boot_id));
	__builtin_memcpy(packet->buffer + packet->used, &head, HEAD);
	packet->start = packet->used;
	packet->used += HEAD;
	packet->events = 0;
	packet->books = books;
	return true;
}

/* An event with a time before the end of the stream's last packet gets that end as its time. */
uint8_t *ktop_packet_room(struct ktop_packet *packet, uint64_t time, uint32_t payload)
{
	uint64_t after = packet->events ? packet->time : packet->books->end;

	if (time < after)
		time = after;
	if (packet->limit - packet->used < EVENT + payload)
		return NULL;
	/* A reader completes the 32 bits of a time from the event before: it would misread a longer gap. */
	if (packet->events && time - packet->time > UINT32_MAX)
		return NULL;
	if (packet->events == 0)
		packet->begin = time;
	packet->time = time;
	return packet->buffer + packet->used + EVENT;
}

void ktop_packet_add(struct ktop_packet *packet, uint16_t id, uint32_t payload)
{
	struct ktop_wire_event event = {
		.time = (uint32_t)packet->time,
		.id = id,
		.size = (uint16_t)payload,
	};

	__builtin_memcpy(packet->buffer + packet->used, &event, EVENT);
	packet->used += EVENT + payload;
	packet->events++;
}

void ktop_packet_close(struct ktop_packet *packet, uint64_t now, uint64_t discarded)
{
	struct ktop_books *books = packet->books;
	uint8_t *start = packet->buffer + packet->start;
	struct ktop_wire_packet head;

	if (packet->events == 0)
		packet->begin = packet->time = now < books->end ? books->end : now;
	__builtin_memcpy(&head, start, HEAD);
	head.begin = packet->begin;
	head.end = packet->time;
	head.content_size = head.packet_size = 8ull * (packet->used - packet->start);
	head.discarded = discarded;
	__builtin_memcpy(start, &head, HEAD);
	books->sequence++;
	books->before += packet->events;
	books->end = packet->time;
	books->sent = now;
	packet->books = NULL;
}

void ktop_packet_cancel(struct ktop_packet *packet)
{
	packet->used = packet->start;
	packet->books = NULL;
}
