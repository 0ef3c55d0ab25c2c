/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/theme.h"
#include "remark_line.h"
#include "scope.h"

enum { ROWS_MOST = 2, TEXT = sizeof(((struct vitals *)0)->note) };

static const uint64_t turn_ns = 5 * NS_PER_SECOND;	/* guest time for which each remark is shown */

/* Copies the first remark of the note to `text`. Returns the rest of the note; NULL: there was no remark. */
static const char *next_remark(const char *note, char text[TEXT])
{
	size_t size = strcspn(note, VITALS_NOTES);

	memcpy(text, note, size);
	text[size] = '\0';
	return size ? note + size + strspn(note + size, VITALS_NOTES) : NULL;
}

/* Finds the remark with this number, or the last, among those that are not put away. Returns how many these are. */
static size_t find(const struct vitals *vitals, const struct scope *scope, size_t number,
	char found[TEXT])
{
	const char *at = vitals->note;
	char text[TEXT];
	size_t count = 0;

	found[0] = '\0';
	while ((at = next_remark(at, text))) {
		if (away_has(&scope->away, text))
			continue;
		if (count++ <= number)
			strcpy(found, text);
	}
	return count;
}

int remark_line_rows(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope)
{
	char text[TEXT];
	size_t count = find(vitals, scope, 0, text);
	int most = area.rows < ROWS_MOST ? area.rows : ROWS_MOST, rows = 0;

	for (size_t i = 0; i < count; i++) {
		int needed;

		find(vitals, scope, i, text);
		needed = canvas_rows(canvas, text, area.columns);
		rows = needed > rows ? needed : rows;
	}
	return rows < most ? rows : most;
}

int remark_line_draw(struct canvas *canvas, struct area area, const struct vitals *vitals,
	const struct scope *scope)
{
	char text[TEXT];
	size_t count = find(vitals, scope, 0, text);

	area.rows = remark_line_rows(canvas, area, vitals, scope);
	if (area.rows == 0)
		return 0;
	find(vitals, scope, vitals->now / turn_ns % count, text);
	canvas_wrap(canvas, area, STYLE_WARN, text);
	return area.rows;
}

bool remark_line_any(const struct vitals *vitals, const struct scope *scope)
{
	char text[TEXT];

	return find(vitals, scope, 0, text) != 0;
}

void remark_line_put_away(const struct vitals *vitals, const struct away *before, struct away *away)
{
	const char *at = vitals->note;
	char text[TEXT];

	while ((at = next_remark(at, text)))
		if (!before || away_has(before, text))
			away_put(away, text);
}
