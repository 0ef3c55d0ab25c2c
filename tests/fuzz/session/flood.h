/* SPDX-License-Identifier: MIT */
/*
 * From a few bytes of input, makes floods of events that a hostile guest may send. Their fields run through patterns.
 * Sequence numbers and clocks are right, so that ktop believes the guest; nothing else has to make sense.
 */
#ifndef FLOOD_H
#define FLOOD_H

#include <stddef.h>
#include <stdint.h>

#include "kernel-hook/wire.h"

struct fuzz_input;

struct flood {
	uint8_t *bytes;			/* all packets so far */
	size_t size, room;
	size_t open;			/* where the packet that is being made begins */
	uint8_t boot_id[KTOP_BOOT_ID];
	uint32_t boots;
	uint64_t clock, sequence;
	uint32_t stream, cpu;		/* of the next packet */
};

enum flood_kind {
	FLOOD_BOOT, FLOOD_REWIND, FLOOD_JUMP, FLOOD_FACTS, FLOOD_STATUS, FLOOD_SYMBOLS, FLOOD_OBJECTS,
	FLOOD_NAMES, FLOOD_SAMPLES, FLOOD_CPUS, FLOOD_RANDOM, FLOOD_EVENT, FLOOD_BYTES, FLOOD_KINDS
};

/*
 * Reads from the input what the kind takes, and appends at most `most` events to flood->bytes. The kinds take:
 *
 * number:  u16, shift: u16 << shift
 * walk:    start, step, modulus, each a number: the k-th is start + (k % modulus) * step
 * boot:    whether the second packet follows at once; it makes ktop believe the boot
 * jump:    number of ticks
 * facts:   number: Hz; u8: CPUs; text: anchor; u8: its address / 16
 * status:  count, sampler, CPU (a walk)
 * symbols: count, address (walk), size (walk), text
 * objects: count, process, start, size (walks), u8: bits, 1: with build-ids, 2: names that differ; text
 * names:   count, id, process (walks), u8: bits, 1: processes, 2: names that differ; text
 * samples: count, CPU, process, thread, frame, ticks (walks), u8: frames, u8: mode
 * CPUs:    count, CPU (walk)
 * random:  count, u8: seed, u8: list sizes; makes valid events of any kind
 * event:   id, advance, bytes of payload as a text
 * bytes:   a text, which is sent unchanged
 * text:    u8: size, then the bytes
 */
void flood_add(struct flood *flood, enum flood_kind kind, struct fuzz_input *input, uint32_t most);

#endif
