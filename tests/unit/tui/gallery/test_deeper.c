/* SPDX-License-Identifier: MIT */
/*
 * Enter on any row of any view goes somewhere, or says why it does not; and the way back leads to the same screen. In
 * each state of the gallery that changes what rows there are.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fakes/canvas_dump.h"
#include "tui/terminal/canvas.h"
#include "tui/terminal/keys.h"
#include "gallery.h"

enum { SECONDS = 12, ROWS = 10 };	/* of guest time; rows that are tried in a place */

static const struct state {
	const char *name, *keys;
	size_t machines;
	bool replay;
} states[] = {
	{ "live", "", 1, false }, { "frozen", "Z", 1, false }, { "with a baseline", "\b", 1, false },
	{ "filtered", "\\cpu:1 mode:kernel\r", 1, false }, { "in a replay", "", 1, true },
	{ "over all", "", GALLERY_MACHINES, false }, { "over all, frozen", "Z", GALLERY_MACHINES, false },
};

static const struct spot {
	const char *name, *keys, *back;	/* pressed with the cursor on a function; and from an opened row */
	const char *leave;		/* afterwards */
	int steps;			/* `back` is pressed so often at most */
} spots[] = {
	{ "Functions", "", "\x1b", "", 1 },
	{ "by line", "B", "\x1b", "BBBBBBB", 1 }, { "by file", "BB", "\x1b", "BBBBBB", 1 },
	{ "by object", "BBB", "\x1b", "BBBBB", 1 }, { "by process", "BBBB", "\x1b", "BBBB", 1 },
	{ "by thread", "BBBBB", "\x1b", "BBB", 1 }, { "by CPU", "BBBBBB", "\x1b", "BB", 1 },
	{ "by mode", "BBBBBBB", "\x1b", "B", 1 },
	{ "a function's page", "\r", "\x1b", "\x1b", 1 },
	{ "callers and callees", "x", "\r", "\x1b", 1 },
	{ "Tree", "2|g", "\r", "1", 1 }, { "Tree, bottom-up", "2b|g", "\r", "b1", 1 },
	{ "Flame", "3", "\x1b", "1", GALLERY_DEPTH },
	{ "Threads", "5|g", "\x1b", "1", 1 }, { "processes", "5B|g", "\x1b", "B1", 1 },
	{ "Annotate", "6|g", "\x1b", "1", 1 }, { "instructions", "6a|g", "\x1b", "aa1", 1 },
	{ "source lines", "6aa|g", "\x1b", "a1", 1 },
};

/* The row of names, and the view. Above are remarks that take turns; below are messages, and a time line of its own. */
static char *seen(const struct gallery *gallery)
{
	char *text = canvas_dump(gallery->canvas), *at = text;

	for (int row = 0; row < gallery->canvas->rows - 3; row++)
		at = strchr(at, '\n') + 1;
	*at = '\0';
	at = strstr(text, "\n 1 Functions");
	at = at ? at : strstr(text, "\n 1Functions");	/* where a way stands beside */
	assert_non_null(at);
	memmove(text, at, strlen(at) + 1);
	return text;
}

static bool says(const struct gallery *gallery, const char *what)
{
	char *text = canvas_dump(gallery->canvas);
	bool found = strstr(text, what);

	free(text);
	return found;
}

static void fault(const struct state *state, const struct spot *spot, int row, const char *what, const char *before,
	const char *after)
{
	fprintf(stderr, "%s\n%s", before, after);
	fail_msg("%s, %s, row %d: %s", spot->name, state->name, row, what);
}

/* With the cursor on a row. */
static void enter(struct gallery *gallery, const struct state *state, const struct spot *spot, int row)
{
	char *before = seen(gallery), *after, *back;
	bool same, refused;

	gallery_press(gallery, KEYS_ENTER);
	refused = says(gallery, "not opened: ");
	gallery_settle(gallery);
	after = seen(gallery);
	same = strcmp(before, after) == 0;
	if (same && !refused)
		fault(state, spot, row, "Enter does nothing, and says nothing", before, after);
	if (!same && refused)
		fault(state, spot, row, "Enter refuses, and goes somewhere", before, after);
	back = seen(gallery);
	for (int i = 0; i < spot->steps && strcmp(before, back) != 0; i++) {
		gallery_type(gallery, spot->back);
		free(back);
		back = seen(gallery);
	}
	if (strcmp(before, back) != 0)
		fault(state, spot, row, "the way back leads elsewhere", before, back);
	free(before);
	free(after);
	free(back);
}

static void test_enter_on_each_row(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		struct gallery *gallery = gallery_new(states[i].machines, states[i].replay);

		gallery_run(gallery, SECONDS);
		gallery_settle(gallery);
		gallery_type(gallery, states[i].keys);
		for (size_t k = 0; k < sizeof(spots) / sizeof(*spots); k++) {
			gallery_type(gallery, "1/take_lock\r\x1b");
			gallery_type(gallery, spots[k].keys);
			for (int row = 0; row < ROWS; row++) {
				enter(gallery, &states[i], &spots[k], row);
				gallery_type(gallery, "j");
			}
			gallery_type(gallery, spots[k].leave);
		}
		gallery_free(gallery);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enter_on_each_row),
	};

	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
