/* SPDX-License-Identifier: MIT */
/*
 * Bytes from the port to events; they may come in any pieces. Every byte is hostile: a packet
 * counts when its sizes add up to the byte and no other packet begins inside it; else the reader
 * goes on to the next magic, and counts what it skipped.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

enum { DECODE_EVENTS = 16 };		/* handed out at once */

struct packet {
	const uint8_t *bytes;		/* the whole packet, as received */
	size_t size;
	const uint8_t *boot_id;		/* 16 bytes */
	enum stream stream;
	uint32_t cpu;
	uint64_t begin, end;		/* guest clock ticks */
};

/* Called from inside decode_feed, in the stream's order. Pointers are good for the call only. */
struct decode_sink {
	void *context;
	/* A new epoch: another boot id, seen in two packets running, or the same one put back. */
	void (*boot)(void *context, const uint8_t *boot_id);
	void (*packet)(void *context, const struct packet *packet);	/* before its events */
	/*
	 * Its events of known kinds, whole, in order, 1 to DECODE_EVENTS of them: enough that the
	 * memory which one of them needs can be fetched while others are handled.
	 */
	void (*events)(void *context, const struct event *events, size_t count);
	/* After each packet: false holds the decoder there, until it is fed again. NULL: never. */
	bool (*more)(void *context);
};

/*
 * The books of one stream on one CPU, in events, since this epoch's first packet of it:
 * taken = earlier + received + lost, exactly, at each packet; taken is what the guest says. A bad
 * event counts as lost, an unknown one as received. What contradicts the received is corrected.
 */
struct books {
	uint64_t received, lost;
	uint64_t earlier;		/* taken before we listened: not counted as lost */
	uint64_t earlier_lost;		/* of these, dropped by the guest */
	uint64_t packets, missing_packets;
};

struct decode_counts {
	uint64_t bytes, skipped_bytes;
	uint64_t resyncs;		/* packets found after skipped bytes */
	uint64_t unknown_events, bad_events;
};

struct decode *decode_new(const struct decode_sink *sink);	/* `more` alone may be NULL */
void decode_free(struct decode *decode);

/*
 * How many of the bytes were taken: all, unless the sink has held it. Held: whole packets may wait
 * inside; the next call goes on with them, be it without bytes.
 */
size_t decode_feed(struct decode *decode, const void *bytes, size_t size);
bool decode_held(const struct decode *decode);

/* What comes next begins a new epoch, whatever boot it is of. */
void decode_forget(struct decode *decode);

/* The connection was cut: a half-received packet is dropped and counted as skipped. */
void decode_cut(struct decode *decode);

struct books decode_books(const struct decode *decode, enum stream stream, uint32_t cpu);
struct books decode_books_all(const struct decode *decode, enum stream stream);
struct decode_counts decode_counts(const struct decode *decode);

#endif
