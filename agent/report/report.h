/* SPDX-License-Identifier: MIT */
/*
 * One window of profiling and its answer: sets up the guest, starts its profiler when it is off,
 * waits for the window (in guest time, so that a repeatable guest gives a repeatable report), stops
 * what it started, waits until the books are closed, and sets up the guest as it was before. Of
 * several at once the last one does so. Lives in the thread that drives the session.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/base/options.h"
#include "agent/query/query.h"
#include "agent/wire/event.h"

struct epoch;
struct errand;
struct session;
struct tape;

struct report_request {
	uint64_t duration_ns;
	uint64_t wait_ns;		/* host time, for a guest that stands still */
	bool json, threads, inlined;
	int kernel_mark;		/* no, yes */
	const char *folded, *raw;	/* a file to write; a folder of record_folder; NULL: none */
	int sort;			/* enum table_column */
	uint32_t top;			/* rows of the text; 0: all */
	uint32_t rate;			/* 0: as it is */
	int sampler;			/* enum sampler; -1: as it is */
	uint32_t cpu;			/* filters; EVENT_NONE: all */
	int mode;			/* enum mode; -1: all */
	const char *thread, *function;	/* NULL: all */
};

extern const struct report_request report_default;
/*
 * All settings: their names, what they take, what may be wrong with that; so they are parsed, and written as words
 * for a live ktop. Each is heeded in a report of a guest, and some elsewhere.
 */
extern const struct option_row report_options[];	/* of a struct report_request */
enum {
	REPORT_OF_SCREEN = 1,		/* beside a screen, which has no report: what is asked of the guest */
	REPORT_OF_RECORDING = 2,	/* of a recording, which has no guest: what is answered */
};

enum report_state {
	REPORT_WAITING, REPORT_SAMPLER, REPORT_RATE, REPORT_STARTING, REPORT_RUNNING,
	REPORT_STOPPING, REPORT_CLOSING, REPORT_RATE_BACK, REPORT_SAMPLER_BACK, REPORT_NAMING,
	REPORT_WRITING, REPORT_DONE, REPORT_FAILED,
};

struct report {
	struct report_request request;	/* its texts are borrowed */
	struct session *session;
	enum report_state state;
	uint64_t deadline;		/* host ns: of the present state */
	char *error;			/* with REPORT_FAILED; with REPORT_DONE: the guest stood still */
	char cut[320];			/* why the window ended before its time; "": it has not */
	char note[640];			/* what the reader should know, "" if nothing */

	struct epoch *epoch;		/* held; NULL: still waiting */
	bool asked, answered;		/* the present state's line was sent, and obeyed */
	bool started;			/* it has a share in the profiler's being on, as loan.h */
	bool closing;			/* it waits for the last count */
	bool rate_taken, sampler_taken;	/* and is to be returned */
	bool stays;			/* set by who has the session go on after it: it keeps what is owed */
	bool hurried;			/* it was cut: names are not waited for long */
	uint64_t cut_at, late;		/* somebody waits since, until then, host ns; 0: nobody does */
	bool whole;			/* nobody else profiled meanwhile: all that came is its own */
	uint64_t begin, end;		/* guest ns, of the window */
	uint64_t told;			/* symbols_generation, while the guest's names come */
	uint64_t seen, seen_at;		/* what moves while the guest does, and its host ns */

	struct errand *file;		/* the folded one in work; NULL: none is */
	struct tape *tape;		/* of the request's `raw`; NULL: none, or taken */

	/* the answer, with REPORT_DONE */
	char *unwritten;		/* why there is no folded file; NULL: there is, or none was wanted */
	struct status status;		/* at the end of the window; without its note */
	struct question question;
	struct table *table;		/* sorted */
	double seconds;			/* guest time profiled */
	double missed;			/* share of the time in which the CPUs were not run */
};

struct report *report_new(struct session *session, const struct report_request *request);
void report_free(struct report *report);	/* gives back what it has not yet */

/* To be called after each session_step until it is REPORT_DONE or REPORT_FAILED. */
enum report_state report_step(struct report *report);

/* The recording, which goes on until its new owner ends it; NULL: none. */
struct tape *report_take_tape(struct report *report);

/* Ends the window now; who waits has what there is at `late` (util_now), whatever the guest says. */
void report_cut(struct report *report, const char *why, uint64_t late);

/*
 * The answer as people read it, or as programs do. False with `error` set when that, or the folded
 * file, was not written.
 */
bool report_write(struct report *report, FILE *out, char **error);

/* The decoder's books are those of the guest's present boot: are they this report's? */
bool report_has_books(const struct report *report);

void report_text(const struct report *report, FILE *out);
bool report_json(const struct report *report, FILE *out, char **error);

#endif
