/* SPDX-License-Identifier: MIT */
#include "tui/terminal/theme.h"
#include "change_style.h"

uint8_t change_style(struct change change)
{
	return change.chance || change.share == 0 ? STYLE_DIM : change.share > 0 ? STYLE_MORE : STYLE_LESS;
}

/* From 2 points on, a change is large. */
uint8_t change_flame_style(struct change change)
{
	int large = change.share > 0.02 || change.share < -0.02;

	if (change.chance || change.share == 0)
		return STYLE_FLAME_SAME;
	return (uint8_t)((change.share > 0 ? STYLE_FLAME_MORE : STYLE_FLAME_LESS) + large);
}
