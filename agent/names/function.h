/* SPDX-License-Identifier: MIT */
/* What is known of a function: who makes one says how long its texts live. */
#ifndef FUNCTION_H
#define FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#define FUNCTION_NONE 0xffffffffu	/* no id of a function */

struct function {
	const char *name;		/* demangled, printable UTF-8: harmless to a terminal */
	const char *object;		/* "kernel", a program's name; "" when unknown */
	uint64_t address;		/* link address of its start; 0 when unknown */
	bool kernel;
	bool known;			/* false: [unknown] of that object or space */
	bool inlined;			/* the compiler put it into others: symbols_inlined alone has it */
};

/* Functions that the compiler put into another one at an address, the outermost first. */
struct inlined {
	const uint32_t *functions;	/* ids */
	uint32_t count;
};

#endif
