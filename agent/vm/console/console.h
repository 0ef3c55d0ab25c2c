/* SPDX-License-Identifier: MIT */
/*
 * The console of a QEMU that ktop has started. QEMU's standard input, output and error are a terminal of its own, a
 * pty. So ktop gets what QEMU prints, and what the guest prints on a serial port that is there (-nographic, -serial
 * stdio, mon:stdio). A serial port on a pty of QEMU's own (-serial pty) is read as well. The newest lines are kept, in
 * a fixed amount of memory; all can be appended to a file. A thread of its own reads, so that QEMU never waits for
 * ktop. Any thread may make these calls.
 */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- its text ---- */

/*
 * What a console has printed, as lines of plain text: the newest ones, in a fixed amount of memory. A small terminal in
 * front of them takes what only edits the line (CR, backspace, tab, erasing, moving in it), and drops all other control
 * characters and sequences. Pure: no locks, no descriptors. Bytes may be anything.
 */

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

/* Lines have numbers, from 0 on: those from first to end - 1 are there, those before first are gone. */
uint64_t console_text_first(const struct console_text *text);
uint64_t console_text_end(const struct console_text *text);

/* Writes a line as printable UTF-8. False, and "": it is not there. */
bool console_text_line(const struct console_text *text, uint64_t number, char line[CONSOLE_LINE]);

/* The line that a writer has not ended. */
void console_text_open_line(const struct console_writer *writer, char line[CONSOLE_LINE]);

/* ---- console ---- */

struct wakeup;
struct console;

/*
 * `file`: gets the bytes as they come, behind what is in it; NULL: none does. NULL with `error` set: there is no pty,
 * or the file cannot be written.
 */
struct console *console_new(const char *file, char **error);
void console_free(struct console *console);	/* a QEMU that still runs has no terminal any more */

void console_no_port(struct console *console);	/* said of QEMU's command line; before console_started */

/* The other end, for a child's standard descriptors; -1 after console_started, which closes it here. */
int console_inside(const struct console *console);
void console_started(struct console *console);

/* A pty of QEMU's, on which the guest's serial port is. What is typed goes there from now on. False with errno. */
bool console_open_port(struct console *console, const char *path);

/* Waits until QEMU and its children have closed the terminal and all was read, at most wait_ms; -1: without an end. */
void console_drain(struct console *console, int wait_ms);

/* The wakeup is sent when there is something new since the last console_extent. NULL: none is. */
void console_listen(struct console *console, struct wakeup *wakeup);

struct console_extent {
	uint64_t first, end;		/* of the lines that are there; those before were forgotten */
	uint64_t bytes;			/* that came so far: differs whenever something is new */
	int column;			/* of the cursor in the last line, which has not ended; -1: there is none */
	bool open;			/* what is typed has a reader */
	bool no_port;			/* it has none, since no serial port of the guest is there */
};
struct console_extent console_extent(struct console *console);

/* Writes a line as printable UTF-8. False, and "": it is not there any more. */
bool console_line(struct console *console, uint64_t number, char line[CONSOLE_LINE]);

/* Sends this to the guest. False, and all is dropped: QEMU has not read what was typed before, or has closed it. */
bool console_type(struct console *console, const char *bytes, size_t size);

/* "what failed: why; what to do" of the file, in fresh memory; NULL: all was written. */
char *console_trouble(struct console *console);

#endif
