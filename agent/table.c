#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "query.h"
#include "symbols.h"

enum { CPUS = 8 * sizeof(((struct row *)NULL)->cpus) };

void table_free(struct table *table)
{
	if (!table)
		return;
	budget_free(table->budget, table->rows, table->room * sizeof(*table->rows));
	free(table);
}

static bool has_cpu(const struct row *row, unsigned cpu)
{
	return cpu < CPUS && row->cpus[cpu / 64] >> cpu % 64 & 1;
}

const char *table_cpus(const struct row *row, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned cpu = 0, last; cpu < CPUS; cpu = last + 1) {
		char part[32];
		int length;

		for (last = cpu; has_cpu(row, last) && has_cpu(row, last + 1); last++)
			;
		if (!has_cpu(row, cpu))
			continue;
		length = snprintf(part, sizeof(part), "%s%u", used ? "," : "", cpu);
		if (last > cpu)
			length += snprintf(part + length, sizeof(part) - (size_t)length, "%s%u",
				last > cpu + 1 ? "-" : ",", last);
		if (used + (size_t)length + 2 > size) {
			snprintf(text + used, size - used, "+");
			break;
		}
		memcpy(text + used, part, (size_t)length + 1);
		used += (size_t)length;
	}
	return text;
}

/* ---- order: negative when `a` stands above `b` ---- */

struct pair {
	const struct row *a, *b;
	const struct function *f, *g;	/* theirs */
};

static int larger_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_self(const struct pair *pair)
{
	return larger_first(pair->a->self, pair->b->self);
}

static int by_total(const struct pair *pair)
{
	return larger_first(pair->a->total, pair->b->total);
}

static int by_hits(const struct pair *pair)
{
	return larger_first(pair->a->samples, pair->b->samples);
}

/* The lowest CPU in which they differ decides: {0} {0,1} {0,2} {1}. */
static int by_cpu(const struct pair *pair)
{
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		unsigned next = cpu + 1;
		bool first = has_cpu(pair->a, cpu);
		const struct row *other = first ? pair->b : pair->a;

		if (first == has_cpu(pair->b, cpu))
			continue;
		while (next < CPUS && !has_cpu(other, next))
			next++;
		return first == (next < CPUS) ? -1 : 1;
	}
	return 0;
}

static int by_function(const struct pair *pair)
{
	return strcmp(pair->f->name, pair->g->name);
}

static int by_object(const struct pair *pair)
{
	return strcmp(pair->f->object, pair->g->object);
}

/* Lines come late, and for the visible rows alone; the linker keeps the order of the sources. */
static int by_source(const struct pair *pair)
{
	int order = by_object(pair);

	return order ? order : -larger_first(pair->f->address, pair->g->address);
}

static int (*const orders[TABLE_COLUMNS])(const struct pair *pair) = {
	[COLUMN_SELF] = by_self, [COLUMN_TOTAL] = by_total, [COLUMN_HITS] = by_hits,
	[COLUMN_CPU] = by_cpu, [COLUMN_FUNCTION] = by_function, [COLUMN_OBJECT] = by_object,
	[COLUMN_SOURCE] = by_source,
};

struct order {
	const struct symbols *symbols;
	enum table_column column;
	bool invert;
};

static int compare(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const struct row *a = left, *b = right;
	const struct pair pair = {
		.a = a, .f = symbols_get(order->symbols, a->function),
		.b = b, .g = symbols_get(order->symbols, b->function),
	};
	int result = orders[order->column](&pair);

	if (result)
		return order->invert ? -result : result;
	result = by_self(&pair);
	if (!result)
		result = by_total(&pair);
	if (!result)
		result = by_function(&pair);
	return result ? result : (a->function > b->function) - (a->function < b->function);
}

void table_sort(struct table *table, const struct symbols *symbols, enum table_column column,
	bool invert)
{
	struct order order = { .symbols = symbols, .column = column, .invert = invert };

	if (table->count)
		qsort_r(table->rows, table->count, sizeof(*table->rows), compare, &order);
}
