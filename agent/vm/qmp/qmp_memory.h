/* SPDX-License-Identifier: MIT */
/*
 * Reads a page of the guest's memory as its kernel sees it: a dialogue (qmp.h) with QEMU's monitor for people.
 * First QEMU tells where the machine has RAM, then where the page is (gva2gpa), and then its bytes (xp): only if it is
 * RAM, since to read a device may do harm. For x86-64: there QEMU's walk of the guest's page tables is safe. The
 * machine runs on meanwhile. What the guest and QEMU tell may be anything at all.
 */
#ifndef QMP_MEMORY_H
#define QMP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/vm/ram/ram_file.h"
#include "qmp.h"

enum {
	QMP_PAGE = 4096,
	QMP_MEMORY_CPUS = 16,		/* their page tables are tried: that of a program may lack the kernel */
};

struct qmp_memory {			/* starts zeroed */
	struct qmp_talk talk;
	bool mapped;			/* `map` is known: it stays from page to page */
	struct ram_map map;
	uint64_t address, physical;	/* of the page; the second is valid once a CPU has it */
	uint32_t cpu, cpus;		/* the one that is asked; how many the machine has */
	bool there;			/* at the end: `bytes` are the page's; false: it cannot be had */
	uint8_t bytes[QMP_PAGE];
};

/* `address`: a multiple of QMP_PAGE. */
void memory_begin(struct qmp_memory *memory, struct qmp *qmp, uint32_t cpus, uint64_t address, uint64_t now,
	int timeout_ms);
void memory_clear(struct qmp_memory *memory);	/* the map stays */

#endif
