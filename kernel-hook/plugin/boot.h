/* SPDX-License-Identifier: MIT */
/*
 * The hook for this machine: a port (port.h) whose CPUs are QEMU's vCPUs. Each CPU's ring is written on the thread of
 * that vCPU. A thread of ours is the drainer. A reset of the machine is a new boot: the hook starts again with its
 * present rate, and profiles on if it was profiling.
 */
#ifndef PLUGIN_BOOT_H
#define PLUGIN_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/qemu.h"

struct plugin_socket;
struct vcpus;

struct boot_machine {
	const struct qemu *qemu;	/* public.c may stand in later: boot_anew() follows then */
	struct plugin_socket *socket;
	const char *arch;		/* QEMU's name of it */
	uint32_t cpus;			/* how many it may have */
	bool start;			/* samples are taken from the beginning on */
	int api;			/* version of QEMU's interface for plugins */
	void (*retranslate)(void);	/* on a CPU's thread: QEMU drops all translated code; then functions_take() */
};

/* Called once, before the CPUs exist. Returns them, for vcpus_add() and the like. NULL: no memory, or too many CPUs. */
struct vcpus *boot_prepare(const struct boot_machine *machine);

/* Any thread. Starts the drainer. False: its thread could not be started. */
bool boot_begin(void);

/* Any thread. Ends the drainer. What the host has not read yet is lost. */
void boot_end(void);

/* Any thread. The machine was reset, or is read in another way: the drainer begins a new boot soon. */
void boot_anew(void);

/* Any thread. One of the CPUs asks for `retranslate` soon, if that is due (functions.h). */
void boot_retranslate(void);

/* To the hook, this thread is that CPU's, until the next call. */
void boot_be_cpu(uint32_t index);

#endif
