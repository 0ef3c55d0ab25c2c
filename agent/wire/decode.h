/* SPDX-License-Identifier: MIT */
/*
 * Turns bytes from the port, in pieces of any size, into events. Every byte is hostile. A packet counts
 * only if its sizes add up to the byte and no other packet begins inside it. Otherwise the decoder goes on
 * to the next magic, and counts the bytes that it skipped.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

enum { DECODE_EVENTS = 16 };		/* the most in one call of the sink */

struct packet {
	const uint8_t *bytes;		/* the whole packet, as received */
	size_t size;
	const uint8_t *boot_id;		/* 16 bytes */
	enum stream stream;
	uint32_t cpu;
	uint64_t begin, end;		/* guest clock ticks */
	uint64_t lost;			/* events of its stream and CPU that are missing before it, or dropped since */
	uint32_t content;		/* bytes of its events */
	bool ahead;			/* see decode_ahead */
};

/* Called from inside decode_feed, in the order of the stream. Pointers are valid during the call only. */
struct decode_sink {
	void *context;
	/*
	 * A new epoch begins: two packets in a row had another boot id, or the same boot was put back to an
	 * earlier state.
	 */
	void (*boot)(void *context, const uint8_t *boot_id);
	void (*packet)(void *context, const struct packet *packet);	/* before its events */
	/*
	 * The packet's events of known kinds, whole and in order, 1 to DECODE_EVENTS of them. They come
	 * together so that the sink can fetch the memory for one of them while it handles another.
	 */
	void (*events)(void *context, const struct event *events, size_t count);
	/* Called after each packet. False: the decoder stops there until it is fed again. NULL: it never stops. */
	bool (*more)(void *context);
};

/*
 * The books of one stream on one CPU, in events, since the first packet that this epoch has of it. At each
 * packet, taken = earlier + received + lost, exactly; `taken` is what the guest says. A bad event counts as
 * lost, an event of an unknown kind as received. If the guest's numbers contradict what was received, they
 * are corrected, so that the sum holds.
 */
struct books {
	uint64_t received, lost;
	uint64_t earlier;		/* taken before ktop listened: not counted as lost */
	uint64_t earlier_lost;		/* of `earlier`: dropped by the guest */
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
 * Returns how many of the bytes were taken: all, unless the sink stopped the decoder. After a stop, whole
 * packets may still be in its buffer: the next call goes on with them, even if it brings no bytes.
 */
size_t decode_feed(struct decode *decode, const void *bytes, size_t size);
bool decode_held(const struct decode *decode);	/* the sink has stopped the last decode_feed */

/* Takes a descriptor of the present boot before its own packet comes: from a recording, for example. */
void decode_learn(struct decode *decode, const struct event *descriptor);

/* The next packet begins a new epoch, even if its boot id is the same. */
void decode_forget(struct decode *decode);

/*
 * While it is on, what is fed did not come from the guest: it was read where the guest has it, of this boot, and only
 * what comes behind decode_put. If the guest sends it after all, it is known, and left out.
 */
void decode_ahead(struct decode *decode, bool on);
const uint8_t *decode_boot(const struct decode *decode);	/* 16 bytes; NULL: no packet has come */
uint32_t decode_cpus(const struct decode *decode);	/* one more than the highest that sent samples or trace */
/* How many events of a lane the guest had put into packets, up to the last packet that came, dropped ones left out. */
uint64_t decode_put(const struct decode *decode, enum stream stream, uint32_t cpu);

/* The connection was cut: a half-received packet is dropped and counted as skipped. */
void decode_cut(struct decode *decode);

/* The books of one lane (one stream on one CPU), and their sums over all CPUs; of this epoch. */
struct books decode_books(const struct decode *decode, enum stream stream, uint32_t cpu);
struct books decode_books_all(const struct decode *decode, enum stream stream);
struct decode_counts decode_counts(const struct decode *decode);	/* since decode_new */

#endif
