/* SPDX-License-Identifier: MIT */
/*
 * Packs events into whole packets in one transport buffer. The drainer's alone.
 * By construction: begin <= each event <= end <= the next begin of these books.
 */
#ifndef KTOP_PACKET_H
#define KTOP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

/* The books of one stream of one CPU. Kept for the whole boot, host or no host. */
struct ktop_books {
	uint64_t sequence;		/* of the next packet */
	uint64_t before;		/* events in all packets so far */
	uint64_t end;			/* of the last packet */
	uint64_t sent;			/* clock at which it was closed */
};

struct ktop_packet {
	uint8_t *buffer;		/* the transport's, of `limit` bytes; NULL: none */
	uint32_t limit;
	uint32_t used;			/* bytes, the open packet included */
	uint32_t start;			/* where the open packet begins */
	uint32_t events;		/* in it */
	uint64_t time;			/* of the newest event in it */
	uint64_t begin;
	struct ktop_books *books;	/* of the open packet; NULL: none is open */
};

struct ktop_stream_id {
	const uint8_t *boot_id;
	uint32_t stream, cpu;
};

/* False when the buffer has no room for a packet with an event of so many bytes of payload. */
bool ktop_packet_open(struct ktop_packet *packet, const struct ktop_stream_id *id,
	struct ktop_books *books, uint32_t payload);

/* Where the payload of an event goes; NULL: close this packet first (no room, too long a gap). */
uint8_t *ktop_packet_room(struct ktop_packet *packet, uint64_t time, uint32_t payload);

/* Adds the event for which room was given last. */
void ktop_packet_add(struct ktop_packet *packet, uint16_t id, uint32_t payload);

/* Closes it, also when empty: that says that nothing came before `now`. */
void ktop_packet_close(struct ktop_packet *packet, uint64_t now, uint64_t discarded);

/* Takes an empty packet back. */
void ktop_packet_cancel(struct ktop_packet *packet);

#endif
