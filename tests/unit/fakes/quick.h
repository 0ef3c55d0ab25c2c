/* SPDX-License-Identifier: MIT */
#ifndef QUICK_H
#define QUICK_H

#include <stddef.h>
#include <stdlib.h>

/* `make unit-quick` sets QUICK: then a long test does a part of what it does in `make check`, one in `parts`. */
static inline size_t quick_part(size_t whole, size_t parts)
{
	return getenv("QUICK") ? whole / parts : whole;
}

#endif
