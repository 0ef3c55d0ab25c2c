/* SPDX-License-Identifier: MIT */
/*
 * The machine by QEMU's interface for plugins alone, for a QEMU whose own functions cannot be had. Stand-ins take their
 * places in struct qemu. Needs version 4 of the interface: 9.2 and later have it.
 *
 * A CPU is called when it comes to the last instruction of a block of translated code. There each block looks at a
 * word of its CPU. The timer's thread sets that word, and the CPU clears it. The first instruction would be too late:
 * an interrupt that has come meanwhile is taken between two blocks, so the sample would be of the interrupt's entry.
 * A CPU that sleeps runs no block. QEMU tells that it sleeps, and the timer's thread makes the call in its place.
 */
#ifndef PLUGIN_PUBLIC_H
#define PLUGIN_PUBLIC_H

#include <stdbool.h>
#include <stdint.h>

struct qemu;
struct qemu_cpu;
struct qemu_plugin_info;
struct qemu_plugin_tb;
struct target;
struct target_state;

/*
 * Called once. Returns NULL, or what this QEMU lacks: the name of a function, or a text. The first call on a CPU comes
 * after public_block() was called for the block that the CPU runs.
 */
const char *public_prepare(const struct target *target, const struct qemu_plugin_info *info);

/* From now on these functions are the stand-ins. A clock, once found, stays; samples are due by the host's. */
void public_stand_in(struct qemu *qemu);

/* QEMU translates this block: it will look at its CPU's word. */
void public_block(struct qemu_plugin_tb *tb);

/* On the CPU's thread: QEMU tells that the CPU goes to sleep, or wakes up. */
void public_sleeps(uint64_t id, unsigned index);
void public_wakes(uint64_t id, unsigned index);

/* As debugger_read(). False also for a CPU that sleeps: its registers cannot be read. */
bool public_read(struct qemu_cpu *cpu, struct target_state *state);

#endif
