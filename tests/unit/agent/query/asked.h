/* SPDX-License-Identifier: MIT */
/* A question to a world of samples. */
#ifndef ASKED_H
#define ASKED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "tests/unit/fakes/query_world.h"

static const struct filter everything = { .count = 0 };

static inline struct table *ask(struct world *world, uint64_t from, uint64_t to)
{
	return query_table(world->query, &(struct question) { .from = from, .to = to,
		.filter = everything });
}

static inline const struct row *row_of(const struct world *world, const struct table *table,
	const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(symbols_get(world->inputs.symbols, table->rows[i].function)->name,
				name) == 0)
			return &table->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static inline struct taken kernel_sample(uint64_t time, uint32_t weight, uint32_t count,
	const uint64_t *functions)
{
	struct taken taken = { .time = time, .weight = weight, .kernel_count = count };

	for (uint32_t i = 0; i < count; i++)
		taken.kernel[i] = functions[i] * 0x100 + 8;
	return taken;
}

#endif
