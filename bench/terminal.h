/* SPDX-License-Identifier: MIT */
/* Runs a program in a terminal of its own, and measures what it costs and shows there. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TERMINAL_COLUMNS = 120, TERMINAL_ROWS = 40, TERMINAL_TAIL = 65536 };

struct terminal {
	pid_t pid;
	int fd;
	uint64_t bytes, frames;		/* written so far; a frame ends when nothing comes for 20 ms */
	uint64_t last;			/* when output came last, ns of the host's clock */
	size_t size;
	char tail[TERMINAL_TAIL];		/* the output since terminal_type, or its end */
};

struct terminal *terminal_start(char *const *words);
void terminal_end(struct terminal *terminal);		/* kills what still runs */

void terminal_type(struct terminal *terminal, const char *keys);

/* Reads output for so long. */
void terminal_run(struct terminal *terminal, double seconds);

/* Waits for one of these texts. Seconds that it took since terminal_type or the start; < 0: neither came in 60 s. */
double terminal_await(struct terminal *terminal, const char *text, const char *other);

double terminal_cpu(const struct terminal *terminal);	/* processor time of all its threads, in seconds */
double terminal_peak(const struct terminal *terminal);	/* the most resident memory that it had, in MiB */

#endif
