/* SPDX-License-Identifier: MIT */
/*
 * A list of events: those that came out of a decoder, or those that should. It keeps a hash of each payload. For the
 * hash, a decoded event is written back as bytes of the wire.
 */
#ifndef DECODE_LOG_H
#define DECODE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-hook/wire.h"

struct body;

enum { LOG_MAX = 20000 };

struct entry {
	uint32_t cpu, size;
	uint64_t time, hash;		/* of the payload */
	uint16_t id;
};

struct log {
	size_t count, boots, packets;
	bool hold;			/* stops the decoder after each packet */
	uint64_t last_packet_end;
	uint8_t boot_id[KTOP_BOOT_ID];
	struct entry entries[LOG_MAX];
};

uint64_t log_hash(const uint8_t *bytes, size_t size);

void log_add(struct log *log, uint32_t cpu, uint64_t time, uint16_t id,
	const struct body *body);

/* Compares the events alone. */
bool log_same(const struct log *a, const struct log *b);

/* Empties the log, and makes a decoder that fills it. */
struct decode *log_decode(struct log *log);

#endif
