/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What a sampler of this port writes into the ring; it takes the place of the hook's header of that name. Of a program
 * it takes the registers and the bytes of its stack from the stack pointer on: few programs have frame pointers, and
 * the host has their files. With stack=0 it walks the program's stack by frame pointers.
 */
#ifndef KTOP_WRITE_SAMPLE_H
#define KTOP_WRITE_SAMPLE_H

#include <stdint.h>

#include "wire.h"

struct ktop_current;
struct ktop_regs;
struct ktop_wire_sample;

enum { KTOP_SAMPLE_EVENT = KTOP_EVENT_program_sample };

/* The most bytes of a sample's payload. Fixed by write_sample_init(). */
extern uint32_t write_sample_room;
#define KTOP_SAMPLE_ROOM write_sample_room

/* Thread, once, before ktop_init(). `stack`: bytes of a program's stack that a sample has at most; 0: none. */
void write_sample_init(uint32_t stack);

/* NMI or irq off, in ktop_tick() or ktop_overflow(). Writes a sample, and returns its size. `weight`: in periods. */
uint32_t ktop_write_sample(uint8_t *payload, const struct ktop_regs *regs, const struct ktop_current *now,
	uint32_t weight);

/* irq off, in a trace point. As the hook's; Linux' own unwinder knows where this CPU is, so `fp` is not used. */
uint32_t ktop_walk_here(uint64_t fp, struct ktop_wire_sample *sample, uint8_t *frames, uint32_t most);

#endif
