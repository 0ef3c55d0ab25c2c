/* SPDX-License-Identifier: MIT */
/*
 * What no debugger sees of QEMU's CPU, found by the description that QEMU makes of it for migration: each field has a
 * name there, and its place in the CPU.
 */
#ifndef PLUGIN_MIGRATED_H
#define PLUGIN_MIGRATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qemu_cpu;
struct qemu_description;		/* VMStateDescription, include/migration/vmstate.h */

/* By the name of the variable; NULL: this QEMU does not show it. */
const struct qemu_description *migrated_find(const char *name);

/* Where a field of this name, of `size` bytes or an array of such, lies in the CPU. False: there is none. */
bool migrated_place(const struct qemu_description *description, const char *field, size_t size, size_t *place);

#endif
