/* SPDX-License-Identifier: MIT */
/*
 * One window of profiling, and its answer. A report sets the guest's sampler and rate, starts its profiler if that is
 * off, waits for the window, stops the profiler if it started it, waits until the books are closed, and sets the
 * guest as it was before. The window is in guest time, so that a repeatable guest gives a repeatable report. If several
 * reports run at once, the last one sets the guest back (lease.h). A report is a reader of the session, pinned to the
 * boot that it began in. The ingest thread makes all calls.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/answers/answer.h"
#include "agent/base/options.h"
#include "agent/export/export.h"
#include "agent/wire/event.h"

struct annotation;
struct call_tree;
struct epoch;
struct event_table;
struct memory_table;
struct job;
struct profile;
struct session;
struct sample_log;
struct sample_collect;
struct sample_set;
struct set_progress;
struct subscription;
struct thread_list;
struct timeline;
struct capture;

enum {
	REPORT_WAIT_SECONDS = 10,	/* for the guest's data, unless --wait says otherwise */
	REPORT_LEAST = 1,		/* percent: the `least` of a request that says nothing */
};

enum { GROUP_LOCK = GROUPS };		/* of events: locks alone have rows; of samples: as GROUP_FUNCTION */

struct report_request {
	uint64_t duration_ns;
	uint64_t wait_ns;		/* host time to wait for a guest that stands still */
	bool json;			/* JSON in place of text */
	bool threads, inlined;		/* of files: the thread as the root frame; inlined functions as frames */
	bool lines;			/* report_samples gets source lines and inlined functions */
	int kernel_mark;		/* of files: mark kernel frames; 0: no, 1: yes */
	const char *files[EXPORTS];	/* the file to write in each format; NULL: none */
	const char *out;		/* of `ktop export`: its file; "-": standard output; NULL: none */
	const char *format;		/* of `out`; NULL: the ending of its name tells */
	bool flame;			/* likewise: flames in place of icicles */
	const char *recording;		/* the folder of the recording that is reported on; NULL: a guest is */
	const char *raw;		/* the folder to record into; NULL: none */
	int by;				/* enum group_by, or GROUP_LOCK: what a row of the table is */
	int sort;			/* enum table_column */
	int tree;			/* enum tree_order: also the call tree, in this order; -1: none */
	uint32_t least;			/* percent of all weight: lighter rows of the tree are left out; 0: none is */
	bool events;			/* also what its trace events say took time; */
	bool allocations;		/* also what its allocators have given out and not taken back */
	bool events_alone;		/* the text has no other table */
	const char *baseline;		/* FROM..TO: of events and allocations, also what was then; NULL: none */
	bool timeline;			/* also what each CPU and thread did when */
	bool waits;			/* also what each thread did, or waited for, at the window's end */
	const char *annotate;		/* also the code of this function, with its heat; NULL: of none */
	uint32_t top;			/* rows of the text; 0: all */
	uint32_t rate;			/* Hz per CPU; 0: leave it as it is */
	int sampler;			/* of SAMPLER_CHOICES; -1: leave it as it is */
	bool boot;			/* the window begins with the boot, which is being sampled already */
	int phase;			/* enum boot_phase: only this part of the window; -1: all of it */
	const char *from, *to;		/* what is past (report_range.c); NULL: as far as is kept */
	uint32_t cpu;			/* these filter: only this CPU; EVENT_NONE: all */
	int mode;			/* as in contexts.h; -1: all */
	const char *thread, *function;	/* a part of the name; NULL: all */
	const char *filter;		/* words of filter.h, beside those above; NULL: none */
};

extern const struct report_request report_default;
/*
 * All options of a report: their names, their values, and the checks of these. The same rows parse the options, and
 * write them as words for a live ktop. Every option counts in a report of a guest; `heeded` says where else.
 */
extern const struct option_row report_options[];	/* they fill a struct report_request */
extern const struct option_row export_options[];	/* of `ktop export`: a report with a file in place of text */
enum {
	REPORT_OF_SCREEN = 1,		/* with a screen, which makes no report: options that set the guest */
	REPORT_OF_RECORDING = 2,	/* with a recording, which has no guest to set: options about the answer */
};

/*
 * In this order: waits for the guest; sets its sampler and rate; starts its profiler; the window; stops the profiler;
 * closes the books; sets rate and sampler back; waits for names, and asks for the profile; writes the files. A
 * state that has nothing to do is passed through or left out.
 */
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
	char *error;			/* REPORT_FAILED: why; REPORT_DONE: why it was cut short; NULL: neither */
	char cut[320];			/* why the window ended early; "": it did not */
	char note[640];			/* what the report's reader should know; "": nothing */

	struct epoch *epoch;		/* held; NULL: still waiting */
	struct subscription *subscription;	/* pinned to the epoch; NULL: still waiting */
	bool asked, answered;		/* in the present state: the line or question was sent; the guest obeyed it */
	bool started;			/* it borrows the profiler (lease.h) */
	bool closing;			/* it is counted in the lease's `closing` */
	bool rate_taken, sampler_taken;	/* it borrows this setting */
	bool stays;			/* the session lives on after the report, and does what is still owed */
	bool hurried;			/* it was cut: it waits for names only briefly */
	uint64_t cut_at, late;		/* host ns of report_cut, and its deadline; 0: not called */
	bool waited;			/* the guest was sampled on behind the window, for names */
	bool whole;			/* nobody else has the profiler on: all samples are this report's */
	uint64_t begin, end;		/* guest ns, of the window */
	struct excerpt excerpt;		/* what it asks for; its end is open if all samples are this report's */
	uint64_t told;			/* the last symbols_generation, while the guest sends names */
	uint64_t seen, seen_at;		/* a count that moves while the guest runs; host ns of its last move */

	struct job *file;		/* writes the file of `format`; NULL: none is being written */
	int format;			/* enum export_id; EXPORTS: the request's `out` */
	bool logging;			/* the epoch keeps a log for it */
	struct sample_log *log;		/* that log, once it is complete; NULL: not yet, or none */
	struct set_progress *progress;	/* of `out`, while `file` writes it */
	struct export *export;		/* of `out`, if that is the standard output; NULL: it is a file */
	struct export_result exported;	/* what was written to `out` */
	struct capture *capture;	/* records into the request's `raw`; NULL: none, or taken */

	/* the answer, with REPORT_DONE */
	char *unwritten;		/* why a file is missing; NULL: all are written, or none was wanted */
	struct status status;		/* at the end of the window; without its note */
	struct profile *profile;	/* its table is sorted */
	struct call_tree *tree;		/* NULL: none is wanted, or not yet */
	struct event_table *events;	/* NULL: none is wanted, or not yet */
	struct memory_table *memory;	/* NULL: none is wanted, or not yet */
	struct timeline *timeline;	/* NULL: none is wanted, or not yet */
	struct thread_list *threads;	/* NULL: none is wanted, or not yet */
	struct annotation *annotation;	/* NULL: none is wanted, or not yet */
	/* The last one of these that was asked for, in this order. */
	enum { ASKED_PROFILE, ASKED_TREE, ASKED_EVENTS, ASKED_MEMORY, ASKED_TIMELINE, ASKED_THREADS,
		ASKED_CODE } asked_for;
	bool unannotated;		/* there is no such function */
	struct excerpt asked_excerpt;	/* what `profile` and all that is asked beside it answer */
	uint64_t from, to;		/* guest ns, of the answer */
	double seconds;			/* likewise: guest time profiled */
};

/* Why one of its options has no effect beside the others; NULL: all have. To be freed. */
char *report_options_mistake(const struct report_request *request);

bool report_check_time(const char *text, char **error);	/* false with "why; what to do": this is no time */
bool report_check_range(const char *text, char **error);	/* likewise: FROM..TO */
/*
 * Takes "DIR@FROM..TO" apart: returns DIR in fresh memory, with the times behind it; NULL in *from and *to: no such
 * limit. What is there as it is written has no range in its name: then *range is false.
 */
char *report_range_of(const char *words, bool *range, const char **from, const char **to);
bool report_looks_back(const struct report_request *request);	/* it asks for what is past, and sets no guest */

/* Borrows the session, and the request's texts. A mistake in the request is told by the first step: REPORT_FAILED. */
struct report *report_new(struct session *session, const struct report_request *request);
void report_free(struct report *report);	/* sets the guest as it was before, if that is still to be done */

/* Call it after each session_step, until it returns REPORT_DONE or REPORT_FAILED. It never waits. */
enum report_state report_step(struct report *report);

/* Gives the capture to the caller, who ends it; until then it goes on recording. NULL: there is none. */
struct capture *report_take_capture(struct report *report);

/* Ends the window now. The report shows what has come, and is done by `late` (util_now) even if the guest is silent. */
void report_cut(struct report *report, const char *why, uint64_t late);

/*
 * Writes the answer as text, or as JSON if the request says so. False with `error` set when the answer or the folded
 * file was not written.
 */
bool report_write(struct report *report, FILE *out, char **error);

/* With REPORT_DONE, where `out` is the standard output: what a file's line and remarks would tell, such as losses. */
void report_export_tell_beside(const struct report *report, FILE *out);

/*
 * With REPORT_DONE: the samples of the answer, with their names; free of the session. Of `how` only `most`, `kept` and
 * `nobody` matter. NULL with `error` set.
 */
struct sample_set *report_samples(const struct report *report, const struct sample_collect *how, char **error);

/* With REPORT_DONE: why some code may have no name, in fresh memory. */
char *report_unnamed(const struct report *report);

/* The format of `out` has times of samples: a session that reads a recording for it has to keep a log. */
bool report_export_rows(const struct report_request *request);

bool report_export_cuts(const struct report_request *request);	/* `out` is a recording, cut to the range */
char *report_export_cut_mistake(const struct report_request *request);	/* why it cannot be written; NULL: it can */

/* Prints the formats of `out`. */
void report_export_list(FILE *out);

/* Thousandths of `out` that are written; -1: it is not being written. */
int report_export_done(const struct report *report);

bool report_export_given_up(const struct report *report);	/* it is still being written, but was cut */
void report_export_abandon(const struct report *report);	/* the process ends meanwhile: what is written goes */

/* The two forms of the answer, for report_write. */
void report_text(const struct report *report, FILE *out);
bool report_json(const struct report *report, FILE *out, char **error);

#endif
