/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/demangle.h"
#include "agent/names/dwarf/line_worker.h"
#include "function.h"
#include "functions.h"
#include "sources.h"

enum {
	LINE_SHOWN = 256,		/* bytes of "file.c:41" */
	AHEAD = LINE_QUEUE / 2,		/* addresses asked about at once; the rest is for lines */
};

struct place {				/* an address at which functions may be inlined */
	const struct debug_object *object;
	uint64_t address;
	uint32_t within;		/* the function around it */
	uint32_t first, count;		/* its part of `ids` */
	bool known;
};

struct sources {
	struct budget *budget;
	struct functions *functions;
	struct line_worker *worker;
	uint64_t refused, lines_refused;

	struct place *places;
	uint32_t place_count, place_room;
	struct hash by_address;
	uint32_t next, asked;		/* places before `next` were asked about; `asked` answers are due */

	uint32_t *ids;			/* of all places; each list has the outermost first */
	uint32_t id_count, id_room;
	uint32_t *inlines;		/* ids of functions that were inlined somewhere, each once */
	uint32_t inline_count, inline_room;
	struct hash by_name;
};

struct sources *sources_new(struct functions *functions, struct budget *budget)
{
	struct sources *sources = util_alloc(sizeof(*sources));

	sources->budget = budget;
	sources->functions = functions;
	sources->worker = line_worker_new(budget);
	hash_init(&sources->by_address, budget);
	hash_init(&sources->by_name, budget);
	return sources;
}

void sources_free(struct sources *sources)
{
	if (!sources)
		return;
	line_worker_free(sources->worker);
	hash_clear(&sources->by_address);
	hash_clear(&sources->by_name);
	budget_free(sources->budget, sources->places,
		sources->place_room * sizeof(*sources->places));
	budget_free(sources->budget, sources->ids, sources->id_room * sizeof(*sources->ids));
	budget_free(sources->budget, sources->inlines,
		sources->inline_room * sizeof(*sources->inlines));
	free(sources);
}

void sources_set(struct sources *sources, const struct debug_folders *folders, bool debuginfod)
{
	line_worker_set(sources->worker, folders, debuginfod);
}

uint64_t sources_refused(const struct sources *sources)
{
	return sources->refused + sources->lines_refused;
}

bool sources_retry(struct sources *sources)
{
	bool again = sources->lines_refused;

	if (again) {
		functions_retry_lines(sources->functions);
		line_worker_retry(sources->worker);
	}
	sources->lines_refused = 0;
	return again;
}

const char *sources_note(struct sources *sources, char *text, size_t size)
{
	return line_worker_note(sources->worker, text, size);
}

/* ---- functions that were inlined ---- */

/* The inlined function of that name in that object, made once. Takes over the name. FUNCTION_NONE: no room. */
static uint32_t have_inline(struct sources *sources, char *name, const struct function *within)
{
	struct function function = *within;
	uint64_t hash = hash_pair(&sources->by_name, (uintptr_t)within->object, within->kernel);
	uint32_t at = 0, position, *inlines;

	for (const char *c = name; *c; c++)
		hash = hash_pair(&sources->by_name, hash, (unsigned char)*c);
	while ((position = hash_next(&sources->by_name, hash, &at)) != HASH_NONE) {
		const struct function *other =
			functions_get(sources->functions, sources->inlines[position]);

		if (other->object == within->object && other->kernel == within->kernel &&
				strcmp(other->name, name) == 0) {
			free(name);
			return sources->inlines[position];
		}
	}
	function.name = name;
	function.inlined = function.known = true;
	function.address = 0;
	inlines = budget_array(sources->budget, sources->inlines, sources->inline_count,
		&sources->inline_room, sizeof(*inlines));
	if (inlines)
		sources->inlines = inlines;
	if (!inlines || !hash_add(&sources->by_name, hash, sources->inline_count)) {
		free(name);
		return FUNCTION_NONE;
	}
	return inlines[sources->inline_count++] =
		functions_add(sources->functions, &function, NULL);
}

static bool add_id(struct sources *sources, uint32_t id)
{
	uint32_t *ids = id == FUNCTION_NONE ? NULL : budget_array(sources->budget, sources->ids,
		sources->id_count, &sources->id_room, sizeof(*ids));

	if (!ids)
		return false;
	sources->ids = ids;
	ids[sources->id_count++] = id;
	return true;
}

/* `names`: each ends in a newline, the outermost first. */
static void keep_inlined(struct sources *sources, struct place *place, const char *names)
{
	const struct function *within = functions_get(sources->functions, place->within);
	const char *end;

	place->known = true;
	place->first = sources->id_count;
	for (; names && (end = strchr(names, '\n')); names = end + 1) {
		char *name = util_copy(names, (size_t)(end - names));

		if (!add_id(sources, have_inline(sources, demangle_shown(name), within)))
			sources->refused++;
		free(name);
	}
	place->count = sources->id_count - place->first;
}

/* ---- answers and questions ---- */

static void take_line(struct sources *sources, const struct line_answer *answer)
{
	const char *line = answer->text;

	if (answer->later)
		functions_origin(sources->functions, answer->ticket)->asked = false;
	else if (!functions_set_line(sources->functions, answer->ticket, answer->starved ? NULL :
			line ? util_printable(line, strnlen(line, LINE_SHOWN)) : util_copy("", 0)))
		sources->lines_refused++;
}

static void take_inlined(struct sources *sources, const struct line_answer *answer)
{
	sources->asked--;
	sources->refused += answer->starved;
	if (!answer->later)
		keep_inlined(sources, &sources->places[answer->ticket], answer->text);
	else if (answer->ticket < sources->next)
		sources->next = answer->ticket;
}

static void take_answers(struct sources *sources)
{
	struct line_answer answer;

	while (line_worker_take(sources->worker, &answer)) {
		if (answer.inlined)
			take_inlined(sources, &answer);
		else
			take_line(sources, &answer);
		free(answer.text);
	}
}

static void ask_places(struct sources *sources)
{
	while (sources->asked < AHEAD && sources->next < sources->place_count) {
		const struct place *place = &sources->places[sources->next];
		const struct line_question question = {
			.object = place->object, .address = place->address,
			.ticket = sources->next, .inlined = true,
		};

		if (!place->known && !line_worker_ask(sources->worker, &question))
			return;
		sources->asked += !place->known;
		sources->next++;
	}
}

const char *sources_line(struct sources *sources, uint32_t function,
	const struct debug_object *object)
{
	struct origin *origin = functions_origin(sources->functions, function);
	struct line_question question = { .object = object, .ticket = function };

	take_answers(sources);
	if (!origin->line && !origin->asked) {
		question.address = functions_get(sources->functions, function)->address;
		origin->asked = line_worker_ask(sources->worker, &question);
	}
	return origin->line;
}

/* NULL: there is no room for a new place. */
static struct place *have_place(struct sources *sources, const struct debug_object *object,
	uint64_t address, uint32_t within)
{
	uint64_t hash = hash_pair(&sources->by_address, (uintptr_t)object, address);
	uint32_t at = 0, position;
	struct place *places;

	while ((position = hash_next(&sources->by_address, hash, &at)) != HASH_NONE)
		if (sources->places[position].object == object &&
				sources->places[position].address == address)
			return &sources->places[position];
	places = sources->place_count == SOURCES_MAX ? NULL : budget_array(sources->budget,
		sources->places, sources->place_count, &sources->place_room, sizeof(*places));
	if (places)
		sources->places = places;
	if (!places || !hash_add(&sources->by_address, hash, sources->place_count))
		return NULL;
	places[sources->place_count] = (struct place) {
		.object = object, .address = address, .within = within,
	};
	return &places[sources->place_count++];
}

bool sources_inlined(struct sources *sources, const struct debug_object *object, uint64_t address,
	uint32_t within, struct inlined *inlined)
{
	const struct place *place = have_place(sources, object, address, within);

	*inlined = (struct inlined) { .count = 0 };
	if (!place) {
		sources->refused++;
		return true;
	}
	take_answers(sources);
	ask_places(sources);
	if (place->count)
		*inlined = (struct inlined) { sources->ids + place->first, place->count };
	return place->known;
}
