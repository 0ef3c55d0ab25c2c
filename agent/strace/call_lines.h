/* SPDX-License-Identifier: MIT */
/*
 * System calls as lines of text, in the order in which they end:
 *
 *     12.345678  calls/17  getpriority(which=0, who=0) = 20 <1.2us>
 *
 * or as a summary: a row for each call, heaviest total first. `exit` and `exit_group` do not return: they have a line
 * when they begin, and no row. The thread that steps the session uses it.
 */
#ifndef CALL_LINES_H
#define CALL_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct call_lines;
struct session;
struct trace_watcher;

/*
 * `whom`: the number or the name of a process or thread, or its title as the screen shows it ("calls/17"); borrowed;
 * NULL: all. `summary`: no lines, but the summary. `out`: where all goes, borrowed.
 */
struct call_lines *call_lines_new(const char *whom, bool summary, FILE *out);
void call_lines_free(struct call_lines *lines);	/* NULL is allowed */

const struct trace_watcher *call_lines_watcher(const struct call_lines *lines);	/* for session_options.calls */
/* From now on: what came before is left out. The session is borrowed. */
void call_lines_of(struct call_lines *lines, struct session *session);

/* Writes those that are still under way, or the summary. Once; what comes later is left out. */
void call_lines_end(struct call_lines *lines);

uint64_t call_lines_count(const struct call_lines *lines);	/* calls of those that are asked for, so far */

#endif
