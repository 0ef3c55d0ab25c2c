/* SPDX-License-Identifier: MIT */
/* How a change since the baseline is written: "+7.10", "new +9.87", "gone -3.30"; "~+0.30" may be chance. */
#ifndef CHANGE_TEXT_H
#define CHANGE_TEXT_H

#include <stdint.h>

#include "agent/base/change.h"

enum { CHANGE_TEXT = 32, CHANGE_WIDTH = 12, CHANGE_NUMBER = 7 };	/* bytes; columns, with and without the word */

/*
 * In percentage points. Where `columns` are few, without the word; where they are fewer, with one decimal. A change of
 * a hundred points has a decimal less.
 */
const char *change_text(struct change change, int columns, char text[CHANGE_TEXT]);

uint8_t change_style(struct change change);	/* of the text */
uint8_t change_flame_style(struct change change);	/* of a flame's cell */

#endif
