/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "keys.h"

const struct keys keys_standard = { .rows = {
	{ { KEYS_F(1), '?' }, ACTION_HELP, "help", "Help", "this help, and back" },
	{ { KEYS_F(2) }, ACTION_NEXT_VIEW, "view", "View", "the next view" },
	{ { '1' }, ACTION_FUNCTIONS, "functions", NULL, "Functions: where the time is spent" },
	{ { '2' }, ACTION_TREE, "tree", NULL, "Tree: who calls whom" },
	{ { '3' }, ACTION_FLAME, "flame", NULL, "Flame: the tree as cells, as wide as their shares" },
	{ { '4' }, ACTION_HEAT, "heat", NULL, "Heat: each second in parts, as bright as they were busy" },
	{ { '5' }, ACTION_THREADS, "threads", NULL, "Threads: which threads, or processes, spend it" },
	{ { '6' }, ACTION_ANNOTATE, "annotate", NULL, "Annotate: the function's lines and instructions" },
	{ { '7' }, ACTION_EVENTS, "events", NULL, "Events: how long system calls and interrupts took" },
	{ { '8' }, ACTION_TIMELINE, "timeline", NULL, "Timeline: what each CPU and each thread did, and when" },
	{ { '9' }, ACTION_MEMORY, "memory", NULL, "Memory: what was given out and never freed, by call site" },
	{ { '0' }, ACTION_CONSOLE, "console", NULL, "Console: what QEMU and its guest print; and typing to the guest" },
	{ { KEYS_UP, 'k' }, ACTION_UP, "up", NULL, "one row up" },
	{ { KEYS_DOWN, 'j' }, ACTION_DOWN, "down", NULL,
		"one row down; the cursor follows its function" },
	{ { KEYS_LEFT, 'h' }, ACTION_LEFT, "left", NULL, "to the left: the cell before; the detail line's beginning" },
	{ { KEYS_RIGHT, 'l' }, ACTION_RIGHT, "right", NULL, "to the right: the next cell; further in the detail line" },
	{ { KEYS_PAGE_UP }, ACTION_PAGE_UP, "page-up", NULL, "one page up" },
	{ { KEYS_PAGE_DOWN }, ACTION_PAGE_DOWN, "page-down", NULL, "one page down" },
	{ { KEYS_HOME, 'g' }, ACTION_TOP, "top", NULL, "first row; the cursor stays at the top" },
	{ { KEYS_END, 'G' }, ACTION_BOTTOM, "bottom", NULL, "last row" },
	{ { KEYS_F(3), '/' }, ACTION_SEARCH, "search", "Search", "search a name as you type" },
	{ { 'n' }, ACTION_NEXT, "next", NULL, "next match" },
	{ { 'N' }, ACTION_PREVIOUS, "previous", NULL, "previous match" },
	{ { KEYS_F(4), '\\' }, ACTION_FILTER, "filter", "Filter",
		"only " FILTER_KINDS },
	{ { KEYS_F(6) }, ACTION_SORT, "sort", NULL, "sort by the next column" },
	{ { '<' }, ACTION_SORT_LEFT, "sort-left", NULL, "sort by the column to the left" },
	{ { '>' }, ACTION_SORT_RIGHT, "sort-right", NULL, "sort by the column to the right" },
	{ { 'I' }, ACTION_INVERT, "invert", NULL, "invert the order" },
	{ { 'P' }, ACTION_SORT_CPU, "sort-cpu", NULL, "as in top: sort by CPU, which is SELF%, or CPU% of threads" },
	{ { 'T' }, ACTION_SORT_TIME, "sort-time", NULL,
		"by TOTAL%; in Heat, Threads, Events, of a dead guest: Timeline" },
	{ { 'B' }, ACTION_GROUP, "by", NULL,
		"by function, line, file, object, process, thread, comm, CPU or mode" },
	{ { KEYS_ENTER }, ACTION_OPEN, "open", NULL, "deeper: a function's page, a row's functions; fold; zoom" },
	{ { '+' }, ACTION_UNFOLD, "unfold", NULL, "unfold a row of the tree" },
	{ { '-' }, ACTION_FOLD, "fold", NULL, "fold it; if it is folded: to its parent" },
	{ { 'e' }, ACTION_HOT, "hot", NULL, "unfold the hot path from it on" },
	{ { 'E' }, ACTION_ALL, "all", NULL, "unfold all below it" },
	{ { 'b' }, ACTION_TURN, "bottom-up", NULL, "the tree from where time is spent, or from the roots" },
	{ { 'u' }, ACTION_FLIP, "flip", NULL, "turn the flame upside down" },
	{ { 'm' }, ACTION_RECURSION, "merge", NULL, "merge the depths of a function that calls itself" },
	{ { 'x' }, ACTION_AROUND, "around", NULL, "callers and callees of the function" },
	{ { 'a' }, ACTION_FORM, "form", NULL, "source lines with instructions, instructions, or source lines" },
	{ { 'H' }, ACTION_HOTTEST, "hottest", NULL, "the next hottest line of the function" },
	{ { 'W' }, ACTION_WAKER, "waker", NULL,
		"of a thread: to who holds its lock, or who woke it; again: on" },
	{ { 'i' }, ACTION_IDLE, "idle", NULL,
		"hide or show the row of idle time; shares do not change" },
	{ { 'd' }, ACTION_DISMISS, "dismiss", NULL, "hide the remarks until there are new ones" },
	{ { KEYS_F(7), 'w' }, ACTION_WINDOW, "window", "Window",
		"the last 1 s, 10 s, 60 s, or all" },
	{ { '[' }, ACTION_BEFORE, "window-back", NULL, "the window half its width back in time" },
	{ { ']' }, ACTION_AFTER, "window-on", NULL, "the window half its width on; at the end it is live" },
	{ { '{' }, ACTION_WIDEN, "widen", NULL, "a wider window" },
	{ { '}' }, ACTION_NARROW, "narrow", NULL, "a narrower window" },
	{ { '.' }, ACTION_LIVE, "live", NULL, "the window live again: it ends now" },
	{ { KEYS_F(9), 'S' }, ACTION_SAVE_AS, "save-as", "Snapshot",
		"save the stacks: a list of formats; again: in the marked one" },
	{ { 's' }, ACTION_SNAPSHOT, "snapshot", NULL, "save the stacks at once, in the format of the last time" },
	{ { ' ' }, ACTION_RUN, "profile", "On/off", "start or stop profiling, or the playing of a recording" },
	{ { 'M' }, ACTION_MARK, "mark", NULL, "mark a moment of the guest with a text, for Events and Timeline" },
	{ { 'L' }, ACTION_LATENCY, "latency", NULL,
		"how often and how long the function runs, in Events; again: it ends" },
	{ { 'K' }, ACTION_KEEP, "keep", NULL, "record what led up to now: the last 10 s, with all events" },
	{ { 'f' }, ACTION_FASTER, "faster", "Faster", "play twice as fast" },
	{ { 'F' }, ACTION_SLOWER, "slower", "Slower", "play half as fast" },
	{ { 'o' }, ACTION_STEP, "step", NULL, "pause, and a tenth of a second on" },
	{ { '(' }, ACTION_EARLIER, "earlier", NULL, "10 s back" },
	{ { ')' }, ACTION_LATER, "later", NULL, "10 s on" },
	{ { 't' }, ACTION_TIME, "time", "Time", "go to a time: 1:30, or +30 and -30 from here" },
	{ { 'r' }, ACTION_NEXT_BOOT, "next-boot", NULL, "the recording's next boot" },
	{ { 'R' }, ACTION_PREVIOUS_BOOT, "previous-boot", NULL, "the boot before" },
	{ { KEYS_TAB }, ACTION_NEXT_TAB, "next-tab", "Next", "the next machine's screen, or that of all" },
	{ { KEYS_BACK_TAB }, ACTION_PREVIOUS_TAB, "previous-tab", NULL, "the previous machine's screen" },
	{ { 'q', KEYS_F(10), KEYS_CTRL('C') }, ACTION_QUIT, "quit", "Quit", "leave ktop" },
	{ { 'z' }, ACTION_ZERO, "zero", "Zero", "count from now on; back counts all again" },
	{ { 'Z' }, ACTION_FREEZE, "freeze", "Freeze",
		"hold the screen still, or let it go; collection goes on" },
	{ { KEYS_F(8) }, ACTION_BASELINE, "baseline", "Baseline",
		"mark a baseline: shares show their change; again: it ends" },
	{ { KEYS_ESCAPE, KEYS_BACKSPACE }, ACTION_BACK, "back", NULL,
		"back: takes back a step, else the filter, else the zero" },
	{ { KEYS_CTRL('L') }, ACTION_REDRAW, "redraw", NULL, "redraw the screen" },
	{ { KEYS_CTRL('Z') }, ACTION_SUSPEND, "suspend", NULL,
		"suspend ktop; `fg` brings it back" },
} };

bool keys_of_replay(const struct key *row)
{
	return row->action >= ACTION_FASTER && row->action <= ACTION_PREVIOUS_BOOT;
}

bool keys_shown(const struct keys *keys, const struct key *row)
{
	bool tab = row->action == ACTION_NEXT_TAB || row->action == ACTION_PREVIOUS_TAB;

	return (keys->tabs || !tab) && (keys->console || row->action != ACTION_CONSOLE) &&
		(keys->replay || !keys_of_replay(row));
}

enum action keys_action(const struct keys *keys, uint32_t code)
{
	if (code == 0)
		return ACTION_NONE;
	for (size_t i = 0; i < KEYS_ROWS; i++)
		for (int j = 0; j < KEYS_PER_ROW; j++)
			if (keys->rows[i].codes[j] == code)
				return keys_of_replay(&keys->rows[i]) && !keys->replay ? ACTION_NONE :
					keys->rows[i].action;
	return ACTION_NONE;
}

static const struct { uint32_t code; const char *name; } specials[] = {
	{ ' ', "SPACE" }, { KEYS_ENTER, "Enter" }, { KEYS_ESCAPE, "Esc" },
	{ KEYS_BACKSPACE, "Backspace" }, { KEYS_TAB, "Tab" }, { KEYS_BACK_TAB, "Shift-Tab" },
	{ KEYS_UP, "Up" }, { KEYS_DOWN, "Down" }, { KEYS_LEFT, "Left" }, { KEYS_RIGHT, "Right" },
	{ KEYS_PAGE_UP, "PgUp" }, { KEYS_PAGE_DOWN, "PgDn" },
	{ KEYS_HOME, "Home" }, { KEYS_END, "End" },
};
enum { SPECIALS = sizeof(specials) / sizeof(*specials), F_KEYS = 12 };

static const char *special_name(uint32_t code)
{
	for (size_t i = 0; i < SPECIALS; i++)
		if (specials[i].code == code)
			return specials[i].name;
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

/* The row of the action with this name; KEYS_ROWS: there is none. */
static int row_named(const struct keys *keys, const char *name, size_t size)
{
	int row = 0;

	while (row < KEYS_ROWS && (strncmp(keys->rows[row].name, name, size) != 0 ||
			keys->rows[row].name[size]))
		row++;
	return row;
}

/* The name of the action's first key. */
static const char *first_name(const struct keys *keys, int row, char name[KEYS_NAME])
{
	uint32_t code = row < KEYS_ROWS ? keys->rows[row].codes[0] : 0;

	return code ? keys_name(code, name) : "(no key)";
}

uint32_t keys_code(const struct keys *keys, enum action action)
{
	for (int i = 0; i < KEYS_ROWS; i++)
		if (keys->rows[i].action == action)
			return keys->rows[i].codes[0];
	return 0;
}

void keys_first(const struct keys *keys, enum action action, char name[KEYS_NAME])
{
	uint32_t code = keys_code(keys, action);

	name[0] = '\0';
	if (code)
		keys_name(code, name);
}

const char *keys_text(const struct keys *keys, const char *text, char filled[KEYS_TEXT])
{
	char name[KEYS_NAME];
	size_t used = 0;

	filled[0] = '\0';
	while (*text && used < KEYS_TEXT) {
		bool key = *text == '{';
		size_t size = strcspn(text + key, key ? "}" : "{");

		used += (size_t)snprintf(filled + used, KEYS_TEXT - used, "%.*s",
			key ? KEYS_NAME : (int)size,
			key ? first_name(keys, row_named(keys, text + 1, size), name) : text);
		text += size + (key ? strlen("{}") : 0);
	}
	return filled;
}

/* The code of Ctrl and a letter; 0 for those that a terminal sends as Backspace (Ctrl-H) and Enter (Ctrl-J). */
static uint32_t control_code(int letter)
{
	return letter >= 'A' && letter <= 'Z' && letter != 'H' && letter != 'J' ?
		KEYS_CTRL((uint32_t)letter) : 0;
}

/* The key with this name, as keys_name gives it; 0: there is none. */
static uint32_t code_named(const char *name)
{
	char called[KEYS_NAME];

	for (size_t i = 0; i < SPECIALS; i++)
		if (strcasecmp(specials[i].name, name) == 0)
			return specials[i].code;
	for (uint32_t n = 1; n <= F_KEYS; n++)
		if (strcasecmp(keys_name(KEYS_F(n), called), name) == 0)
			return KEYS_F(n);
	if (strncasecmp(name, "Ctrl-", 5) == 0 && strlen(name) == 6)
		return control_code(toupper((unsigned char)name[5]));
	return name[0] > ' ' && name[0] < 127 && name[1] == '\0' ? (uint32_t)name[0] : 0;
}

/* Adds the key to the row, behind its others, and takes it from any other row. */
static void give(struct keys *keys, int row, uint32_t code)
{
	for (int i = 0; i < KEYS_ROWS; i++) {
		uint32_t *codes = keys->rows[i].codes;
		int kept = 0;

		for (int j = 0; j < KEYS_PER_ROW; j++)
			if (codes[j] != code)
				codes[kept++] = codes[j];
		while (kept < KEYS_PER_ROW)
			codes[kept++] = 0;
	}
	for (int i = 0; i < KEYS_PER_ROW; i++)
		if (keys->rows[row].codes[i] == 0) {
			keys->rows[row].codes[i] = code;
			return;
		}
}

bool keys_set(struct keys *keys, const char *name, char *const *words, char **error)
{
	struct keys set = *keys;
	int row = row_named(keys, name, strlen(name));
	bool none = strcmp(words[0], "none") == 0 && !words[1];

	if (row == KEYS_ROWS)
		return util_fail(error, "no such action; `ktop config` lists them");
	memset(set.rows[row].codes, 0, sizeof(set.rows[row].codes));
	for (int i = 0; words[i] && !none; i++) {
		uint32_t code = code_named(words[i]);

		if (i == KEYS_PER_ROW)
			return util_fail(error, "too many keys; give at most %d", KEYS_PER_ROW);
		if (code == 0)
			return util_fail(error, "%.40s: no such key; give a character, Ctrl-A, F1, "
				"or SPACE, Enter, Esc, Up, PgUp, Home and such", words[i]);
		give(&set, row, code);
	}
	*keys = set;
	return true;
}

void keys_write(const struct key *row, FILE *to)
{
	char name[KEYS_NAME];

	if (row->codes[0] == 0)
		fputs(" none", to);
	for (int i = 0; i < KEYS_PER_ROW && row->codes[i]; i++)
		fprintf(to, " %s", keys_name(row->codes[i], name));
}
