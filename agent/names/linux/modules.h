/* SPDX-License-Identifier: MIT */
/*
 * Reads the list of modules in the memory of a running Linux kernel. The list may change while it is read, and its
 * contents are hostile: what makes no sense is left out, and each walk ends. Addresses are run addresses.
 */
#ifndef MODULES_H
#define MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "orc.h"
#include "walk.h"

struct budget;
struct code_list_layout;
struct kernel_layout;
struct list_place;
struct walked_memory;

enum { MODULES_MAX = 4096, MODULE_PARTS = 8, MODULE_NAME_MAX = 63, MODULE_SYMBOLS_MAX = 1 << 17 };

struct module_part {
	uint64_t address;
	uint32_t size;
};

struct kernel_module {
	uint64_t at;			/* the address of its struct module */
	uint32_t count;			/* of `parts` */
	struct module_part parts[MODULE_PARTS];	/* its memory, without parts that are empty */
	char name[MODULE_NAME_MAX + 1];	/* any bytes */
};

struct module_symbol {
	uint64_t address, size;		/* size 0: unknown */
	char type;			/* as nm has it */
	const char *name;		/* any bytes; until the visit is over */
};

struct module_visitor {
	/* Each is called for one module or symbol. False ends the turn: the next one begins with the same again. */
	bool (*module)(void *context, const struct kernel_module *module);
	bool (*symbol)(void *context, const struct module_symbol *symbol);
	void *context;
};

/*
 * `head`: the run address of `modules`. WALK_FAILED: the list does not lead back to its head. What it has was visited.
 */
enum walk modules_visit(const struct kernel_layout *layout, uint64_t head, const struct walked_memory *memory,
	struct list_place *place, const struct module_visitor *visitor);

/* Visits the module's symbols of code. `*passed`: how many symbols earlier turns have passed; 0 at first. */
enum walk module_symbols_visit(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct walked_memory *memory, uint32_t *passed, const struct module_visitor *visitor);

/*
 * Visits a list of generated code, each piece as a symbol. `head`: the list's run address. A piece may have the name
 * "".
 */
enum walk modules_code_visit(const struct code_list_layout *layout, uint64_t head, const struct walked_memory *memory,
	struct list_place *place, const struct module_visitor *visitor);

/* Reads the module's ORC tables, in one turn. NULL: it has none, they cannot be read, or there is no memory. */
struct orc *module_orc(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct walked_memory *memory, enum orc_format format, struct budget *budget);

/* ---- their tables ---- */

/* The modules of a running Linux kernel as they were last seen, with the ORC tables of each. One owner. */

struct linux_kernel;
struct module_tables;

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
