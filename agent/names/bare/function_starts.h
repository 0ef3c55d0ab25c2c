/* SPDX-License-Identifier: MIT */
/*
 * Where functions begin in code that nothing names, by how control flows: a function is called; or it is behind code
 * that does not go on, and no jump leads to it from nearby. The bytes are hostile. The work is linear in their number.
 */
#ifndef FUNCTION_STARTS_H
#define FUNCTION_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

struct budget;

struct code_range {
	uint64_t address, end;
};

struct file_part {			/* a section that is loaded */
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
	bool code;
};

struct bare_file {
	enum arch_id arch;
	bool wide;			/* words have 8 bytes, not 4 */
	const struct file_part *parts;	/* in order of address; none overlaps another */
	size_t count;
	const struct code_range *known;	/* functions that are known, in order of address */
	size_t known_count;
};

/* Takes a function. False: no more is wanted. */
typedef bool function_starts_take(void *context, uint64_t address, uint64_t end);

/*
 * Finds the functions outside of those that are known. A function goes on to where the next one begins or is known, or
 * to a page of zeros: a copy of a file has that where nothing was copied. Finds none if it knows nothing of the CPU,
 * or if there is no memory: a byte for each byte of code, and a bit more.
 */
void function_starts_find(const struct bare_file *file, struct budget *budget, function_starts_take *take,
	void *context);

#endif
