/* SPDX-License-Identifier: MIT */
/* How a change since the baseline is written: "+7.10", "new +9.87", "gone -3.30"; "~+0.30" may be chance. */
#ifndef CHANGE_TEXT_H
#define CHANGE_TEXT_H

#include <stdio.h>
#include <string.h>

#include "change.h"

enum { CHANGE_TEXT = 32, CHANGE_WIDTH = 12, CHANGE_NUMBER = 7 };	/* bytes; columns, with and without the word */

/*
 * In percentage points. Where `columns` are few, without the word; where they are fewer, with one decimal. A change of
 * a hundred points has a decimal less.
 */
static inline const char *change_text(struct change change, int columns, char text[CHANGE_TEXT])
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

#endif
