/*
 * Bytes from the port to events. The only reader of the wire (with record.c). Every byte is hostile:
 * a damaged packet is skipped, the reader finds the next one by magic, boot id, sizes and the header
 * after it, and counts what it skipped.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct packet {
	const uint8_t *bytes;		/* the whole packet, as received */
	size_t size;
	const uint8_t *boot_id;		/* 16 bytes */
	enum stream stream;
	uint32_t cpu;
	uint64_t begin, end;		/* guest clock ticks */
};

/* Called in the order of the stream, from inside decode_feed. Pointers are good for the call only. */
struct decode_sink {
	void *context;
	void (*boot)(void *context, const uint8_t *boot_id);	/* a new epoch begins */
	void (*packet)(void *context, const struct packet *packet);	/* before its events */
	void (*event)(void *context, const struct event *event);
};

/*
 * The books of one stream on one CPU, in events, since this decoder first saw that stream:
 * taken = received + lost, exactly, at each packet.
 */
struct books {
	uint64_t received, lost;
	uint64_t earlier;		/* taken before we listened: not counted as lost */
	uint64_t packets, missing_packets;
};

struct decode_counts {
	uint64_t bytes, skipped_bytes, resyncs, unknown_events, bad_events;
};

struct decode *decode_new(const struct decode_sink *sink);	/* NULL: no memory */
void decode_free(struct decode *decode);

void decode_feed(struct decode *decode, const void *bytes, size_t size);

/* The connection was cut: a half-received packet is dropped and counted as skipped. */
void decode_cut(struct decode *decode);

struct books decode_books(const struct decode *decode, enum stream stream, uint32_t cpu);
struct books decode_books_all(const struct decode *decode, enum stream stream);
struct decode_counts decode_counts(const struct decode *decode);

#endif
