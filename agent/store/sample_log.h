/* SPDX-License-Identifier: MIT */
/*
 * Samples one by one, each with its own time: what slices of the store do not keep. A million at a time are sorted by
 * time. These runs stay in memory, which is charged to the budget, or go to a temporary file without a name. A reader
 * merges the runs, so a log is read in order of time and in bounded memory. Written by one thread; once it is finished,
 * any number of readers may read it, in any threads.
 */
#ifndef SAMPLE_LOG_H
#define SAMPLE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/trace_kinds.h"

struct budget;
struct sample_log;
struct trace_log;
struct who;
struct who_table;

struct log_row {
	uint64_t time;			/* guest ns */
	uint64_t weight;		/* sampling periods */
	uint32_t samples;
	uint32_t stack;			/* leaf node of stacks.h, or STACKS_NONE */
	uint32_t who;			/* its number in sample_log_whos */
	uint32_t period;		/* ns that a weight of 1 stands for; 0: not known; read: the first one known */
};

/* `folder`: where the temporary file is made, once there is more than one run; NULL: all runs stay in memory. */
struct sample_log *sample_log_new(struct budget *budget, const char *folder);
struct sample_log *sample_log_hold(struct sample_log *log);	/* any thread; NULL is allowed */
void sample_log_release(struct sample_log *log);		/* likewise; the last holder frees it */

struct trace_log *sample_log_traces(struct sample_log *log);	/* the trace events of the same time; never NULL */

void sample_log_add(struct sample_log *log, uint64_t time, uint32_t stack, const struct who *who, uint64_t weight,
	uint32_t samples, uint64_t period);

/* Must be called before it is read; more may be added afterwards, and then it must be called again. */
void sample_log_settle(struct sample_log *log);

uint64_t sample_log_refused(const struct sample_log *log);	/* weight of rows that found no room */
const char *sample_log_trouble(const struct sample_log *log);	/* why, if a file is the cause; "": it is memory */
const struct who_table *sample_log_whos(const struct sample_log *log);

/* ---- reading ---- */

struct sample_log_reader;
struct sample_log_reader *sample_log_open(struct sample_log *log);	/* holds the log */
bool sample_log_next(struct sample_log_reader *reader, struct log_row *row);
bool sample_log_failed(const struct sample_log_reader *reader);	/* the file could not be read: rows are missing */
void sample_log_close(struct sample_log_reader *reader);

/* ---- trace events ---- */

/*
 * Trace events one by one, as they came: those of one CPU in order of time. The last megabyte of them is in memory,
 * which is charged to the budget; what came before goes to a temporary file without a name. Written by one thread; once
 * it is finished, any number of readers may read it, in any threads.
 */

struct event;

struct trace_log_kind {
	enum trace_mark mark;		/* what it is, if it is no event */
	enum trace_role role;
	uint16_t pair;			/* as in struct trace_kind, as these: */
	uint8_t role_values[ROLE_VALUES];
	uint16_t count;			/* of values */
	char name[FIELD_NAME_SIZE];
	struct trace_log_value {
		char name[FIELD_NAME_SIZE];
		bool is_signed, is_thread;	/* as in struct trace_value */
	} values[TRACE_VALUES];
};

struct trace_log_row {
	uint64_t time;			/* guest ns */
	uint32_t cpu;
	uint32_t kind;			/* index of trace_log_kind */
	uint32_t stack;			/* of the kernel, there: a node of stacks.h plus 1; 0: not told */
	uint64_t values[TRACE_VALUES];	/* the kind's; signed ones are extended to 64 bits */
};

/* `folder`: where the temporary file is made; NULL: what finds no room in memory is refused. */
struct trace_log *trace_log_new(struct budget *budget, const char *folder);
void trace_log_free(struct trace_log *log);	/* NULL is allowed */

/* An EVENT_TRACE. `stack`: as in a row. */
void trace_log_add(struct trace_log *log, uint64_t time, const struct event *event, uint32_t stack);

/* No TRACE_EVENT. `events`: of TRACE_LOST. */
void trace_log_mark(struct trace_log *log, uint64_t time, uint32_t cpu, enum trace_mark mark, uint64_t events);

uint64_t trace_log_refused(const struct trace_log *log);	/* events that found no room */
uint32_t trace_log_kinds(const struct trace_log *log);
const struct trace_log_kind *trace_log_kind(const struct trace_log *log, uint32_t kind);

/* ---- reading ---- */

struct trace_log_reader;
struct trace_log_reader *trace_log_open(const struct trace_log *log);	/* the log has to live as long */
bool trace_log_next(struct trace_log_reader *reader, struct trace_log_row *row);
bool trace_log_failed(const struct trace_log_reader *reader);	/* the file could not be read: events are missing */
void trace_log_close(struct trace_log_reader *reader);

#endif
