/* SPDX-License-Identifier: MIT */
/*
 * The payload of one event, from the wire (kernel-hook/wire.h, the table) to the host's types. Used
 * by decode.c and metadata.c.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

/* The stream to which the event belongs; STREAMS when this ktop does not know it. */
uint32_t payload_stream(uint16_t id);

/*
 * Reads the payload of event->id into the rest of the event, cpu and time excepted; texts and
 * frames stay where they are. False unless each field is there and in range, and no byte is left.
 */
bool payload_read(const void *bytes, size_t size, struct event *event);

#endif
