/* SPDX-License-Identifier: MIT */
/*
 * ELF files that the user says are loaded into the guest's kernel, and at which addresses: a boot loader, firmware, a
 * second kernel, a module of a kernel that does not tell of it.
 */
#ifndef GIVEN_OBJECTS_H
#define GIVEN_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

struct given_objects;
struct symbols;

/*
 * `texts`: FILE@ADDRESS each, ended by NULL; the address is where the file's lowest byte lies in the guest. Reads the
 * heads of the files. NULL with `error` set.
 */
struct given_objects *given_objects_new(const char *const *texts, char **error);
void given_objects_free(struct given_objects *objects);

void given_objects_map(const struct given_objects *objects, struct symbols *symbols);	/* for a new boot */

#endif
