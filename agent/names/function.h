/* SPDX-License-Identifier: MIT */
/* What is known of a function. Whoever makes one says how long its texts live. */
#ifndef FUNCTION_H
#define FUNCTION_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FUNCTION_NONE 0xffffffffu	/* no id of a function */

struct function {
	const char *name;		/* demangled, printable UTF-8: harmless to a terminal */
	const char *object;		/* "kernel", a module's or a program's name; "" if unknown */
	uint64_t address;		/* link address of its start; 0 if unknown */
	bool kernel;
	bool module;			/* with `kernel`: it is in a module */
	bool known;			/* false: it stands for no code of that name: [unknown], [idle] */
	bool inlined;			/* it stands for code that was put into other functions (symbols_inlined) */
};

/* It stands for code of which nobody knows the function. */
static inline bool function_is_unknown(const struct function *function)
{
	return !function->known && strcmp(function->name, "[unknown]") == 0;
}

/* Where a function of the kernel's own file begins, as in that file; 0: it is no such one, or that is not known. */
static inline uint64_t function_in_kernel(const struct function *function)
{
	return function->known && function->kernel && !function->module && !function->inlined ? function->address : 0;
}

/* The functions that the compiler put in line at an address, the outermost first. */
struct inlined {
	const uint32_t *functions;	/* ids */
	uint32_t count;
};

#endif
