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

struct budget;
struct code_list_layout;
struct kernel_layout;
struct memory_reader;

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
	/* Each is called for one module or symbol. False ends the visit. */
	bool (*module)(void *context, const struct kernel_module *module);
	bool (*symbol)(void *context, const struct module_symbol *symbol);
	void *context;
};

/* `head`: the run address of `modules`. False: the list does not lead back to its head. What it has was visited. */
bool modules_visit(const struct kernel_layout *layout, uint64_t head, const struct memory_reader *memory,
	const struct module_visitor *visitor);

/* Visits the module's symbols of code. False: they could not be read to their end. */
bool module_symbols_visit(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct memory_reader *memory, const struct module_visitor *visitor);

/*
 * Visits a list of generated code, each piece as a symbol. `head`: the list's run address. A piece may have the name
 * "".
 */
bool code_list_visit(const struct code_list_layout *layout, uint64_t head, const struct memory_reader *memory,
	const struct module_visitor *visitor);

/* Reads the module's ORC tables. NULL: it has none, they cannot be read, or there is no memory. */
struct orc *module_orc(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct memory_reader *memory, enum orc_format format, struct budget *budget);

#endif
