/* SPDX-License-Identifier: MIT */
/* The modules of a running Linux kernel as they were last seen, with the ORC tables of each. One owner. */
#ifndef MODULE_TABLES_H
#define MODULE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "modules.h"

struct budget;
struct linux_kernel;
struct list_place;
struct module_tables;
struct walked_memory;

struct module_tables *module_tables_new(struct budget *budget);
void module_tables_free(struct module_tables *tables);	/* NULL is allowed */

/*
 * Reads the kernel's list of modules again, in turns (walk.h). The visitor gets the new modules, with their symbols. A
 * module that was in the list the last time, at the same place and by the same name, is not read again. If a module's
 * memory is still on its way (memory_reader.h), the next walk reads it. A module that has gone loses its tables.
 * WALK_FAILED: the list could not be read to its end. New modules are then kept, and no module loses its tables.
 */
enum walk module_tables_read(struct module_tables *tables, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory, struct list_place *place, const struct module_visitor *visitor);

/* The ORC entry for a run address in a module's code. False: no module has one. */
bool module_tables_find(const struct module_tables *tables, uint64_t address, struct orc_entry *entry);

#endif
