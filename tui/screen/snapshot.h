/* SPDX-License-Identifier: MIT */
/* Names of snapshot files. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stddef.h>
#include <time.h>

/*
 * "ktop-KERNEL-20260101-120000.folded", in local time, in the current folder. Two snapshots in one second get the same
 * name here; the saver finds a free name for the second. The kernel's name comes from the guest: only its letters,
 * digits, '.', '_' and '-' are used. Returns `name`.
 */
enum { SNAPSHOT_NAME = 160 };
const char *snapshot_name(const char *kernel, time_t when, const char *ending,
	char name[SNAPSHOT_NAME]);

#endif
