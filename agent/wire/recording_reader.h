/* SPDX-License-Identifier: MIT */
/*
 * The packets of one boot of a recording, in the order in which they were recorded, as far as their times
 * tell: sorted by their end; of packets that end together, meta comes first. Keeps one packet header for
 * each file of a part, and some files open. Reading may wait for the disk.
 */
#ifndef RECORDING_READER_H
#define RECORDING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader;
struct recording;

/* Starts at the boot's first packet. The recording must outlive the reader. */
struct reader *reader_new(const struct recording *recording, size_t boot);
void reader_free(struct reader *reader);

/* False: there is no packet any more. True: `*end` is the end of the next one, in guest clock ticks. */
bool reader_peek(struct reader *reader, uint64_t *end);

/* Reads the next packet. Returns its size; 0: there is none, or it is larger than `room`. */
size_t reader_read(struct reader *reader, void *to, size_t room);

/* At the end of the boot: so many packets were there at first, and could not be read later. Before: 0. */
uint64_t reader_missing(const struct reader *reader);

/* Why packets that were there at first were not read, and what to do; the caller frees it. NULL: nothing failed. */
char *reader_failure(const struct reader *reader);

#endif
