/* SPDX-License-Identifier: MIT */
/*
 * Packets on their way into a recording, made small. Raw samples become walked ones, some twelfth of the bytes, and
 * pages of the guest's memory are packed. No event more, and none less: the books stay as they are.
 *
 * A packet is held back while names, tables or files for one of its samples are still to come, and so are all packets
 * of samples behind it. What is known is walked then, and what nobody knows stays raw: whoever reads it may know more.
 * Held packets have a bound; beyond it, the oldest ones go on as they are. Ingest thread.
 */
#ifndef RECORDED_PACKETS_H
#define RECORDED_PACKETS_H

#include <stdint.h>

struct epoch;
struct packet;
struct recorded_packets;

/* The packet, and its bytes, are valid during the call only. The packets of a lane come in their order. */
typedef void recorded_taker(void *context, const struct packet *packet);

struct recorded_packets *recorded_packets_new(recorded_taker *take, void *context);
void recorded_packets_free(struct recorded_packets *recorded);	/* without those that wait; NULL is allowed */

/* The next packet, before the epoch, the boot that it is of, takes its events. With another epoch, all go on first. */
void recorded_packets_add(struct recorded_packets *recorded, const struct packet *packet, struct epoch *epoch);
void recorded_packets_flush(struct recorded_packets *recorded);	/* nothing more comes: all go on */

uint64_t recorded_packets_held(const struct recorded_packets *recorded);	/* events in them */

#endif
