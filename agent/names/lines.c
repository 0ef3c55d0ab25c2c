/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/dwarf/line_worker.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/symbol_table.h"
#include "function.h"
#include "guest_symbols.h"
#include "lines.h"

enum {
	LINE_SHOWN = 256,		/* bytes of "file.c:41" */
	AHEAD = LINE_QUEUE / 2,		/* addresses asked about at once; the rest is for lines */
};

struct place {				/* an address that was asked about */
	const struct debug_object *object;
	uint64_t address;
	enum line_wanted wanted;	/* LINE_INLINED: the functions that are inlined there; LINE_AT: its lines */
	uint32_t within;		/* LINE_INLINED: the function around it */
	uint32_t first, count;		/* LINE_INLINED: its part of `ids` */
	char *lines;			/* LINE_AT; NULL: not known, or no memory for it */
	bool known, starved;
};

struct code_wish {			/* the one stretch of code that is asked about */
	const struct debug_object *object;	/* NULL: none is */
	uint64_t low, high;
	uint32_t ticket;
	bool asked;
	enum lines_state state;		/* LINES_COMING until it is answered */
	struct code_lines *lines;	/* of the answer */
};

struct lines {
	struct budget *budget;
	struct functions *functions;
	struct line_worker *worker;
	uint64_t refused, lines_refused;
	uint64_t read;			/* lines of addresses */

	struct place *places;
	uint32_t place_count, place_room;
	struct hash by_address;
	uint32_t next, asked;		/* places before `next` were asked about; `asked` answers are due */

	uint32_t *ids;			/* of all places; each list has the outermost first */
	uint32_t id_count, id_room;
	uint32_t *inlines;		/* ids of functions that were inlined somewhere, each once */
	uint32_t inline_count, inline_room;
	struct hash by_name;
	struct code_wish code;
};

struct lines *lines_new(struct functions *functions, struct budget *budget)
{
	struct lines *lines = util_alloc(sizeof(*lines));

	lines->budget = budget;
	lines->functions = functions;
	lines->worker = line_worker_new(budget);
	hash_init(&lines->by_address, budget);
	hash_init(&lines->by_name, budget);
	return lines;
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	line_worker_free(lines->worker);
	code_lines_free(lines->code.lines);
	for (uint32_t i = 0; i < lines->place_count; i++)
		if (lines->places[i].lines)
			budget_free(lines->budget, lines->places[i].lines, strlen(lines->places[i].lines) + 1);
	hash_clear(&lines->by_address);
	hash_clear(&lines->by_name);
	budget_free(lines->budget, lines->places,
		lines->place_room * sizeof(*lines->places));
	budget_free(lines->budget, lines->ids, lines->id_room * sizeof(*lines->ids));
	budget_free(lines->budget, lines->inlines,
		lines->inline_room * sizeof(*lines->inlines));
	free(lines);
}

void lines_set(struct lines *lines, const struct debug_folders *folders, bool debuginfod)
{
	line_worker_set(lines->worker, folders, debuginfod);
}

uint64_t lines_refused(const struct lines *lines)
{
	return lines->refused + lines->lines_refused;
}

bool lines_retry(struct lines *lines)
{
	bool again = lines->lines_refused;

	for (uint32_t i = 0; i < lines->place_count && again; i++) {
		lines->places[i].known = lines->places[i].known && !lines->places[i].starved;
		lines->places[i].starved = false;
	}
	if (again) {
		lines->next = 0;
		functions_retry_lines(lines->functions);
		line_worker_retry(lines->worker);
	}
	lines->lines_refused = 0;
	return again;
}

const char *lines_note(struct lines *lines, char *text, size_t size)
{
	return line_worker_note(lines->worker, text, size);
}

/* ---- functions that were inlined ---- */

/* The inlined function of that name in that object, made once. Takes over the name. FUNCTION_NONE: no room. */
static uint32_t have_inline(struct lines *lines, char *name, const struct function *within)
{
	struct function function = *within;
	uint64_t hash = hash_pair(&lines->by_name, (uintptr_t)within->object, within->kernel);
	uint32_t at = 0, position, *inlines;

	for (const char *c = name; *c; c++)
		hash = hash_pair(&lines->by_name, hash, (unsigned char)*c);
	while ((position = hash_next(&lines->by_name, hash, &at)) != HASH_NONE) {
		const struct function *other =
			functions_get(lines->functions, lines->inlines[position]);

		if (other->object == within->object && other->kernel == within->kernel &&
				strcmp(other->name, name) == 0) {
			free(name);
			return lines->inlines[position];
		}
	}
	function.name = name;
	function.inlined = function.known = true;
	function.address = 0;
	inlines = budget_array(lines->budget, lines->inlines, lines->inline_count,
		&lines->inline_room, sizeof(*inlines));
	if (inlines)
		lines->inlines = inlines;
	if (!inlines || !hash_add(&lines->by_name, hash, lines->inline_count)) {
		free(name);
		return FUNCTION_NONE;
	}
	return inlines[lines->inline_count++] =
		functions_add(lines->functions, &function, NULL);
}

static bool add_id(struct lines *lines, uint32_t id)
{
	uint32_t *ids = id == FUNCTION_NONE ? NULL : budget_array(lines->budget, lines->ids,
		lines->id_count, &lines->id_room, sizeof(*ids));

	if (!ids)
		return false;
	lines->ids = ids;
	ids[lines->id_count++] = id;
	return true;
}

/* `names`: each ends in a newline, the outermost first. */
static void keep_inlined(struct lines *lines, struct place *place, const char *names)
{
	const struct function *within = functions_get(lines->functions, place->within);
	const char *end;

	place->known = true;
	place->first = lines->id_count;
	for (; names && (end = strchr(names, '\n')); names = end + 1) {
		char *name = util_copy(names, (size_t)(end - names));

		if (!add_id(lines, have_inline(lines, demangle_shown(name), within)))
			lines->refused++;
		free(name);
	}
	place->count = lines->id_count - place->first;
}

/* ---- answers and questions ---- */

static void take_line(struct lines *lines, const struct line_answer *answer)
{
	const char *line = answer->text;

	if (answer->later)
		functions_origin(lines->functions, answer->ticket)->asked = false;
	else if (!functions_set_line(lines->functions, answer->ticket, answer->starved ? NULL :
			line ? util_printable(line, strnlen(line, LINE_SHOWN)) : util_copy("", 0)))
		lines->lines_refused++;
}

static void keep_lines(struct lines *lines, struct place *place, const struct line_answer *answer)
{
	char *text = answer->text ? util_printable_lines(answer->text, strlen(answer->text)) : util_copy("", 0);
	size_t size = strlen(text) + 1;

	place->known = true;
	place->lines = answer->starved ? NULL : budget_resize(lines->budget, NULL, 0, size);
	place->starved = !place->lines;
	if (place->lines)
		memcpy(place->lines, text, size);
	lines->lines_refused += place->starved;
	lines->read++;
	free(text);
}

static void take_place(struct lines *lines, const struct line_answer *answer)
{
	struct place *place = &lines->places[answer->ticket];

	lines->asked--;
	if (answer->later && answer->ticket < lines->next)
		lines->next = answer->ticket;
	if (answer->wanted == LINE_INLINED)
		lines->refused += answer->starved;
	if (answer->later || place->known)
		return;
	if (answer->wanted == LINE_AT)
		keep_lines(lines, place, answer);
	else
		keep_inlined(lines, place, answer->text);
}

/* An answer to an earlier question of this kind is of no use any more. */
static void take_code(struct lines *lines, struct line_answer *answer)
{
	struct code_wish *wish = &lines->code;

	if (answer->ticket != wish->ticket)
		return;
	wish->state = answer->later ? LINES_LATER : LINES_THERE;
	wish->lines = answer->code;
	answer->code = NULL;
}

static void take_answers(struct lines *lines)
{
	struct line_answer answer;

	while (line_worker_take(lines->worker, &answer)) {
		if (answer.wanted == LINE_PLACE)
			take_line(lines, &answer);
		else if (answer.wanted == LINE_CODE)
			take_code(lines, &answer);
		else
			take_place(lines, &answer);
		line_answer_clear(&answer);
	}
}

enum lines_state lines_code(struct lines *lines, const struct debug_object *object, uint64_t low, uint64_t high,
	struct code_lines **code)
{
	struct code_wish *wish = &lines->code;
	enum lines_state state;

	*code = NULL;
	take_answers(lines);
	if (wish->object != object || wish->low != low || wish->high != high) {
		code_lines_free(wish->lines);
		*wish = (struct code_wish) { .object = object, .low = low, .high = high, .ticket = wish->ticket + 1 };
	}
	if (!wish->asked)
		wish->asked = line_worker_ask(lines->worker, &(struct line_question) {
			.object = object, .address = low, .end = high, .ticket = wish->ticket, .wanted = LINE_CODE });
	state = wish->state;
	if (state == LINES_COMING)
		return state;
	*code = wish->lines;
	*wish = (struct code_wish) { .ticket = wish->ticket };
	return state;
}

static void ask_places(struct lines *lines)
{
	while (lines->asked < AHEAD && lines->next < lines->place_count) {
		const struct place *place = &lines->places[lines->next];
		const struct line_question question = {
			.object = place->object, .address = place->address,
			.ticket = lines->next, .wanted = place->wanted,
		};

		if (!place->known && !line_worker_ask(lines->worker, &question))
			return;
		lines->asked += !place->known;
		lines->next++;
	}
}

const char *lines_of(struct lines *lines, uint32_t function,
	const struct debug_object *object)
{
	struct origin *origin = functions_origin(lines->functions, function);
	struct line_question question = { .object = object, .ticket = function };

	take_answers(lines);
	if (!origin->line && !origin->asked) {
		question.address = functions_get(lines->functions, function)->address;
		origin->asked = line_worker_ask(lines->worker, &question);
	}
	return origin->line;
}

/* The place with the object, address and kind of the wanted one. NULL: there is no room for a new one. */
static struct place *have_place(struct lines *lines, const struct place *wanted)
{
	uint64_t hash = hash_pair(&lines->by_address, (uintptr_t)wanted->object, wanted->address);
	uint32_t at = 0, position;
	struct place *places;

	while ((position = hash_next(&lines->by_address, hash, &at)) != HASH_NONE)
		if (lines->places[position].object == wanted->object &&
				lines->places[position].address == wanted->address &&
				lines->places[position].wanted == wanted->wanted)
			return &lines->places[position];
	places = lines->place_count == LINES_MAX ? NULL : budget_array(lines->budget,
		lines->places, lines->place_count, &lines->place_room, sizeof(*places));
	if (places)
		lines->places = places;
	if (!places || !hash_add(&lines->by_address, hash, lines->place_count))
		return NULL;
	places[lines->place_count] = *wanted;
	return &places[lines->place_count++];
}

bool lines_inlined(struct lines *lines, const struct debug_object *object, uint64_t address,
	uint32_t within, struct inlined *inlined)
{
	const struct place *place = have_place(lines, &(struct place) {
		.object = object, .address = address, .within = within, .wanted = LINE_INLINED });

	*inlined = (struct inlined) { .count = 0 };
	if (!place) {
		lines->refused++;
		return true;
	}
	take_answers(lines);
	ask_places(lines);
	if (place->count)
		*inlined = (struct inlined) { lines->ids + place->first, place->count };
	return place->known;
}

const char *lines_at(struct lines *lines, const struct debug_object *object, uint64_t address)
{
	const struct place *place = have_place(lines, &(struct place) {
		.object = object, .address = address, .wanted = LINE_AT });

	if (!place) {
		lines->refused++;
		return "";
	}
	take_answers(lines);
	ask_places(lines);
	return !place->known ? NULL : place->lines ? place->lines : "";
}

bool lines_all_read(const struct lines *lines)
{
	return lines->asked == 0 && lines->next == lines->place_count;
}

uint64_t lines_read(struct lines *lines)
{
	take_answers(lines);
	ask_places(lines);
	return lines->read;
}
