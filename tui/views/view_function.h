/* SPDX-License-Identifier: MIT */
/*
 * A function's page: its callers and callees as whole chains, who runs it, on which CPUs, its hot lines, its trend. The
 * page is about the function that was chosen last (`choose`).
 */
#ifndef VIEW_FUNCTION_H
#define VIEW_FUNCTION_H

#include "tui/frame/view.h"

extern const struct view view_function;

#endif
