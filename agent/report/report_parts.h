/* SPDX-License-Identifier: MIT */
/* What the files report*.c share. No other file includes this. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "report.h"

struct loan;

/* ---- report.c ---- */

enum { REPORT_NAMES_MS = 3000 };	/* longest wait for source lines, and for more of the guest's names */

void report_enter(struct report *report, enum report_state state);	/* the state's deadline begins now */
bool report_is_late(const struct report *report);	/* the present state's deadline is over */
void report_fail(struct report *report, const char *what);	/* ends it as REPORT_FAILED, with this error */
void report_note(struct report *report, const char *what, const char *why);	/* adds to `note`; `why` may be "" */

bool report_is_up(const struct report *report);		/* the guest is there, and may still send something */
void report_take_boot(struct report *report, struct epoch *epoch);	/* is about this boot: holds it, subscribes */

/* ---- report_answer.c: the answer, when the window has ended ---- */

void report_find_answer(struct report *report);		/* makes it once all names are known, or it is late */
void report_write_file(struct report *report);		/* goes on once the folded file is written */

/* ---- report_recording.c: a recording takes the place of a window, once all of it was read ---- */

void report_take_recording(struct report *report);

/* ---- report_guest.c: sets up the guest, and sets it as it was before ---- */

struct loan *report_loan(const struct report *report);

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

/* Returns all loans at once, and waits for no answer: perhaps nobody drives the session any further. */
void report_give_back(struct report *report);
void report_leave_guest(struct report *report);		/* the same, and goes on to REPORT_NAMING */

/* After report_cut: if the guest has not answered in time, goes on to the names without it. */
void report_leave_silent(struct report *report);

#endif
