/* SPDX-License-Identifier: MIT */
/*
 * The colour of a function, decided by its name alone: it is the same in each view, in each run and on each machine.
 * Kernel, modules and programs each have colours of their own.
 */
#ifndef HUE_H
#define HUE_H

#include <stdint.h>

#include "agent/base/change.h"

struct function;

uint8_t hue_of_cell(const struct function *function);	/* of a flame */
uint8_t hue_of_name(const struct function *function);	/* of its name as text */

/* ---- the colours of a change since the baseline ---- */

uint8_t change_style(struct change change);	/* of the text (change.h) */
uint8_t change_flame_style(struct change change);	/* of a flame's cell */

#endif
