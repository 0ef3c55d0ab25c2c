/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "trace_log.h"
#include "unnamed_file.h"

enum {
	BLOCK = 1 << 17,		/* words in memory */
	FIRST = 1 << 10,		/* room to begin with; it doubles */
	HEAD = 2,			/* words of an event before its values: time; CPU and kind */
	KINDS = 1 << 16,		/* ids */
};

#define NO_KIND 0xffffffffu

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
	uint32_t lost_kind;		/* likewise */
	uint64_t refused;
};

struct trace_log *trace_log_new(struct budget *budget, const char *folder)
{
	struct trace_log *log = util_alloc(sizeof(*log));

	log->budget = budget_hold(budget);
	log->folder = folder ? util_copy(folder, strlen(folder)) : NULL;
	log->fd = -1;
	log->lost_kind = NO_KIND;
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

static bool have_room(struct trace_log *log, uint32_t wanted)
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
	memcpy(own->role_values, kind->role_values, sizeof(own->role_values));
	own->count = (uint16_t)kind->value_count;
	for (int i = 0; i < kind->value_count; i++) {
		util_print(own->values[i].name, sizeof(own->values[i].name), "%s", kind->fields[i].name);
		own->values[i].is_signed = kind->values[i].is_signed;
		own->values[i].is_thread = kind->values[i].is_thread;
	}
	return log->kind_count - 1;
}

static uint32_t add_lost_kind(struct trace_log *log)
{
	struct trace_log_kind *own = make_kind(log, "events lost");

	if (!own)
		return NO_KIND;
	own->lost = true;
	own->count = 1;
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

void trace_log_add(struct trace_log *log, uint64_t time, const struct event *event)
{
	const struct trace_kind *kind = event->trace.kind;
	uint32_t number = kind_of(log, kind), count = number == NO_KIND ? 0 : log->kinds[number].count;
	uint64_t *words;

	if (number == NO_KIND || !have_room(log, HEAD + count)) {
		log->refused++;
		return;
	}
	words = &log->words[log->count];
	words[0] = time;
	words[1] = (uint64_t)event->cpu << 32 | number;
	trace_kind_values(kind, event->trace.fields, words + HEAD);
	log->count += HEAD + count;
}

void trace_log_lose(struct trace_log *log, uint64_t time, uint32_t cpu, uint64_t events)
{
	uint64_t *words;

	if (log->lost_kind == NO_KIND)
		log->lost_kind = add_lost_kind(log);
	if (log->lost_kind == NO_KIND || !have_room(log, HEAD + 1))
		return;			/* that they are lost is in the books */
	words = &log->words[log->count];
	words[0] = time;
	words[1] = (uint64_t)cpu << 32 | log->lost_kind;
	words[HEAD] = events;
	log->count += HEAD + 1;
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

static bool read_block(struct trace_log_reader *reader)
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
		reader->failed = !read_block(reader);
	if (reader->failed)
		return false;
	*word = reader->at < log->written ? reader->block[reader->at - reader->from] :
		log->words[reader->at - log->written];
	reader->at++;
	return true;
}

bool trace_log_next(struct trace_log_reader *reader, struct trace_log_row *row)
{
	uint64_t head;

	if (!next_word(reader, &row->time) || !next_word(reader, &head))
		return false;
	row->cpu = (uint32_t)(head >> 32);
	row->kind = (uint32_t)head;
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
