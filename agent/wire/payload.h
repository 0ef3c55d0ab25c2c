/* SPDX-License-Identifier: MIT */
/*
 * Reads the payload of one event from the wire (the table of kernel-hook/wire.h) into the host's types.
 * Used by decode.c, metadata.c and recording.c.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct trace_kinds;

/*
 * Returns the stream that the event belongs to; STREAMS: neither this ktop nor `kinds` knows the id.
 * `kinds` may be NULL.
 */
uint32_t payload_stream(const struct trace_kinds *kinds, uint16_t id);

/* The event's name in kernel-hook/wire.h; "" if it has none there. */
const char *payload_name(uint16_t id);

/*
 * Reads the payload of event->id into *event, except cpu and time. Texts, frames and the fields of trace
 * events stay in `bytes`, and *event points there. True only if each field is there and in range, and no
 * byte is left.
 */
bool payload_read(const struct trace_kinds *kinds, const void *bytes, size_t size,
	struct event *event);

#endif
