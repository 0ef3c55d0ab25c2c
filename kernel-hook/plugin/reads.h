/* SPDX-License-Identifier: MIT */
/*
 * Pages of the guest's memory that the host has asked for. The drainer asks for them and sends them. They are read on
 * the thread of a CPU that was called for a sample anyway, a few at a time, and so many in a second at most: a CPU
 * waits for nobody. Only RAM and ROM are read: a device would act on a read.
 */
#ifndef PLUGIN_READS_H
#define PLUGIN_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/qemu.h"

/* The drainer. As struct ktop_memory (ktop.h) has them. */
bool reads_ask(bool physical, uint64_t address, uint32_t pages);
uint32_t reads_next(uint8_t *to);

/* The drainer, for a new boot: nothing is asked for any more. */
void reads_forget(void);

/* Any thread. True: pages wait to be read. */
bool reads_wanted(void);

/*
 * On a CPU's thread; `now` is in ns. `kernel`: the CPU is in its kernel, so a page that is not mapped does not exist.
 * While a program runs, the kernel's pages may not be mapped: then they are tried again later. True: there is something
 * to send.
 */
bool reads_serve(const struct qemu *qemu, struct qemu_cpu *cpu, bool kernel, uint64_t now);

#endif
