/* SPDX-License-Identifier: MIT */
/* Names of snapshot files. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stddef.h>
#include <time.h>

/*
 * "ktop-KERNEL-20260101-120000.folded" (local time) in the current folder; the same for all of
 * one second. The kernel's name comes from the guest: only letters, digits, '.',
 * '_' and '-' of it are used. Returns `name`.
 */
enum { SNAPSHOT_NAME = 160 };
const char *snapshot_name(const char *kernel, time_t when, const char *ending,
	char name[SNAPSHOT_NAME]);

#endif
