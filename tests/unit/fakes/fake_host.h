/* SPDX-License-Identifier: MIT */
/*
 * The host's side of a transport, for the hook's tests. It takes packets apart without the agent's decoder, asserts
 * what wire.h promises of each packet, and keeps the books as a reader would.
 */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel-hook/transport.h"
#include "kernel-hook/wire.h"

struct ktop;

struct fake_event {
	uint32_t stream, cpu;
	uint16_t id, size;
	uint64_t time;
	uint8_t payload[KTOP_STACKS_SAMPLE_MAX];
};

/* One stream of one CPU. */
struct fake_books {
	uint64_t received;		/* events */
	uint64_t sequence;		/* the next one, if no packet is lost */
	uint64_t end;			/* timestamp_end of the last packet */
	uint64_t sent;			/* events_before + events of the last packet */
	uint64_t discarded;
	uint32_t packets, empty;
};

struct fake_host {
	struct ktop_transport transport;	/* the first member */
	bool connected;
	bool deaf;			/* it loses what is sent */
	uint32_t connections;
	uint32_t free;			/* send buffers that are free */
	void (*hear)(void *context, const void *bytes, size_t size);	/* gets what comes, too; NULL: nobody does */
	void *context;
	const char *input;		/* text that the hook is to receive */
	uint32_t chunk;			/* the most bytes of it at a time */

	uint8_t buffer[KTOP_PACKET_MAX];
	uint32_t buffers;		/* how many were sent */
	struct fake_books books[KTOP_STREAMS][8];
	struct fake_event *events;	/* all that were received, in order */
	uint32_t count, room;
};

struct fake_host *fake_host_new(void);
void fake_host_free(struct fake_host *host);

void fake_host_connect(struct fake_host *host);
void fake_host_drain(struct ktop *ktop);	/* until the hook has nothing more to do */

/* Forgets the events, and keeps the books. */
void fake_host_forget(struct fake_host *host);

/* The last event with this id, or NULL; how many there are with this id. */
const struct fake_event *fake_host_last(const struct fake_host *host, enum ktop_event id);
uint32_t fake_host_count(const struct fake_host *host, enum ktop_event id);

/* The text of list `index`. The lists stand behind `fixed` bytes of the payload, and all are lists of bytes. */
const char *fake_text(const struct fake_event *event, uint32_t fixed, uint32_t index);

#endif
