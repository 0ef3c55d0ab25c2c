/* SPDX-License-Identifier: MIT */
/*
 * Builds the bytes that a hook would send, for tests of their readers. Keeps sequence numbers and the counts of events
 * and of discarded events as a real hook does.
 */
#ifndef PACKETS_H
#define PACKETS_H

#include <stddef.h>
#include <stdint.h>

#include "kernel-hook/wire.h"

enum { PACKETS_CPUS = 256, BODY_MAX = 8192 };

/* The payload of one event. */
struct body {
	size_t size;
	uint8_t bytes[BODY_MAX];
};

void body_fixed(struct body *body, const void *fields, size_t size);
void body_list(struct body *body, const void *elements, size_t count, size_t element_size);
void body_text(struct body *body, const char *text);

/* A valid payload of a known event, with random contents and lists of up to `list_max` elements. */
void body_random(struct body *body, uint16_t id, uint64_t *seed, size_t list_max);

/* xorshift64. The seed must not be 0. */
uint64_t random_next(uint64_t *seed);

struct packets_lane {
	uint64_t sequence, before, discarded;
};

struct packets {
	uint8_t *bytes;			/* all that was sent */
	size_t size, room;
	size_t open;			/* where the packet that is being built begins */
	uint64_t events;		/* how many are in it */
	uint8_t boot_id[KTOP_BOOT_ID];
	struct packets_lane lanes[KTOP_STREAMS][PACKETS_CPUS];
};

struct packets *packets_new(uint8_t boot);
void packets_free(struct packets *packets);

/* Begins a new boot, whose id is made of this byte. */
void packets_boot(struct packets *packets, uint8_t boot);

void packets_begin(struct packets *packets, uint32_t stream, uint32_t cpu, uint64_t begin);
void packets_event(struct packets *packets, uint64_t time, uint16_t id, const struct body *body);
void packets_end(struct packets *packets, uint64_t end);

void packets_raw(struct packets *packets, const void *bytes, size_t size);
void packets_discard(struct packets *packets, uint32_t stream, uint32_t cpu, uint64_t events);

#endif
