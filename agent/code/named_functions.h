/* SPDX-License-Identifier: MIT */
/*
 * The functions that have a tree_name (agent/query/tree/tree.h). There may be several, such as those of a program that
 * is mapped at several places. Functions are only added, so each is looked at once. One owner.
 */
#ifndef NAMED_FUNCTIONS_H
#define NAMED_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct symbols;

enum { NAMED_FUNCTIONS_MAX = 16, NAMED_KERNEL = 64 };

struct named_functions {
	uint64_t name;			/* 0: of none */
	char kernel[NAMED_KERNEL];	/* see tree_name */
	size_t looked_at, count;
	uint32_t functions[NAMED_FUNCTIONS_MAX];
};

/* Goes on with the functions that are new; begins anew if the name is another one. */
void named_functions_find(struct named_functions *named, const struct symbols *symbols, uint64_t name,
	const char *kernel);

#endif
