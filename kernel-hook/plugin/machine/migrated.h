/* SPDX-License-Identifier: MIT */
/*
 * Finds fields of QEMU's CPU structure that QEMU does not show a debugger. For migration, QEMU has a description of the
 * structure, with the name and the offset of each field.
 */
#ifndef PLUGIN_MIGRATED_H
#define PLUGIN_MIGRATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qemu_cpu;
struct qemu_description;		/* VMStateDescription, include/migration/vmstate.h */

/* `name`: of the variable. NULL: this QEMU does not export it. */
const struct qemu_description *migrated_find(const char *name);

/* The offset of the field that has this name, and `size` bytes or is an array of such. False: there is none. */
bool migrated_place(const struct qemu_description *description, const char *field, size_t size, size_t *place);

#endif
