/* SPDX-License-Identifier: MIT */
/* What the files report*.c share. No other file includes this. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "report.h"

struct json_writer;
struct lease;
struct tree_row;

/* ---- report.c ---- */

enum { REPORT_NAMES_MS = 10000 };	/* longest wait for source lines, and for more of the guest's names */

void report_enter(struct report *report, enum report_state state);	/* the state's deadline begins now */
bool report_is_late(const struct report *report);	/* the present state's deadline is over */
void report_fail(struct report *report, const char *what);	/* ends it as REPORT_FAILED, with this error */
void report_note(struct report *report, const char *what, const char *why);	/* adds to `note`; `why` may be "" */

bool report_is_up(const struct report *report);		/* the guest is there, and may still send something */
void report_take_boot(struct report *report, struct epoch *epoch);	/* is about this boot: holds it, subscribes */

/* ---- report_answer.c: the answer, when the window has ended ---- */

void report_find_answer(struct report *report);		/* makes it once all names are known, or it is late */
/* The guest traced alone: there is no sample, and none was to be. Once the answer is there. */
bool report_traces_alone(const struct report *report);
void report_write_file(struct report *report);		/* goes on once the present file is written */

/* ---- report_export.c: a file in place of the answer's text ---- */

char *report_export_mistake(const struct report_request *request);	/* why `out` cannot be written; NULL: it can */
bool report_export_lines(const struct report_request *request);	/* its format has source lines and inlined functions */
bool report_export_has_events(const struct report *report);	/* no sample was taken, and it writes trace events */
bool report_export_callers(const struct report_request *request);	/* likewise, the callers of all functions */
void report_export_log(struct report *report);		/* has a log kept from here on, if the format has times */
void report_export_end_log(struct report *report);	/* the log is complete */
bool report_export_begin(struct report *report);	/* begins to write `out`; false: there is nothing to wait for */
void report_export_cut(struct report *report);		/* gives up what is being written */
/* What else has to be known of the answer, such as losses: lines that begin with `before`. */
void report_remarks(const struct report *report, const char *before, FILE *out);
bool report_export_tell(struct report *report, FILE *out, char **error);	/* in place of the text */

/* ---- report_tree.c: the call tree ---- */

/*
 * Asks for what is asked for beside the profile, unless it was, and replaces `*answer` by a newer one. True once that
 * is there, and whole or late. `what`: one of ASKED_TREE and so on.
 */
bool report_take_answer(struct report *report, int what, const struct request *request, struct answer **answer);

bool report_find_tree(struct report *report);		/* asks for it; true once it is there, or none is wanted */
/* The next row from `*at` on that is not too light; sets *at behind it. NULL: there is no more, or there is no tree. */
const struct tree_row *report_tree_row(const struct report *report, size_t *at);
uint64_t report_tree_missing(const struct report *report);	/* rows with enough weight that found no room */
bool report_tree_csv(const struct report *report, FILE *out, char **error);	/* there is a tree */

/* ---- report_events.c: what trace events say took time ---- */

bool report_find_events(struct report *report);		/* as report_find_tree */
void report_events_text(const struct report *report, FILE *out);
void report_events_json(const struct report *report, struct json_writer *writer);

/* ---- report_memory.c: what allocators have given out and not taken back ---- */

bool report_find_memory(struct report *report);		/* as report_find_tree */
void report_memory_text(const struct report *report, FILE *out);
void report_memory_json(const struct report *report, struct json_writer *writer);

/* ---- report_timeline.c: what each CPU and thread did when ---- */

bool report_find_timeline(struct report *report);	/* as report_find_tree */
void report_timeline_text(const struct report *report, FILE *out);
void report_timeline_json(const struct report *report, struct json_writer *writer);

/* ---- report_threads.c: what each thread did at the window's end ---- */

bool report_find_threads(struct report *report);	/* as report_find_tree */
void report_threads_text(const struct report *report, FILE *out);
void report_threads_json(const struct report *report, struct json_writer *writer);

/* ---- report_annotation.c: the code of one function ---- */

bool report_find_annotation(struct report *report);	/* as report_find_tree */
void report_annotation_text(const struct report *report, FILE *out);
void report_annotation_json(const struct report *report, struct json_writer *writer);

/* ---- report_recording.c: a recording takes the place of a window, once all of it was read ---- */

void report_take_recording(struct report *report);

/* ---- report_range.c: a range that is past takes the place of a window, as on a screen whose window went back ---- */

void report_take_range(struct report *report);		/* of the boot that it is about; the window is this range */
void report_take_past(struct report *report);		/* of the present boot: goes on to REPORT_NAMING */

/* ---- report_time.c ---- */

/* A time of the guest's clock, as --from takes it: "00:01:30.25". */
enum { REPORT_CLOCK = 32 };
const char *report_clock(uint64_t ns, char text[REPORT_CLOCK]);
/* The guest ns that a checked text means, within what is kept. A baseline of which nothing is kept has `until_ns` 0. */
uint64_t report_time(const struct epoch *epoch, const char *text);
struct baseline report_baseline(const struct epoch *epoch, const char *range);	/* NULL is allowed */

/* ---- report_guest.c: sets up the guest, and sets it as it was before ---- */

struct lease *report_lease(const struct report *report);

void report_refuse_cpu(struct report *report);		/* fails when the guest has no such CPU */
/* The steps of the states with these names. Each sends one line, and goes on once the guest has obeyed it. */
void report_set_sampler(struct report *report);
void report_set_rate(struct report *report);
void report_profile(struct report *report, bool on);	/* asks the guest to start or stop; once in a state at most */
void report_set_rate_back(struct report *report);
void report_set_sampler_back(struct report *report);

bool report_return_profiler(struct report *report);	/* true: nobody else wants it on */
/* True: the guest's last counts have come, and all that they count has arrived or is known to be lost. */
bool report_books_closed(const struct report *report);
void report_end_closing(struct report *report);		/* other reports may turn the profiler on again */

/* Returns all leases at once, and waits for no answer: perhaps nobody drives the session any further. */
void report_give_back(struct report *report);
void report_leave_guest(struct report *report);		/* the same, and goes on to REPORT_NAMING */

/* After report_cut: if the guest has not answered in time, goes on to the names without it. */
void report_leave_silent(struct report *report);

#endif
