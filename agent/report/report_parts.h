/* SPDX-License-Identifier: MIT */
/* What the files of a report share; for nobody else. */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "report.h"

struct loan;

/* ---- report.c ---- */

void report_enter(struct report *report, enum report_state state);
bool report_is_late(const struct report *report);	/* in the present state */
/* Has what moves while the guest does been the same for so long? */
bool report_is_still(struct report *report, uint64_t moves, uint64_t ns);
void report_fail(struct report *report, const char *what);
void report_note(struct report *report, const char *what, const char *why);

/* ---- report_recording.c: once all of a recording was read, in place of a window ---- */

void report_take_recording(struct report *report);

/* ---- report_guest.c: what the guest is asked for, and what it gets back ---- */

struct loan *report_loan(const struct report *report);

void report_refuse_cpu(struct report *report);		/* fails when the guest has not that one */
void report_set_sampler(struct report *report);
void report_set_rate(struct report *report);
void report_profile(struct report *report, bool on);	/* once a state */
void report_set_rate_back(struct report *report);
void report_set_sampler_back(struct report *report);

bool report_return_profiler(struct report *report);	/* true: nobody else wants it on */
bool report_books_closed(const struct report *report);
void report_end_closing(struct report *report);		/* others may turn it on again */

/* All that is left, at once: nobody may drive the session any further. And on to the names. */
void report_give_back(struct report *report);
void report_leave_guest(struct report *report);

/* Somebody waits for what there is: of a guest that says nothing meanwhile no more is expected. */
void report_leave_silent(struct report *report);

#endif
