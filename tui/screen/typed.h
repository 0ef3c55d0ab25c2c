/* SPDX-License-Identifier: MIT */
/*
 * What the user has typed and clicked, and what has not acted yet. Keys act in their order. A key that acts on rows
 * waits until the rows are there that the keys before it have asked for (screen.h), and those behind it wait with it.
 * So keys that come in one burst do what they do one by one.
 */
#ifndef TYPED_H
#define TYPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/terminal/keys.h"

struct tabs;

enum { TYPED_MOST = 256 };

struct typed {				/* starts as { 0 } */
	struct input inputs[TYPED_MOST];
	size_t first, count;
};

void typed_put(struct typed *typed, const struct input *input);	/* after a typed_take that was false */

/* The first one may act. One that waits does so, too, if there is no room for another behind it. */
bool typed_is_ready(const struct typed *typed, struct tabs *tabs, uint64_t now);

/* Hands out the first one, for tabs_input. False: there is none, or it waits. */
bool typed_take(struct typed *typed, struct tabs *tabs, uint64_t now, struct input *input);

#endif
