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

#include "console_text.h"

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
