/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tui/terminal/theme.h"
#include "change_text.h"

const char *change_text(struct change change, int columns, char text[CHANGE_TEXT])
{
	const char *word = change.appeared ? "new" : change.gone ? "gone" : "";
	int room = columns < CHANGE_NUMBER ? columns : CHANGE_NUMBER, decimals = columns < CHANGE_NUMBER ? 1 : 2;
	char number[CHANGE_TEXT - 8];

	do
		snprintf(number, sizeof(number), "%s%+.*f", change.chance ? "~" : "", decimals, 100 * change.share);
	while ((int)strlen(number) > room && decimals--);
	if (columns < CHANGE_WIDTH || !*word)
		snprintf(text, CHANGE_TEXT, "%s", number);
	else
		snprintf(text, CHANGE_TEXT, "%s %*s", word, CHANGE_NUMBER, number);
	return text;
}

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
