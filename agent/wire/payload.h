/* SPDX-License-Identifier: MIT */
/*
 * The payload of one event, from the wire (kernel-hook/wire.h, the table) to the host's types. Used
 * by decode.c, metadata.c and recording.c.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

struct trace_kinds;

/* The stream to which the event belongs; STREAMS when neither this ktop nor the kinds know it. Kinds may be NULL. */
uint32_t payload_stream(const struct trace_kinds *kinds, uint16_t id);

/*
 * Reads the payload of event->id into the rest of the event, cpu and time excepted; texts, frames and
 * the fields of trace events stay where they are. False unless each field is there and in range, and no byte is left.
 */
bool payload_read(const struct trace_kinds *kinds, const void *bytes, size_t size,
	struct event *event);

#endif
