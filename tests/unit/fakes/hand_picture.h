/* SPDX-License-Identifier: MIT */
/* A picture (picture.h) made by hand, always the same: 4 CPUs, eight functions, 10 s of samples. */
#ifndef HAND_PICTURE_H
#define HAND_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "picture.h"

struct symbols;

enum { HAND_FUNCTIONS = 8 };

struct symbols *hand_symbols(uint32_t functions[HAND_FUNCTIONS]);
struct picture *hand_picture(struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS]);

/* Gives it another number of CPUs, each busy in its own way. */
void hand_cpus(struct picture *picture, uint32_t count);

/* A kernel of functions with these names. `ids` gets their ids, in this order. */
struct symbols *hand_kernel(const char *const *names, size_t count, uint32_t *functions);

/* Gives it another table, of these functions, each with less time than the one before. */
void hand_rows(struct picture *picture, struct symbols *symbols, const uint32_t *functions,
	size_t count);

#endif
