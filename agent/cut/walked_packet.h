/* SPDX-License-Identifier: MIT */
/*
 * A packet of raw samples, with walked ones in their place: some twelfth of the bytes. A sample stays raw if names,
 * tables or files for it are not known yet: whoever reads the packet may know them. No event more, and none less: the
 * books stay as they are.
 */
#ifndef WALKED_PACKET_H
#define WALKED_PACKET_H

#include <stdint.h>

#include "agent/wire/decode.h"
#include "kernel-hook/wire.h"

struct epoch;

struct walked_packet {
	struct packet packet;		/* its bytes are these, or those of the packet that was given */
	uint8_t bytes[KTOP_PACKET_MAX];
};

/* `epoch`: the boot of the packet. Ingest thread. */
void walked_packet_make(struct walked_packet *walked, const struct packet *packet, struct epoch *epoch);

#endif
