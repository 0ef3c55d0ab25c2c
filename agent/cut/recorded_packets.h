/* SPDX-License-Identifier: MIT */
/*
 * Packets on their way into a recording, made small. Raw samples become walked ones, some twelfth of the bytes, and
 * pages of the guest's memory are packed. No event more, and none less: the books stay as they are.
 *
 * A packet is held back while names, tables or files for one of its samples are still to come, and so are all packets
 * of samples behind it. What is known is walked then, and what nobody knows stays raw: whoever reads it may know more.
 * Held packets have a bound; beyond it, the oldest ones go on as they are. Ingest thread.
 */
#ifndef RECORDED_PACKETS_H
#define RECORDED_PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct epoch;
struct packet;
struct recorded_packets;

/* The packet, and its bytes, are valid during the call only. The packets of a lane come in their order. */
typedef void recorded_taker(void *context, const struct packet *packet);

struct recorded_packets *recorded_packets_new(recorded_taker *take, void *context);
void recorded_packets_free(struct recorded_packets *recorded);	/* without those that wait; NULL is allowed */

/* The next packet, before the epoch, the boot that it is of, takes its events. With another epoch, all go on first. */
void recorded_packets_add(struct recorded_packets *recorded, const struct packet *packet, struct epoch *epoch);
void recorded_packets_flush(struct recorded_packets *recorded);	/* nothing more comes: all go on */

uint64_t recorded_packets_held(const struct recorded_packets *recorded);	/* events in them */

/*
 * What was told before a recording begins stands at its beginning: all of a packet, whose bytes are at `bytes`, gets
 * this time. Any thread.
 */
void recorded_packet_retime(struct packet *packet, uint8_t *bytes, uint64_t time);

/* ---- packet maker ---- */

/* Puts events into packets of one lane (recording.h), as a guest does whose clock counts ns. */

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

/* Before the first event: so many came earlier, and so many were dropped. */
void packet_maker_books(struct packet_maker *maker, uint64_t before, uint64_t discarded);

/*
 * One that comes too early gets the time of the one before. `size`: bytes of the payload, a quarter of a packet at
 * most. All of these may wait for the disk.
 */
void packet_maker_put(struct packet_maker *maker, uint64_t time, uint16_t id, const void *payload, size_t size);
void packet_maker_add(struct packet_maker *maker, uint64_t time, const struct made_event *event);
void packet_maker_flush(struct packet_maker *maker);	/* what was added is in packets that have ended */
void packet_maker_end(struct packet_maker *maker, uint64_t time);	/* the lane ends at this time */

#endif
