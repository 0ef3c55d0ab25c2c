/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/sample_log.h"
#include "agent/store/stacks.h"
#include "agent/store/who.h"
#include "log_rows.h"

struct log_rows {
	const struct sample_set *set;
	struct sample_log *log;
	struct budget *budget;
	uint32_t *stacks, *threads;
	uint8_t *contexts;
	uint32_t nodes, whos, idle, unknown;
	uint64_t from, to;
};

struct set_rows {			/* a reader */
	const struct log_rows *rows;
	struct sample_log_reader *reader;
};

static void *copy(struct log_rows *rows, const void *from, size_t size)
{
	void *to = budget_resize(rows->budget, NULL, 0, size);

	return to && size ? memcpy(to, from, size) : to;
}

static void free_rows(void *context)
{
	struct log_rows *rows = context;

	budget_free(rows->budget, rows->stacks, rows->stacks ? rows->nodes * sizeof(*rows->stacks) : 0);
	budget_free(rows->budget, rows->threads, rows->threads ? rows->whos * sizeof(*rows->threads) : 0);
	budget_free(rows->budget, rows->contexts, rows->contexts ? rows->nodes : 0);
	sample_log_release(rows->log);
	budget_release(rows->budget);
	free(rows);
}

static struct set_rows *open_rows(void *context)
{
	struct set_rows *reader = util_alloc(sizeof(*reader));

	reader->rows = context;
	reader->reader = sample_log_open(reader->rows->log);
	return reader;
}

static uint32_t stack_of(const struct log_rows *rows, const struct log_row *row, const struct who *who)
{
	if (who->mode == MODE_IDLE)
		return rows->idle;
	if (row->stack == STACKS_NONE)
		return rows->unknown;
	return row->stack < rows->nodes ? rows->stacks[row->stack] : SET_NONE;
}

/* SET_NONE: it is not in the set. */
static uint32_t sum_of(const struct log_rows *rows, const struct log_row *row)
{
	const struct who who = who_table_list(sample_log_whos(rows->log))[row->who];
	uint32_t stack = stack_of(rows, row, &who);
	enum context context = row->stack < rows->nodes ? (enum context)rows->contexts[row->stack] : CONTEXT_UNTOLD;

	if (row->time < rows->from || row->time >= rows->to || stack == SET_NONE || row->who >= rows->whos)
		return SET_NONE;
	return sample_set_find(rows->set, stack, &(struct set_who) {
		.thread = rows->threads[row->who], .cpu = who.cpu == WHO_NO_CPU ? SET_NONE : who.cpu,
		.mode = (uint8_t)context_mode(&who, context),
	});
}

static bool next_row(struct set_rows *reader, struct set_row *to)
{
	struct log_row row;
	uint32_t sum;

	do {
		if (!sample_log_next(reader->reader, &row))
			return false;
		sum = sum_of(reader->rows, &row);
	} while (sum == SET_NONE);
	*to = (struct set_row) {
		.time = row.time, .sum = sum, .samples = row.samples, .weight = row.weight,
		.ns = row.weight * row.period,
	};
	return true;
}

static bool failed(const struct set_rows *reader)
{
	return sample_log_failed(reader->reader);
}

static void close_rows(struct set_rows *reader)
{
	sample_log_close(reader->reader);
	free(reader);
}

bool log_rows_give(struct sample_set *set, struct sample_log *log, const struct log_rows_map *map,
	struct budget *budget)
{
	static const struct set_rows_table table = {
		.open = open_rows, .next = next_row, .failed = failed, .close = close_rows, .free = free_rows,
	};
	struct log_rows *rows = util_alloc(sizeof(*rows));

	*rows = (struct log_rows) {
		.set = set, .log = sample_log_hold(log), .budget = budget_hold(budget), .nodes = map->nodes,
		.whos = who_table_count(sample_log_whos(log)), .idle = map->idle, .unknown = map->unknown,
		.from = map->from, .to = map->to,
	};
	rows->stacks = copy(rows, map->stacks, rows->nodes * sizeof(*rows->stacks));
	rows->contexts = copy(rows, map->contexts, rows->nodes);
	rows->threads = copy(rows, map->threads, rows->whos * sizeof(*rows->threads));
	if (rows->stacks && rows->contexts && rows->threads) {
		sample_set_give_rows(set, &table, rows);
		return true;
	}
	free_rows(rows);
	return false;
}
