/* SPDX-License-Identifier: MIT */
/* A program in a terminal of its own, and what it costs and shows there. */
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
	uint64_t bytes, frames;		/* written so far; a frame ends where nothing comes for a while */
	uint64_t last;			/* when something came, host ns */
	size_t size;
	char tail[TERMINAL_TAIL];		/* what came since terminal_type, its end at least */
};

struct terminal *terminal_start(char *const *words);
void terminal_end(struct terminal *terminal);		/* kills what still runs */

void terminal_type(struct terminal *terminal, const char *keys);

/* Reads what comes for so long. */
void terminal_run(struct terminal *terminal, double seconds);

/* Seconds until one of these texts came, since terminal_type or the start; < 0: not in 10 s. */
double terminal_await(struct terminal *terminal, const char *text, const char *other);

double terminal_cpu(const struct terminal *terminal);	/* seconds of all its threads */
double terminal_peak(const struct terminal *terminal);	/* MiB: the most that it had in memory */

#endif
