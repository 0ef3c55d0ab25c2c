#include <stdio.h>

#include "keys.h"

const struct keys keys_standard = { .rows = {
	{ { KEYS_F(1), '?' }, ACTION_HELP, "Help", "this help, and back" },
	{ { KEYS_UP, 'k' }, ACTION_UP, NULL, "one row up" },
	{ { KEYS_DOWN, 'j' }, ACTION_DOWN, NULL, "one row down; the cursor follows its function" },
	{ { KEYS_LEFT, 'h' }, ACTION_LEFT, NULL, "the detail line, its beginning" },
	{ { KEYS_RIGHT, 'l' }, ACTION_RIGHT, NULL, "the detail line, further right" },
	{ { KEYS_PAGE_UP }, ACTION_PAGE_UP, NULL, "one page up" },
	{ { KEYS_PAGE_DOWN }, ACTION_PAGE_DOWN, NULL, "one page down" },
	{ { KEYS_HOME, 'g' }, ACTION_TOP, NULL, "first row; the cursor stays at the top" },
	{ { KEYS_END, 'G' }, ACTION_BOTTOM, NULL, "last row" },
	{ { KEYS_F(3), '/' }, ACTION_SEARCH, "Search", "search a name as you type" },
	{ { 'n' }, ACTION_NEXT, NULL, "next match" },
	{ { 'N' }, ACTION_PREVIOUS, NULL, "previous match" },
	{ { KEYS_F(4), '\\' }, ACTION_FILTER, "Filter",
		"show only: NAME cpu:N thread:NAME mode:kernel|user|idle" },
	{ { KEYS_F(6) }, ACTION_SORT, "Sort", "sort by the next column" },
	{ { '<' }, ACTION_SORT_LEFT, NULL, "sort by the column to the left" },
	{ { '>' }, ACTION_SORT_RIGHT, NULL, "sort by the column to the right" },
	{ { 'I' }, ACTION_INVERT, NULL, "invert the order" },
	{ { KEYS_F(7), 'w' }, ACTION_WINDOW, "Window", "the last 1 s, 10 s, 60 s, or all" },
	{ { KEYS_F(9), 's' }, ACTION_SNAPSHOT, "Snapshot", "save the stacks to a folded file" },
	{ { ' ' }, ACTION_RUN, "On/off", "start or stop profiling in the guest" },
	{ { 'q', KEYS_F(10), KEYS_CTRL('C') }, ACTION_QUIT, "Quit", "leave ktop" },
	{ { 'z' }, ACTION_ZERO, "Zero", "count from now on; Esc takes all again" },
	{ { 'Z' }, ACTION_FREEZE, "Freeze", "hold the picture, and let go; collection goes on" },
	{ { KEYS_ESCAPE, KEYS_BACKSPACE }, ACTION_BACK, NULL, "back; takes off the filter, then the zero" },
	{ { KEYS_CTRL('L') }, ACTION_REDRAW, NULL, "draw the screen anew" },
	{ { KEYS_CTRL('Z') }, ACTION_SUSPEND, NULL, "suspend ktop; `fg` brings it back" },
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
