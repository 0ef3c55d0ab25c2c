/* SPDX-License-Identifier: MIT */
/* Puts into a sample set what is known of the code at an address: its functions, source lines and file. */
#ifndef SET_CODE_H
#define SET_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "sample_set.h"

struct node;
struct symbols;

struct set_code {
	struct sample_set *set;
	struct symbols *symbols;
	bool lines;			/* also source lines and inlined functions, as far as they have been read */
};

/* Each `function` below is an id among the symbols: at a node the one that all others there are inlined in. */
uint32_t set_code_function(const struct set_code *code, uint32_t function);

/* The file that a node's code is of, by the name that its function has of it; SET_NONE: it has none. */
uint32_t set_code_object(const struct set_code *code, const struct node *node, uint32_t function);

enum { SET_CODE_LINES = 64 };		/* functions at one node; the innermost are kept */

/*
 * The functions at a node, the innermost first, each with its line: that of the code, and of the others that of the
 * call of what is inlined in them. Returns how many.
 */
uint32_t set_code_lines(const struct set_code *code, const struct node *node, uint32_t function,
	struct set_line lines[SET_CODE_LINES]);

#endif
