/* SPDX-License-Identifier: MIT */
/*
 * Packs events into packets (wire.h), as many whole ones as the transport's buffer holds. For the drainer alone.
 * The clock values of one stream of one CPU always satisfy: begin <= each event <= end <= begin of the next packet.
 *
 * To write one packet: open, then room and add for each event, then close. Cancel takes the place of close for a
 * packet without events.
 */
#ifndef KTOP_PACKET_H
#define KTOP_PACKET_H

#include <stdbool.h>
#include <stdint.h>

/* The books of one stream of one CPU. They are kept from boot on, whether a host is connected or not. */
struct ktop_books {
	uint64_t sequence;		/* number of the next packet */
	uint64_t before;		/* events in all packets so far */
	uint64_t end;			/* clock of the last packet's end */
	uint64_t sent;			/* clock at which the last packet was closed */
};

struct ktop_packet {
	uint8_t *buffer;		/* the transport's; NULL: there is none now */
	uint32_t limit;			/* bytes of the buffer that may be used */
	uint32_t used;			/* bytes in use, with the open packet */
	uint32_t start;			/* where the open packet begins */
	uint32_t events;		/* in the open packet */
	uint64_t time;			/* clock of the newest event in it */
	uint64_t begin;			/* clock of the first event in it */
	struct ktop_books *books;	/* of the open packet; NULL: no packet is open */
};

/* Which boot, stream and CPU a packet is of. */
struct ktop_stream_id {
	const uint8_t *boot_id;		/* KTOP_BOOT_ID bytes */
	uint32_t stream, cpu;		/* enum ktop_stream; the CPU's number, 0 for KTOP_META */
};

/* Opens a packet. False: the buffer has no room for a packet with an event of `payload` bytes. */
bool ktop_packet_open(struct ktop_packet *packet, const struct ktop_stream_id *id,
	struct ktop_books *books, uint32_t payload);

/*
 * Returns where the payload of the next event goes, and notes its time. NULL: close this packet first, since the
 * buffer is full, or the event is 2^32 clock ticks or more after the one before.
 */
uint8_t *ktop_packet_room(struct ktop_packet *packet, uint64_t time, uint32_t payload);

/* Adds the event for which room was given last: `payload` bytes were written, no more than were asked for. */
void ktop_packet_add(struct ktop_packet *packet, uint16_t id, uint32_t payload);

/*
 * Closes the packet. An empty one is a heartbeat: up to `now` there was no event. `discarded`: events of this stream
 * and CPU that were dropped since boot.
 */
void ktop_packet_close(struct ktop_packet *packet, uint64_t now, uint64_t discarded);

/* Takes an open packet back, as if it had not been opened. */
void ktop_packet_cancel(struct ktop_packet *packet);

#endif
