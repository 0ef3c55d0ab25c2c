/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "function.h"
#include "functions.h"

#define NO_REST 0xffffffffu

enum {
	CHUNK = 1024, CHUNKS = FUNCTIONS_MAX / CHUNK,
	TEXT_COST = 32,			/* what a block of memory takes beyond its text */
};

struct entry {
	struct function function;	/* written before its id is handed out, never again */
	struct origin origin;		/* the owner's alone */
};

struct functions {
	struct budget *budget;
	uint32_t most;			/* functions before the "[unknown]" */
	uint32_t rest;			/* that "[unknown]"; NO_REST: not made yet */
	uint64_t refused;
	bool short_of_memory;		/* since functions_retry */
	size_t paid;			/* bytes */
	_Atomic uint32_t count;		/* written by the owner after the entry; read by any thread */
	struct entry *chunks[CHUNKS];
};

static struct entry *entry_of(const struct functions *functions, uint32_t id)
{
	return &functions->chunks[id / CHUNK][id % CHUNK];
}

struct functions *functions_new(struct budget *budget)
{
	struct functions *functions = util_alloc(sizeof(*functions));
	size_t most = budget_share(budget, 4 * FUNCTIONS_COST);

	functions->budget = budget;
	functions->most = most < FUNCTIONS_MAX ? (uint32_t)most : FUNCTIONS_MAX;
	functions->rest = NO_REST;
	return functions;
}

void functions_free(struct functions *functions)
{
	if (!functions)
		return;
	for (uint32_t id = 0; id < functions->count; id++) {
		struct entry *entry = entry_of(functions, id);

		free((char *)entry->function.name);
		if (!entry->origin.starved)
			free((char *)entry->origin.line);
	}
	for (size_t i = 0; i < CHUNKS; i++)
		free(functions->chunks[i]);
	budget_give(functions->budget, functions->paid);
	free(functions);
}

static bool pay(struct functions *functions, const struct function *function)
{
	size_t bytes = strlen(function->name) + TEXT_COST + sizeof(struct entry);

	if (functions->count + 1 >= functions->most)
		return false;
	if (!budget_take(functions->budget, bytes)) {
		functions->short_of_memory = true;
		return false;
	}
	functions->paid += bytes;
	return true;
}

static uint32_t add(struct functions *functions, const struct function *function,
	const struct debug_object *object)
{
	uint32_t id = functions->count;
	struct entry *entry;

	if (id % CHUNK == 0)
		functions->chunks[id / CHUNK] = util_alloc(CHUNK * sizeof(struct entry));
	entry = entry_of(functions, id);
	entry->function = *function;
	entry->origin.object = object;
	atomic_store_explicit(&functions->count, id + 1, memory_order_release);
	return id;
}

uint32_t functions_add(struct functions *functions, const struct function *function,
	const struct debug_object *object)
{
	if (pay(functions, function))
		return add(functions, function, object);
	free((char *)function->name);
	functions->refused++;
	if (functions->rest == NO_REST)
		functions->rest = add(functions, &(struct function) {
			.name = util_copy("[unknown]", 9), .object = "" }, NULL);
	return functions->rest;
}

bool functions_is_rest(const struct functions *functions, uint32_t id)
{
	return id == functions->rest;
}

bool functions_retry(struct functions *functions)
{
	bool again = functions->short_of_memory;

	functions->short_of_memory = false;
	if (again)
		functions->refused = 0;
	return again;
}

uint64_t functions_refused(const struct functions *functions)
{
	return functions->refused;
}

/* Acquire pairs with the release in functions_add: ids below the count are complete. */
size_t functions_count(const struct functions *functions)
{
	return atomic_load_explicit(&functions->count, memory_order_acquire);
}

const struct function *functions_get(const struct functions *functions, uint32_t id)
{
	return &entry_of(functions, id)->function;
}

bool functions_set_line(struct functions *functions, uint32_t id, char *line)
{
	struct origin *origin = functions_origin(functions, id);
	size_t bytes = line ? strlen(line) + TEXT_COST : 0;

	origin->starved = !line || !budget_take(functions->budget, bytes);
	origin->line = origin->starved ? "" : line;
	if (origin->starved)
		free(line);
	else
		functions->paid += bytes;
	return !origin->starved;
}

void functions_retry_lines(struct functions *functions)
{
	for (uint32_t id = 0; id < functions->count; id++) {
		struct origin *origin = functions_origin(functions, id);

		if (origin->starved)
			*origin = (struct origin) { .object = origin->object };
	}
}

struct origin *functions_origin(struct functions *functions, uint32_t id)
{
	return &entry_of(functions, id)->origin;
}
