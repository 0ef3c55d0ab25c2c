/* SPDX-License-Identifier: MIT */
/* The modules of a running Linux kernel as they were last seen, with the ORC tables of each. One owner. */
#ifndef MODULE_TABLES_H
#define MODULE_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "modules.h"

struct budget;
struct linux_kernel;
struct module_tables;

struct module_tables *module_tables_new(struct budget *budget);
void module_tables_free(struct module_tables *tables);	/* NULL is allowed */

/*
 * Reads the list anew. The visitor is given those that are new, with their symbols; one that was there at the last
 * time, at the same place and by the same name, is not read again. One whose memory is still on its way
 * (memory_reader.h) is left to the next time. Those that have gone lose their tables. False: the
 * list could not be read to its end, and what was known stays as it is, beside what is new.
 */
bool module_tables_read(struct module_tables *tables, const struct linux_kernel *kernel, uint64_t slide,
	const struct memory_reader *memory, const struct module_visitor *visitor);

/* What they say of a module's code at a run address. False: none of them knows it. */
bool module_tables_find(const struct module_tables *tables, uint64_t address, struct orc_entry *entry);

uint32_t module_tables_count(const struct module_tables *tables);

#endif
