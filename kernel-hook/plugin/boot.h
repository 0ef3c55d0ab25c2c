/* SPDX-License-Identifier: MIT */
/*
 * The hook of this machine, as a port of it: a CPU is a vCPU, its ring is written on that one's thread, and a thread
 * of ours drains. A reset of the machine is a new boot: the hook begins anew, and goes on as it was told.
 */
#ifndef PLUGIN_BOOT_H
#define PLUGIN_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu.h"

struct plugin_socket;
struct vcpus;

struct boot_machine {
	const struct qemu *qemu;
	struct plugin_socket *socket;
	const char *arch;
	uint32_t cpus;			/* at most */
};

/* Once. NULL: no memory, or too many CPUs. */
struct vcpus *boot_prepare(const struct boot_machine *machine);

/* Any thread. The drainer begins; false: there is no thread for it. It ends; what is not read yet is lost. */
bool boot_begin(void);
void boot_end(void);

/* Any thread. The machine has been reset. */
void boot_anew(void);

#endif
