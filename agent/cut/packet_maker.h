/* SPDX-License-Identifier: MIT */
/* Puts events into packets of one lane (recording.h), as a guest does whose clock counts ns. */
#ifndef PACKET_MAKER_H
#define PACKET_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct packet_maker;
struct recording_writer;

enum { MADE_EVENT_MOST = 2048 };	/* bytes of payload; more than any event has that is made here */

struct made_event {			/* its fixed fields, then its lists */
	uint16_t id;
	size_t size;
	uint8_t bytes[MADE_EVENT_MOST];
};

void made_event_begin(struct made_event *event, uint16_t id, const void *fixed, size_t size);
void made_event_text(struct made_event *event, struct text text);	/* longer ones are cut */
void made_event_words(struct made_event *event, const uint64_t *words, uint32_t count);	/* 64 at most */

/* The writer, and the 16 bytes of the boot id, are borrowed. `begin`: guest ns, as in all calls. */
struct packet_maker *packet_maker_new(struct recording_writer *writer, const uint8_t *boot_id, enum stream stream,
	uint32_t cpu, uint64_t begin);
void packet_maker_free(struct packet_maker *maker);	/* NULL is allowed */

/* Events come in order of time. These three may wait for the disk. */
void packet_maker_add(struct packet_maker *maker, uint64_t time, const struct made_event *event);
void packet_maker_flush(struct packet_maker *maker);	/* what was added is in packets that have ended */
void packet_maker_end(struct packet_maker *maker, uint64_t time);	/* the lane ends at this time */

#endif
