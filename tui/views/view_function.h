/* SPDX-License-Identifier: MIT */
/*
 * A function's page: its callers and callees as whole chains, who runs it, on which CPUs, its hot lines, its trend. The
 * page is about the function that was chosen last (`choose`).
 */
#ifndef VIEW_FUNCTION_H
#define VIEW_FUNCTION_H

#include <stdint.h>

#include "tui/frame/view.h"

extern const struct view view_function;

/* Adds the way to the page from which a step into another view was made. `row`: as `open` gave it. */
void view_function_way(const void *self, uint64_t row, struct view_way *way);

#endif
