#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "keys.h"

const struct keys keys_standard = { .rows = {
	{ { KEYS_F(1), '?' }, ACTION_HELP, "help", "Help", "this help, and back" },
	{ { KEYS_UP, 'k' }, ACTION_UP, "up", NULL, "one row up" },
	{ { KEYS_DOWN, 'j' }, ACTION_DOWN, "down", NULL,
		"one row down; the cursor follows its function" },
	{ { KEYS_LEFT, 'h' }, ACTION_LEFT, "left", NULL, "the detail line, its beginning" },
	{ { KEYS_RIGHT, 'l' }, ACTION_RIGHT, "right", NULL, "the detail line, further right" },
	{ { KEYS_PAGE_UP }, ACTION_PAGE_UP, "page-up", NULL, "one page up" },
	{ { KEYS_PAGE_DOWN }, ACTION_PAGE_DOWN, "page-down", NULL, "one page down" },
	{ { KEYS_HOME, 'g' }, ACTION_TOP, "top", NULL, "first row; the cursor stays at the top" },
	{ { KEYS_END, 'G' }, ACTION_BOTTOM, "bottom", NULL, "last row" },
	{ { KEYS_F(3), '/' }, ACTION_SEARCH, "search", "Search", "search a name as you type" },
	{ { 'n' }, ACTION_NEXT, "next", NULL, "next match" },
	{ { 'N' }, ACTION_PREVIOUS, "previous", NULL, "previous match" },
	{ { KEYS_F(4), '\\' }, ACTION_FILTER, "filter", "Filter",
		"show only: NAME cpu:N thread:NAME mode:kernel|user|idle" },
	{ { KEYS_F(6) }, ACTION_SORT, "sort", "Sort", "sort by the next column" },
	{ { '<' }, ACTION_SORT_LEFT, "sort-left", NULL, "sort by the column to the left" },
	{ { '>' }, ACTION_SORT_RIGHT, "sort-right", NULL, "sort by the column to the right" },
	{ { 'I' }, ACTION_INVERT, "invert", NULL, "invert the order" },
	{ { KEYS_F(7), 'w' }, ACTION_WINDOW, "window", "Window",
		"the last 1 s, 10 s, 60 s, or all" },
	{ { KEYS_F(9), 's' }, ACTION_SNAPSHOT, "snapshot", "Snapshot",
		"save the stacks to a folded file" },
	{ { ' ' }, ACTION_RUN, "profile", "On/off", "start or stop profiling in the guest" },
	{ { 'q', KEYS_F(10), KEYS_CTRL('C') }, ACTION_QUIT, "quit", "Quit", "leave ktop" },
	{ { 'z' }, ACTION_ZERO, "zero", "Zero", "count from now on; back takes all again" },
	{ { 'Z' }, ACTION_FREEZE, "freeze", "Freeze",
		"hold the picture, and let go; collection goes on" },
	{ { KEYS_ESCAPE, KEYS_BACKSPACE }, ACTION_BACK, "back", NULL,
		"back; takes off the filter, then the zero" },
	{ { KEYS_CTRL('L') }, ACTION_REDRAW, "redraw", NULL, "draw the screen anew" },
	{ { KEYS_CTRL('Z') }, ACTION_SUSPEND, "suspend", NULL,
		"suspend ktop; `fg` brings it back" },
} };

enum action keys_action(const struct keys *keys, uint32_t code)
{
	if (code == 0)
		return ACTION_NONE;
	for (size_t i = 0; i < KEYS_ROWS; i++)
		for (int j = 0; j < KEYS_PER_ROW; j++)
			if (keys->rows[i].codes[j] == code)
				return keys->rows[i].action;
	return ACTION_NONE;
}

static const char *special_name(uint32_t code)
{
	static const struct { uint32_t code; const char *name; } names[] = {
		{ ' ', "SPACE" }, { KEYS_ENTER, "Enter" }, { KEYS_ESCAPE, "Esc" },
		{ KEYS_BACKSPACE, "Backspace" }, { KEYS_TAB, "Tab" },
		{ KEYS_UP, "Up" }, { KEYS_DOWN, "Down" },
		{ KEYS_LEFT, "Left" }, { KEYS_RIGHT, "Right" },
		{ KEYS_PAGE_UP, "PgUp" }, { KEYS_PAGE_DOWN, "PgDn" },
		{ KEYS_HOME, "Home" }, { KEYS_END, "End" },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code)
			return names[i].name;
	return NULL;
}

const char *keys_name(uint32_t code, char name[KEYS_NAME])
{
	const char *special = special_name(code);

	if (special)
		snprintf(name, KEYS_NAME, "%s", special);
	else if (code > KEYS_F0)
		snprintf(name, KEYS_NAME, "F%u", code - KEYS_F0);
	else if (code < ' ')
		snprintf(name, KEYS_NAME, "Ctrl-%c", (char)('@' + code));
	else
		snprintf(name, KEYS_NAME, "%c", code < 127 ? (char)code : '?');
	return name;
}

/* NULL: none is called so. */
static const struct key *row_of(const struct keys *keys, const char *name, size_t size)
{
	for (size_t i = 0; i < KEYS_ROWS; i++)
		if (strncmp(keys->rows[i].name, name, size) == 0 && !keys->rows[i].name[size])
			return &keys->rows[i];
	return NULL;
}

const char *keys_text(const struct keys *keys, const char *text, char filled[KEYS_TEXT])
{
	char name[KEYS_NAME];
	size_t used = 0;

	filled[0] = '\0';
	while (*text && used < KEYS_TEXT) {
		bool key = *text == '{';
		size_t size = key ? strcspn(++text, "}") : strcspn(text, "{");
		const struct key *row = key ? row_of(keys, text, size) : NULL;

		used += (size_t)snprintf(filled + used, KEYS_TEXT - used, "%.*s",
			row ? KEYS_NAME : (int)size,
			!row ? text : row->codes[0] ? keys_name(row->codes[0], name) : "(no key)");
		text += size + key;
	}
	return filled;
}
