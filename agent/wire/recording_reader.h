/* SPDX-License-Identifier: MIT */
/*
 * The packets of one boot of a recording in the order in which they were recorded, as far as their
 * times tell: by their end, of those that end together meta first. Keeps a packet's header a file, and
 * some files open. Reading may wait for the disk.
 */
#ifndef RECORDING_READER_H
#define RECORDING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader;
struct recording;

/* From the boot's beginning. The recording outlives it. */
struct reader *reader_new(const struct recording *recording, size_t boot);
void reader_free(struct reader *reader);

/* Is there a packet? Then its end, in guest clock ticks. */
bool reader_peek(struct reader *reader, uint64_t *end);

/* The next packet, if it is no larger than the room; its size, or 0. */
size_t reader_read(struct reader *reader, void *to, size_t room);

#endif
