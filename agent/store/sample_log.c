/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/wire/event.h"
#include "run.h"
#include "sample_log.h"

/* ---- trace events ---- */

enum {
	BLOCK = 1 << 17,		/* words in memory */
	FIRST = 1 << 10,		/* room to begin with; it doubles */
	HEAD = 2,			/* words of an event before its values: time; CPU and kind */
	KINDS = 1 << 16,		/* ids */
};

#define NO_KIND 0xffffffffu
#define HAS_STACK (UINT64_C(1) << 31)	/* in the second word, beside the kind: a word with the stack follows it */

struct trace_log {
	struct budget *budget;
	char *folder;
	int fd;				/* -1: no file was needed so far, or it failed */
	bool full;			/* the file has failed */
	uint64_t written;		/* words in the file */
	uint64_t *words;		/* those behind them */
	uint32_t count, room;
	struct trace_log_kind *kinds;
	uint32_t kind_count, kind_room;
	uint32_t *by_id;		/* NO_KIND: it has not come yet */
	uint32_t marks[TRACE_CHANGED + 1];	/* likewise, by enum trace_mark */
	uint64_t refused;
};

struct trace_log *trace_log_new(struct budget *budget, const char *folder)
{
	struct trace_log *log = util_alloc(sizeof(*log));

	log->budget = budget_hold(budget);
	log->folder = folder ? util_copy(folder, strlen(folder)) : NULL;
	log->fd = -1;
	memset(log->marks, 0xff, sizeof(log->marks));
	return log;
}

void trace_log_free(struct trace_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	budget_free(log->budget, log->words, log->room * sizeof(*log->words));
	budget_free(log->budget, log->kinds, log->kind_room * sizeof(*log->kinds));
	budget_free(log->budget, log->by_id, log->by_id ? KINDS * sizeof(*log->by_id) : 0);
	budget_release(log->budget);
	free(log->folder);
	free(log);
}

/* ---- writing ---- */

/* What is in memory goes to the file. Once that has failed, further events are refused. */
static bool empty(struct trace_log *log)
{
	if (log->fd < 0 && !log->full && log->folder)
		log->fd = unnamed_file_open(log->folder);
	log->full = log->full || log->fd < 0 || !unnamed_file_write(log->fd, log->words,
		log->count * sizeof(*log->words), log->written * sizeof(*log->words));
	if (log->full)
		return false;
	log->written += log->count;
	log->count = 0;
	return true;
}

static bool trace_log_have_room(struct trace_log *log, uint32_t wanted)
{
	uint32_t room = log->room ? 2 * log->room : FIRST;
	uint64_t *words;

	if (log->count + wanted <= log->room)
		return true;
	words = room <= BLOCK ? budget_resize(log->budget, log->words, log->room * sizeof(*words),
		room * sizeof(*words)) : NULL;
	if (words) {
		log->words = words;
		log->room = room;
	}
	return words || (log->count && empty(log));
}

/* A new kind, without values. NULL: no memory. */
static struct trace_log_kind *make_kind(struct trace_log *log, const char *name)
{
	struct trace_log_kind *kinds = budget_array(log->budget, log->kinds, log->kind_count, &log->kind_room,
		sizeof(*kinds));
	struct trace_log_kind *own;

	if (!kinds)
		return NULL;
	log->kinds = kinds;
	own = &kinds[log->kind_count++];
	*own = (struct trace_log_kind) { 0 };
	util_print(own->name, sizeof(own->name), "%s", name);
	return own;
}

static uint32_t add_kind(struct trace_log *log, const struct trace_kind *kind)
{
	struct trace_log_kind *own = make_kind(log, kind->name);

	if (!own)
		return NO_KIND;
	own->role = kind->role;
	own->pair = kind->pair;
	memcpy(own->role_values, kind->role_values, sizeof(own->role_values));
	own->count = (uint16_t)kind->value_count;
	for (int i = 0; i < kind->value_count; i++) {
		util_print(own->values[i].name, sizeof(own->values[i].name), "%s", kind->fields[i].name);
		own->values[i].is_signed = kind->values[i].is_signed;
		own->values[i].is_thread = kind->values[i].is_thread;
	}
	return log->kind_count - 1;
}

static uint32_t add_mark(struct trace_log *log, enum trace_mark mark)
{
	static const char *const names[] = { "", "events lost", "", "" };
	struct trace_log_kind *own = make_kind(log, names[mark]);

	if (!own)
		return NO_KIND;
	own->mark = mark;
	own->count = mark == TRACE_LOST;
	util_print(own->values[0].name, sizeof(own->values[0].name), "events");
	return log->kind_count - 1;
}

static uint32_t kind_of(struct trace_log *log, const struct trace_kind *kind)
{
	if (!log->by_id) {
		log->by_id = budget_resize(log->budget, NULL, 0, KINDS * sizeof(*log->by_id));
		if (log->by_id)
			memset(log->by_id, 0xff, KINDS * sizeof(*log->by_id));
	}
	if (!log->by_id)
		return NO_KIND;
	if (log->by_id[kind->id] == NO_KIND)
		log->by_id[kind->id] = add_kind(log, kind);
	return log->by_id[kind->id];
}

void trace_log_add(struct trace_log *log, uint64_t time, const struct event *event, uint32_t stack)
{
	const struct trace_kind *kind = event->trace.kind;
	uint32_t number = kind_of(log, kind), count = number == NO_KIND ? 0 : log->kinds[number].count;
	uint32_t head = HEAD + (stack != 0);
	uint64_t *words;

	if (number == NO_KIND || !trace_log_have_room(log, head + count)) {
		log->refused++;
		return;
	}
	words = &log->words[log->count];
	words[0] = time;
	words[1] = (uint64_t)event->cpu << 32 | number | (stack ? HAS_STACK : 0);
	if (stack)
		words[HEAD] = stack;
	trace_kind_values(kind, event->trace.fields, words + head);
	log->count += head + count;
}

void trace_log_mark(struct trace_log *log, uint64_t time, uint32_t cpu, enum trace_mark mark, uint64_t events)
{
	uint64_t *words;

	if (log->marks[mark] == NO_KIND)
		log->marks[mark] = add_mark(log, mark);
	if (log->marks[mark] == NO_KIND || !trace_log_have_room(log, HEAD + 1))
		return;			/* that they are lost is in the books */
	words = &log->words[log->count];
	words[0] = time;
	words[1] = (uint64_t)cpu << 32 | log->marks[mark];
	words[HEAD] = events;
	log->count += HEAD + (mark == TRACE_LOST);
}

uint64_t trace_log_refused(const struct trace_log *log)
{
	return log->refused;
}

uint32_t trace_log_kinds(const struct trace_log *log)
{
	return log->kind_count;
}

const struct trace_log_kind *trace_log_kind(const struct trace_log *log, uint32_t kind)
{
	return &log->kinds[kind];
}

/* ---- reading ---- */

enum { READ = 1 << 13 };		/* words that a reader has of the file */

struct trace_log_reader {
	const struct trace_log *log;
	uint64_t at;			/* the next word: in the file, then in memory */
	uint64_t from;			/* the words that `block` has: of the file, from this one on */
	uint32_t count;
	bool failed;
	uint64_t block[READ];
};

struct trace_log_reader *trace_log_open(const struct trace_log *log)
{
	struct trace_log_reader *reader = util_alloc(sizeof(*reader));

	reader->log = log;
	return reader;
}

static bool trace_log_read_block(struct trace_log_reader *reader)
{
	uint64_t left = reader->log->written - reader->at;

	reader->from = reader->at;
	reader->count = left < READ ? (uint32_t)left : READ;
	return unnamed_file_read(reader->log->fd, reader->block, reader->count * sizeof(*reader->block),
		reader->at * sizeof(*reader->block));
}

/* The next word. False: there is none, or it could not be read. */
static bool next_word(struct trace_log_reader *reader, uint64_t *word)
{
	const struct trace_log *log = reader->log;

	if (reader->failed || reader->at >= log->written + log->count)
		return false;
	if (reader->at < log->written && (reader->at < reader->from || reader->at >= reader->from + reader->count))
		reader->failed = !trace_log_read_block(reader);
	if (reader->failed)
		return false;
	*word = reader->at < log->written ? reader->block[reader->at - reader->from] :
		log->words[reader->at - log->written];
	reader->at++;
	return true;
}

bool trace_log_next(struct trace_log_reader *reader, struct trace_log_row *row)
{
	uint64_t head, stack = 0;

	if (!next_word(reader, &row->time) || !next_word(reader, &head) ||
		(head & HAS_STACK && !next_word(reader, &stack)))
		return false;
	row->cpu = (uint32_t)(head >> 32);
	row->kind = (uint32_t)(head & ~HAS_STACK);
	row->stack = (uint32_t)stack;
	for (uint32_t i = 0; i < reader->log->kinds[row->kind].count; i++)
		if (!next_word(reader, &row->values[i]))
			return false;
	return true;
}

bool trace_log_failed(const struct trace_log_reader *reader)
{
	return reader->failed;
}

void trace_log_close(struct trace_log_reader *reader)
{
	free(reader);
}

/* ---- sample log ---- */

enum {
	RUN_ROWS = 1 << 20,
	FIRST_ROWS = 4096,		/* room to begin with; it doubles */
	READ_ROWS = 256 << 10,		/* rows of all runs in the file that a reader has in memory */
	READ_LEAST = 64, READ_MOST = 4096,	/* of one run */
};

struct log_run {
	struct log_row *rows;		/* in memory; NULL: in the file, at `at` */
	uint64_t at;
	uint32_t count, room;
};

struct sample_log {
	atomic_uint holders;
	struct budget *budget;
	char *folder;			/* NULL: runs stay in memory */
	int fd;				/* -1: no file was needed so far */
	uint64_t end;			/* bytes in the file */
	char *trouble;			/* NULL: none */
	struct log_run *runs;		/* sorted by time */
	uint32_t run_count;
	struct log_run last;		/* rows as they came, in memory */
	bool sorted;			/* `last` is */
	struct who_table *whos;
	uint64_t refused;
	uint32_t first_period;		/* the first one known, which also counts for what came before it; 0: none is */
	struct trace_log *traces;
};

struct sample_log *sample_log_new(struct budget *budget, const char *folder)
{
	struct sample_log *log = util_alloc(sizeof(*log));

	atomic_init(&log->holders, 1);
	log->budget = budget_hold(budget);
	log->folder = folder ? util_copy(folder, strlen(folder)) : NULL;
	log->fd = -1;
	log->traces = trace_log_new(budget, folder);
	log->whos = who_table_new(budget, WHO_MOST);
	return log;
}

struct sample_log *sample_log_hold(struct sample_log *log)
{
	if (log)
		atomic_fetch_add_explicit(&log->holders, 1, memory_order_relaxed);
	return log;
}

static void free_run(struct sample_log *log, struct log_run *run)
{
	budget_free(log->budget, run->rows, run->room * sizeof(*run->rows));
}

void sample_log_release(struct sample_log *log)
{
	/* Released by each holder, acquired by the last one, who frees what all of them have used. */
	if (!log || atomic_fetch_sub_explicit(&log->holders, 1, memory_order_acq_rel) != 1)
		return;
	for (uint32_t i = 0; i < log->run_count; i++)
		free_run(log, &log->runs[i]);
	free_run(log, &log->last);
	if (log->fd >= 0)
		close(log->fd);
	who_table_release(log->whos);
	trace_log_free(log->traces);
	budget_release(log->budget);
	free(log->runs);
	free(log->folder);
	free(log->trouble);
	free(log);
}

/* ---- runs ---- */

static int compare_rows(const void *left, const void *right)
{
	const struct log_row *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->who != b->who)
		return a->who < b->who ? -1 : 1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

static void sort_last(struct sample_log *log)
{
	if (!log->sorted && log->last.count)
		qsort(log->last.rows, log->last.count, sizeof(*log->last.rows), compare_rows);
	log->sorted = true;
}

/* The first trouble is kept. */
static bool note_trouble(struct sample_log *log)
{
	if (!log->trouble)
		log->trouble = util_format("%s: %s", log->folder, strerror(errno));
	return false;
}

static bool write_run(struct sample_log *log)
{
	size_t size = log->last.count * sizeof(*log->last.rows);

	if (log->fd < 0 && !log->trouble)
		log->fd = unnamed_file_open(log->folder);
	if (log->fd < 0 || !unnamed_file_write(log->fd, log->last.rows, size, log->end))
		return note_trouble(log);
	return true;
}

static void add_run(struct sample_log *log, const struct log_run *run)
{
	log->runs = util_grow(log->runs, log->run_count + 1, sizeof(*log->runs));
	log->runs[log->run_count++] = *run;
}

static void refuse_last(struct sample_log *log)
{
	for (uint32_t i = 0; i < log->last.count; i++)
		log->refused += log->last.rows[i].weight;
	log->last.count = 0;
}

/* The last run is full: it goes to the file, and its memory is used again; or it stays in memory. */
static void end_run(struct sample_log *log)
{
	sort_last(log);
	if (!log->folder) {
		add_run(log, &log->last);
		log->last = (struct log_run) { .rows = NULL };
	} else if (write_run(log)) {
		add_run(log, &(struct log_run) { .at = log->end, .count = log->last.count });
		log->end += log->last.count * sizeof(*log->last.rows);
		log->last.count = 0;
	} else {
		refuse_last(log);
	}
}

static bool grow_last(struct sample_log *log)
{
	uint32_t room = log->last.room ? 2 * log->last.room : FIRST_ROWS;
	struct log_row *rows;

	if (log->last.room == RUN_ROWS)
		return false;
	rows = budget_resize(log->budget, log->last.rows, log->last.room * sizeof(*rows), room * sizeof(*rows));
	if (!rows)
		return false;
	log->last.rows = rows;
	log->last.room = room;
	return true;
}

/* Where memory is short, runs in the file are shorter. */
static bool have_room(struct sample_log *log)
{
	if (log->last.count < log->last.room || grow_last(log))
		return true;
	if (log->last.count == RUN_ROWS || (log->folder && log->last.count))
		end_run(log);
	return log->last.count < log->last.room || grow_last(log);
}

/* ---- writing ---- */

void sample_log_add(struct sample_log *log, uint64_t time, uint32_t stack, const struct who *who, uint64_t weight,
	uint32_t samples, uint64_t period)
{
	uint32_t index = who_table_number(log->whos, who), ns = period < UINT32_MAX ? (uint32_t)period : UINT32_MAX;

	if (index == WHO_NONE || !have_room(log)) {
		log->refused += weight;
		return;
	}
	log->last.rows[log->last.count++] = (struct log_row) {
		.time = time, .weight = weight, .samples = samples, .stack = stack, .who = index,
		.period = ns,
	};
	log->first_period = log->first_period ? log->first_period : ns;
	log->sorted = false;
}

void sample_log_settle(struct sample_log *log)
{
	sort_last(log);
}

struct trace_log *sample_log_traces(struct sample_log *log)
{
	return log->traces;
}

uint64_t sample_log_refused(const struct sample_log *log)
{
	return log->refused;
}

const char *sample_log_trouble(const struct sample_log *log)
{
	return log->trouble ? log->trouble : "";
}

const struct who_table *sample_log_whos(const struct sample_log *log)
{
	return log->whos;
}

/* ---- reading ---- */

struct cursor {
	const struct log_run *run;
	struct log_row *block;		/* of a run in the file; NULL: it is in memory */
	uint32_t next, from, count;	/* of the run: the next row, and the rows that `block` has */
	struct log_row row;
};

struct sample_log_reader {
	struct sample_log *log;
	struct cursor *cursors;		/* a heap: the earliest row is the first cursor's */
	uint32_t count, block_rows;
	bool failed;
};

/* Reads the block that begins with the next row. */
static bool read_block(struct sample_log_reader *reader, struct cursor *cursor)
{
	uint32_t left = cursor->run->count - cursor->next;

	cursor->from = cursor->next;
	cursor->count = left < reader->block_rows ? left : reader->block_rows;
	return unnamed_file_read(reader->log->fd, cursor->block, cursor->count * sizeof(*cursor->block),
		cursor->run->at + cursor->from * sizeof(*cursor->block));
}

/* Takes a cursor's next row. False: there is none. */
static bool advance(struct sample_log_reader *reader, struct cursor *cursor)
{
	if (cursor->next == cursor->run->count)
		return false;
	if (cursor->block && cursor->next == cursor->from + cursor->count && !read_block(reader, cursor)) {
		reader->failed = true;
		return false;
	}
	cursor->row = cursor->block ? cursor->block[cursor->next - cursor->from] : cursor->run->rows[cursor->next];
	cursor->next++;
	return true;
}

/* Moves the cursor at `at` to where it belongs in the heap. */
static void sift(struct sample_log_reader *reader, uint32_t at)
{
	struct cursor *cursors = reader->cursors, moved = cursors[at];

	for (uint32_t child; (child = 2 * at + 1) < reader->count; at = child) {
		if (child + 1 < reader->count && compare_rows(&cursors[child + 1].row, &cursors[child].row) < 0)
			child++;
		if (compare_rows(&moved.row, &cursors[child].row) <= 0)
			break;
		cursors[at] = cursors[child];
	}
	cursors[at] = moved;
}

static void add_cursor(struct sample_log_reader *reader, const struct log_run *run)
{
	struct cursor *cursor = &reader->cursors[reader->count];

	*cursor = (struct cursor) { .run = run };
	if (!run->rows && run->count)
		cursor->block = util_grow(NULL, reader->block_rows, sizeof(*cursor->block));
	if (advance(reader, cursor))
		reader->count++;
	else
		free(cursor->block);
}

struct sample_log_reader *sample_log_open(struct sample_log *log)
{
	struct sample_log_reader *reader = util_alloc(sizeof(*reader));
	uint32_t most = log->run_count ? READ_ROWS / log->run_count : READ_ROWS;

	reader->log = sample_log_hold(log);
	reader->cursors = util_alloc((log->run_count + 1) * sizeof(*reader->cursors));
	reader->block_rows = most < READ_LEAST ? READ_LEAST : most < READ_MOST ? most : READ_MOST;
	for (uint32_t i = 0; i < log->run_count; i++)
		add_cursor(reader, &log->runs[i]);
	add_cursor(reader, &log->last);
	for (uint32_t i = reader->count / 2; i-- > 0;)
		sift(reader, i);
	return reader;
}

bool sample_log_next(struct sample_log_reader *reader, struct log_row *row)
{
	struct cursor *first = reader->cursors;

	if (!reader->count)
		return false;
	*row = first->row;
	row->period = row->period ? row->period : reader->log->first_period;
	if (!advance(reader, first)) {
		free(first->block);
		*first = reader->cursors[--reader->count];
	}
	if (reader->count)
		sift(reader, 0);
	return true;
}

bool sample_log_failed(const struct sample_log_reader *reader)
{
	return reader->failed;
}

void sample_log_close(struct sample_log_reader *reader)
{
	for (uint32_t i = 0; i < reader->count; i++)
		free(reader->cursors[i].block);
	free(reader->cursors);
	sample_log_release(reader->log);
	free(reader);
}
