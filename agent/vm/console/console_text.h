/* SPDX-License-Identifier: MIT */
/*
 * What a console has printed, as lines of plain text: the newest ones, in a fixed amount of memory. A small terminal in
 * front of them takes what only edits the line (CR, backspace, tab, erasing, moving in it), and drops all other control
 * characters and sequences. Pure: no locks, no descriptors. Bytes may be anything.
 */
#ifndef CONSOLE_TEXT_H
#define CONSOLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CONSOLE_CELLS = 500,		/* characters of a line; a longer one goes on in the next */
	CONSOLE_LINE = CONSOLE_CELLS * 4 + 1,	/* bytes of a line as UTF-8, with the terminating zero */
	CONSOLE_LINES = 16384,		/* lines that are kept at most */
	CONSOLE_BYTES = 1 << 20,	/* bytes of these */
};

struct console_text;

/* One that writes, with the line that it has not ended. Starts as { 0 }. */
struct console_writer {
	uint32_t cells[CONSOLE_CELLS];
	int count, column;		/* of the line; where the next character goes */
	char partial[4];		/* of a character whose bytes come one by one */
	int partial_count;
	enum { WRITER_TEXT, WRITER_ESCAPE, WRITER_SKIP_ONE, WRITER_CSI, WRITER_STRING, WRITER_STRING_ESCAPE } state;
	int number;			/* the first parameter of a sequence; -1: none so far */
	bool later;			/* further ones follow */
};

struct console_text *console_text_new(void);
void console_text_free(struct console_text *text);

void console_text_put(struct console_text *text, struct console_writer *writer, const char *bytes, size_t size);
void console_text_end_line(struct console_text *text, struct console_writer *writer);	/* unless it is empty */

/* Lines have numbers, from 0 on: those from first to end - 1 are there, those before first are gone. */
uint64_t console_text_first(const struct console_text *text);
uint64_t console_text_end(const struct console_text *text);

/* Writes a line as printable UTF-8. False, and "": it is not there. */
bool console_text_line(const struct console_text *text, uint64_t number, char line[CONSOLE_LINE]);

/* The line that a writer has not ended. */
void console_text_open_line(const struct console_writer *writer, char line[CONSOLE_LINE]);

#endif
