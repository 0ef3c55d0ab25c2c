/* SPDX-License-Identifier: MIT */
/*
 * The modules of a Linux kernel that runs, by its own list of them in its memory. It may change while it is read, and
 * it may lie: what makes no sense is left out, and a walk has an end. Addresses are run addresses.
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
	uint64_t at;			/* of its struct module */
	uint32_t count;
	struct module_part parts[MODULE_PARTS];	/* its memory, without parts that are empty */
	char name[MODULE_NAME_MAX + 1];	/* any bytes */
};

struct module_symbol {
	uint64_t address, size;		/* size 0: unknown */
	char type;			/* as nm has it */
	const char *name;		/* any bytes; until the visit is over */
};

struct module_visitor {
	bool (*module)(void *context, const struct kernel_module *module);	/* false: no more */
	bool (*symbol)(void *context, const struct module_symbol *symbol);	/* likewise */
	void *context;
};

/* `head`: where `modules` runs. False: the list did not lead back to its head; what was found has been visited. */
bool modules_visit(const struct kernel_layout *layout, uint64_t head, const struct memory_reader *memory,
	const struct module_visitor *visitor);

/* Its symbols of code. False: they could not be read to their end. */
bool module_symbols_visit(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct memory_reader *memory, const struct module_visitor *visitor);

/* What a list of made code has, each as a symbol; one without a name has the name "". `head`: where the list runs. */
bool code_list_visit(const struct code_list_layout *layout, uint64_t head, const struct memory_reader *memory,
	const struct module_visitor *visitor);

/* Its ORC tables. NULL: it has none, they cannot be read, or there is no memory. */
struct orc *module_orc(const struct kernel_layout *layout, const struct kernel_module *module,
	const struct memory_reader *memory, enum orc_format format, struct budget *budget);

#endif
