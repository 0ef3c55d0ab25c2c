/* SPDX-License-Identifier: MIT */
/* The colours of a change since the baseline. */
#ifndef CHANGE_STYLE_H
#define CHANGE_STYLE_H

#include <stdint.h>

#include "agent/base/change.h"

uint8_t change_style(struct change change);	/* of the text (change_text.h) */
uint8_t change_flame_style(struct change change);	/* of a flame's cell */

#endif
