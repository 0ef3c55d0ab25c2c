/* SPDX-License-Identifier: MIT */
/*
 * Reads what a program sent to a terminal of type ktop-strict (tests/e2e/hostile), with ROWS rows of COLUMNS columns.
 * Allowed are the few sequences of this type, and characters that stand for themselves, each row within the screen.
 * Says where there is anything else.
 * Usage: harmless ROWS COLUMNS <LOG
 */
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/safe_canvas.h"

enum { LOG_MOST = 1 << 26 };

static struct {
	const char *at, *end, *begin;
	long rows, columns, column;
	bool full;			/* between smcup and rmcup */
	long characters, sequences;
} terminal;

static void fail(const char *what)
{
	const char *from = terminal.at - terminal.begin > 40 ? terminal.at - 40 : terminal.begin;

	printf("%s at byte %ld, behind ", what, (long)(terminal.at - terminal.begin));
	for (; from < terminal.end && from < terminal.at + 20; from++)
		printf(*from >= ' ' && *from <= '~' ? "%c" : "\\x%02x", (unsigned char)*from);
	printf("\n");
	exit(1);
}

/* Allowed are 38;5;N and 48;5;N for colours, and the attributes that the type has. */
static bool is_look(const char *text, size_t size)
{
	static const char *const looks[] = { "", "0", "1", "2", "4", "7", "39;49" };
	char copy[16] = "";
	unsigned ground, number;
	int used = 0;

	if (size >= sizeof(copy))
		return false;
	memcpy(copy, text, size);
	for (size_t i = 0; i < sizeof(looks) / sizeof(*looks); i++)
		if (strcmp(looks[i], copy) == 0)
			return true;
	return sscanf(copy, "%2u;5;%3u%n", &ground, &number, &used) == 2 && copy[used] == '\0' &&
		(ground == 38 || ground == 48) && number < 256;
}

static bool is_mode(const char *text, size_t size)
{
	static const char *const modes[] = {
		"?1049", "?25", "?2004", "?1006;1000", "?1000", "?1006"
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (strlen(modes[i]) == size && memcmp(modes[i], text, size) == 0)
			return true;
	return false;
}

static void move(const char *text)
{
	long row, column;
	int used = 0;

	if (sscanf(text, "%4ld;%4ld%n", &row, &column, &used) != 2 || text[used] != 'H' ||
		row < 1 || row > terminal.rows || column < 1 || column > terminal.columns)
		fail("a place that is not on the screen");
	terminal.column = column - 1;
}

/* terminal.at is just behind "ESC [". */
static void take_sequence(void)
{
	size_t size = strspn(terminal.at, "?0123456789;");
	char last = terminal.at[size];

	if (last == 'H')
		move(terminal.at);
	else if (last == 'm' ? !is_look(terminal.at, size) :
			last == 'h' || last == 'l' ? !is_mode(terminal.at, size) :
			(last != 'J' && last != 'K') || size > 0)
		fail("a sequence");
	if (strncmp(terminal.at, "?1049", 5) == 0)
		terminal.full = last == 'h';
	terminal.at += size + 1;
	terminal.sequences++;
}

static void take_character(void)
{
	uint32_t code;
	size_t size = util_utf8(terminal.at, (size_t)(terminal.end - terminal.at), &code);
	int width;

	if (size == 0)
		fail("no UTF-8");
	if (!terminal.full && (code == '\r' || code == '\n' || code == 030)) {
		terminal.at++;
		return;
	}
	if (!safe_character(code))
		fail("a control, or a trick,");
	width = wcwidth((wchar_t)code);
	terminal.column += width;
	if (width < 1 || width > 2)
		fail("a character without a width");
	if (terminal.full && terminal.column > terminal.columns)
		fail("a row that is too long");
	terminal.at += size;
	terminal.characters++;
}

int main(int count, char **words)
{
	char *text = util_alloc(LOG_MOST + 1);

	setlocale(LC_CTYPE, "C.UTF-8");
	terminal.begin = terminal.at = text;
	terminal.end = text + fread(text, 1, LOG_MOST, stdin);
	terminal.rows = count > 2 ? atol(words[1]) : 0;
	terminal.columns = count > 2 ? atol(words[2]) : 0;
	while (terminal.at < terminal.end) {
		if (strncmp(terminal.at, "\033[", 2) == 0) {
			terminal.at += 2;
			take_sequence();
		} else {
			take_character();
		}
	}
	printf("%ld characters, %ld sequences\n", terminal.characters, terminal.sequences);
	free(text);
	return terminal.characters == 0 || terminal.sequences == 0;
}
