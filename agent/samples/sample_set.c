/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/stacks.h"
#include "sample_set.h"

enum { BLOCK = 64 << 10, COUNT_MAX = 1 << 30 };

struct block {				/* of texts */
	struct block *before;
	size_t size, used;
	char bytes[];
};

/* A list with an index by hash. */
struct list {
	struct hash hash;
	uint32_t room;
};

struct built_set {
	struct sample_set set;		/* first: what others see */
	bool full;
	struct block *blocks;
	const char **texts;		/* each once */
	uint32_t text_count, line_room;
	struct list by_text, by_function, by_object, by_location, by_stack, by_thread, by_sum, by_number;
};

static struct built_set *built(const struct sample_set *set)
{
	return (struct built_set *)set;
}

static void init_lists(struct built_set *set)
{
	struct list *const lists[] = { &set->by_text, &set->by_function, &set->by_object, &set->by_location,
		&set->by_stack, &set->by_thread, &set->by_sum, &set->by_number };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		hash_init(&lists[i]->hash, set->set.budget);
}

const char sample_set_no_memory[] =
	"there is no memory for so many samples; filter, take a shorter range, or give more by --memory";

struct sample_set *sample_set_new(struct budget *budget)
{
	struct built_set *set = util_alloc(sizeof(*set));

	set->set.budget = budget_hold(budget);
	init_lists(set);
	sample_set_tell(&set->set, &(struct set_facts) { .machine = "", .kernel = "", .version = "", .arch = "" });
	return &set->set;
}

/* Frees a list's index and elements. */
static void free_list(struct built_set *set, struct list *list, const void *elements, size_t size)
{
	hash_clear(&list->hash);
	budget_free(set->set.budget, (void *)elements, list->room * size);
}

static void free_texts(struct built_set *set)
{
	for (struct block *block = set->blocks, *before; block; block = before) {
		before = block->before;
		budget_free(set->set.budget, block, sizeof(*block) + block->size);
	}
	free_list(set, &set->by_text, set->texts, sizeof(*set->texts));
}

void sample_set_free(struct sample_set *given)
{
	struct built_set *set = built(given);

	if (!set)
		return;
	sample_set_give_rows(given, NULL, NULL);
	sample_set_give_events(given, NULL, NULL);
	free_texts(set);
	free_list(set, &set->by_function, given->functions, sizeof(*given->functions));
	free_list(set, &set->by_object, given->objects, sizeof(*given->objects));
	free_list(set, &set->by_location, given->locations, sizeof(*given->locations));
	free_list(set, &set->by_stack, given->stacks, sizeof(*given->stacks));
	free_list(set, &set->by_thread, given->threads, sizeof(*given->threads));
	free_list(set, &set->by_sum, given->sums, sizeof(*given->sums));
	free_list(set, &set->by_number, given->facts.numbers, sizeof(*given->facts.numbers));
	budget_free(set->set.budget, (void *)given->lines, set->line_room * sizeof(*given->lines));
	budget_release(set->set.budget);
	free(set);
}

bool sample_set_is_full(const struct sample_set *set)
{
	return built(set)->full;
}

/* Makes room for an element behind `count` ones, which *array points at. NULL: there is none, and the set is full. */
static void *have_room(struct built_set *set, void *array, uint32_t count, uint32_t *room, size_t size)
{
	void *moved = count < COUNT_MAX && !set->full ? budget_array(set->set.budget, array, count, room, size) : NULL;

	set->full = set->full || !moved;
	return moved;
}

/*
 * Adds an element to a list of *count ones; *array may move. Returns its index; SET_NONE: there is no room.
 */
static uint32_t add(struct built_set *set, struct list *list, uint64_t hash, const void **array, uint32_t *count,
	const void *element, size_t size)
{
	char *elements = have_room(set, (void *)*array, *count, &list->room, size);

	if (!elements)
		return SET_NONE;
	*array = elements;
	if (!hash_add(&list->hash, hash, *count)) {
		set->full = true;
		return SET_NONE;
	}
	memcpy(elements + *count * size, element, size);
	return (*count)++;
}

#define ADD(set, list, hash, array, count, element) \
	add(set, list, hash, (const void **)&(set)->array, &(set)->count, element, sizeof(*(element)))

/* ---- texts ---- */

/* Room for a text in a block. NULL: there is none. */
static char *text_room(struct built_set *set, size_t size)
{
	struct block *block = set->blocks;
	size_t bytes = size > BLOCK ? size : BLOCK;

	if (!block || block->size - block->used < size) {
		block = budget_resize(set->set.budget, NULL, 0, sizeof(*block) + bytes);
		if (!block)
			return NULL;
		*block = (struct block) { .before = set->blocks, .size = bytes };
		set->blocks = block;
	}
	block->used += size;
	return block->bytes + block->used - size;
}

/* The set's own copy: equal texts have one. Where there is no room, it is "", and the set is full. */
static const char *own_text(struct built_set *set, const char *text)
{
	uint64_t hash = hash_text(&set->by_text.hash, text);
	uint32_t at = 0, position;
	const char *copy;

	if (!*text)
		return "";
	while ((position = hash_next(&set->by_text.hash, hash, &at)) != HASH_NONE)
		if (strcmp(set->texts[position], text) == 0)
			return set->texts[position];
	copy = set->full ? NULL : text_room(set, strlen(text) + 1);
	set->full = !copy;
	if (!copy)
		return "";
	memcpy((char *)copy, text, strlen(text) + 1);
	return ADD(set, &set->by_text, hash, texts, text_count, &copy) == SET_NONE ? "" : copy;
}

/* ---- what a set consists of: own texts are equal if their pointers are ---- */

static uint64_t hash_of(const struct list *list, uint64_t hash, uint64_t a, uint64_t b)
{
	return hash_pair(&list->hash, hash ^ a, b);
}

static uint64_t text_hash(const char *own)
{
	return (uint64_t)(uintptr_t)own;
}

uint32_t sample_set_function(struct sample_set *given, const struct set_function *function)
{
	struct built_set *set = built(given);
	struct list *list = &set->by_function;
	struct set_function own = *function;
	uint32_t at = 0, position;
	uint64_t hash;

	own.name = own_text(set, function->name);
	own.object = own_text(set, function->object);
	own.file = own_text(set, function->file);
	hash = hash_of(list, 0, text_hash(own.name), own.address);
	hash = hash_of(list, hash, text_hash(own.object), (uint64_t)own.line << 32 | own.kind);
	hash = hash_of(list, hash, text_hash(own.file), 0);
	while ((position = hash_next(&list->hash, hash, &at)) != HASH_NONE) {
		const struct set_function *other = &given->functions[position];

		if (other->name == own.name && other->object == own.object && other->file == own.file &&
				other->line == own.line && other->address == own.address && other->kind == own.kind)
			return set->full ? SET_NONE : position;
	}
	return ADD(set, list, hash, set.functions, set.function_count, &own);
}

uint32_t sample_set_object(struct sample_set *given, const struct set_object *object)
{
	struct built_set *set = built(given);
	struct list *list = &set->by_object;
	struct set_object own = *object;
	uint32_t at = 0, position;
	uint64_t hash;

	own.name = own_text(set, object->name);
	own.path = own_text(set, object->path);
	own.build_id = own_text(set, object->build_id);
	hash = hash_of(list, 0, text_hash(own.name), own.start);
	hash = hash_of(list, hash, text_hash(own.path), own.end);
	hash = hash_of(list, hash, text_hash(own.build_id), own.offset);
	while ((position = hash_next(&list->hash, hash, &at)) != HASH_NONE) {
		const struct set_object *other = &given->objects[position];

		if (other->name == own.name && other->path == own.path && other->build_id == own.build_id &&
				other->start == own.start && other->end == own.end && other->offset == own.offset)
			return set->full ? SET_NONE : position;
	}
	return ADD(set, list, hash, set.objects, set.object_count, &own);
}

/* Copies a location's lines behind all others. False: there is no room. */
static bool add_lines(struct built_set *set, const struct set_line *lines, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct set_line *room = have_room(set, (void *)set->set.lines, set->set.line_count, &set->line_room,
			sizeof(*room));

		if (!room)
			return false;
		set->set.lines = room;
		room[set->set.line_count++] = lines[i];
	}
	return true;
}

static bool same_lines(const struct set_line *a, const struct set_line *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (a[i].function != b[i].function || a[i].line != b[i].line)
			return false;
	return true;
}

uint32_t sample_set_location(struct sample_set *given, uint64_t address, uint32_t object,
	const struct set_line *lines, uint32_t count)
{
	struct built_set *set = built(given);
	struct list *list = &set->by_location;
	struct set_location own = { .address = address, .object = object, .first = given->line_count, .count = count };
	uint64_t hash = hash_of(list, 0, address, object);
	uint32_t at = 0, position;

	for (uint32_t i = 0; i < count; i++)
		hash = hash_of(list, hash, lines[i].function, lines[i].line);
	while ((position = hash_next(&list->hash, hash, &at)) != HASH_NONE) {
		const struct set_location *other = &given->locations[position];

		if (other->address == address && other->object == object && other->count == count &&
				same_lines(given->lines + other->first, lines, count))
			return position;
	}
	if (!add_lines(set, lines, count))
		return SET_NONE;
	return ADD(set, list, hash, set.locations, set.location_count, &own);
}

uint32_t sample_set_stack(struct sample_set *given, uint32_t parent, uint32_t location, bool cut)
{
	struct built_set *set = built(given);
	struct list *list = &set->by_stack;
	struct set_stack own = { .parent = parent, .location = location, .cut = cut };
	uint64_t hash = hash_of(list, 0, parent, (uint64_t)cut << 32 | location);
	uint32_t at = 0, position;

	while ((position = hash_next(&list->hash, hash, &at)) != HASH_NONE) {
		const struct set_stack *other = &given->stacks[position];

		if (other->parent == parent && other->location == location && other->cut == cut)
			return position;
	}
	return ADD(set, list, hash, set.stacks, set.stack_count, &own);
}

uint32_t sample_set_thread(struct sample_set *given, const struct set_thread *thread)
{
	struct built_set *set = built(given);
	struct list *list = &set->by_thread;
	struct set_thread own = *thread;
	uint32_t at = 0, position;
	uint64_t hash;

	own.name = own_text(set, thread->name);
	own.process_name = own_text(set, thread->process_name);
	hash = hash_of(list, 0, (uint64_t)own.process << 32 | own.id, text_hash(own.name));
	hash = hash_of(list, hash, text_hash(own.process_name), 0);
	while ((position = hash_next(&list->hash, hash, &at)) != HASH_NONE) {
		const struct set_thread *other = &given->threads[position];

		if (other->id == own.id && other->process == own.process && other->name == own.name &&
				other->process_name == own.process_name)
			return set->full ? SET_NONE : position;
	}
	return ADD(set, list, hash, set.threads, set.thread_count, &own);
}

static void add_to_sum(struct set_sum *to, const struct set_sum *sum)
{
	to->samples += sum->samples;
	to->weight += sum->weight;
	to->ns += sum->ns;
}

static uint64_t hash_of_sum(const struct built_set *set, uint32_t stack, const struct set_who *who)
{
	return hash_of(&set->by_sum, 0, (uint64_t)who->thread << 32 | stack, (uint64_t)who->cpu << 32 | who->mode);
}

uint32_t sample_set_find(const struct sample_set *given, uint32_t stack, const struct set_who *who)
{
	const struct built_set *set = built(given);
	uint64_t hash = hash_of_sum(set, stack, who);
	uint32_t at = 0, position;

	while ((position = hash_next(&set->by_sum.hash, hash, &at)) != HASH_NONE) {
		const struct set_sum *other = &given->sums[position];

		if (other->stack == stack && other->who.thread == who->thread && other->who.cpu == who->cpu &&
				other->who.mode == who->mode)
			break;
	}
	return position;
}

_Static_assert(SET_NONE == HASH_NONE, "what is not found has no index");

uint32_t sample_set_add(struct sample_set *given, const struct set_sum *sum)
{
	struct built_set *set = built(given);
	uint32_t position = sample_set_find(given, sum->stack, &sum->who);

	if (position != SET_NONE)
		add_to_sum((struct set_sum *)&given->sums[position], sum);
	else
		position = ADD(set, &set->by_sum, hash_of_sum(set, sum->stack, &sum->who), set.sums,
			set.sum_count, sum);
	if (position == SET_NONE)
		return SET_NONE;
	given->samples += sum->samples;
	given->weight += sum->weight;
	given->ns += sum->ns;
	return position;
}

/* In the set's own texts. They are told once. */
static void tell_numbers(struct built_set *set, const struct set_facts *facts)
{
	for (uint32_t i = 0; i < facts->number_count && !set->full; i++) {
		const struct trace_number *is = &facts->numbers[i];
		const struct trace_number number = { is->role, is->number, own_text(set, is->name) };
		uint64_t hash = hash_pair(&set->by_number.hash, is->number, is->role);

		ADD(set, &set->by_number, hash, set.facts.numbers, set.facts.number_count, &number);
	}
}

bool sample_set_tell(struct sample_set *given, const struct set_facts *facts)
{
	struct built_set *set = built(given);
	const struct trace_number *numbers = given->facts.numbers;
	uint32_t number_count = given->facts.number_count;

	given->facts = *facts;
	given->facts.numbers = numbers;
	given->facts.number_count = number_count;
	if (!number_count)
		tell_numbers(set, facts);
	given->facts.machine = own_text(set, facts->machine);
	given->facts.kernel = own_text(set, facts->kernel);
	given->facts.version = own_text(set, facts->version);
	given->facts.arch = own_text(set, facts->arch);
	return !set->full;
}

void sample_set_give_rows(struct sample_set *set, const struct set_rows_table *table, void *context)
{
	if (set->rows)
		set->rows->free(set->rows_context);
	set->rows = table;
	set->rows_context = context;
}

void sample_set_give_events(struct sample_set *set, const struct set_events_table *table, void *context)
{
	if (set->events)
		set->events->free(set->events_context);
	set->events = table;
	set->events_context = context;
}

/* ---- reading ---- */

const char *sample_set_called(const struct sample_set *set, enum trace_role role, uint64_t number)
{
	const struct hash *hash = &built(set)->by_number.hash;
	uint64_t key = hash_pair(hash, number, role);
	uint32_t at = 0, position;

	while ((position = hash_next(hash, key, &at)) != HASH_NONE)
		if (set->facts.numbers[position].role == role && set->facts.numbers[position].number == number)
			return set->facts.numbers[position].name;
	return "";
}

_Static_assert((int)SET_MODES == (int)MODE_NAMES, "each mode has a word");

const char *sample_set_mode(uint8_t mode)
{
	return mode_names[mode];
}

const struct set_function *sample_set_leaf(const struct sample_set *set, uint32_t stack)
{
	return &set->functions[set->lines[set->locations[set->stacks[stack].location].first].function];
}

uint32_t sample_set_frames(const struct sample_set *set, uint32_t stack, struct set_line *frames, uint32_t room)
{
	uint32_t count = 0;

	for (; stack != SET_NONE; stack = set->stacks[stack].parent) {
		const struct set_location *location = &set->locations[set->stacks[stack].location];

		for (uint32_t i = 0; i < location->count && count < room; i++)
			frames[count++] = set->lines[location->first + i];
	}
	for (uint32_t i = 0; i < count / 2; i++) {
		struct set_line swapped = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = swapped;
	}
	return count;
}

/* ---- row list ---- */

struct row_list {
	struct budget *budget;
	struct set_row *rows;
	uint32_t count, room;
};

struct set_rows {			/* a reader */
	const struct row_list *list;
	uint32_t at;
};

enum { LIST_COUNT_MAX = 1 << 30 };

struct row_list *row_list_new(struct budget *budget)
{
	struct row_list *list = util_alloc(sizeof(*list));

	list->budget = budget_hold(budget);
	return list;
}

bool row_list_add(struct row_list *list, const struct set_row *row)
{
	struct set_row *rows = list->count < LIST_COUNT_MAX ?
		budget_array(list->budget, list->rows, list->count, &list->room, sizeof(*rows)) : NULL;

	if (!rows)
		return false;
	list->rows = rows;
	rows[list->count++] = *row;
	return true;
}

void row_list_free(struct row_list *list)
{
	budget_free(list->budget, list->rows, list->room * sizeof(*list->rows));
	budget_release(list->budget);
	free(list);
}

static int by_time(const void *left, const void *right)
{
	const struct set_row *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->sum > b->sum) - (a->sum < b->sum);
}

static struct set_rows *open_rows(void *context)
{
	struct set_rows *rows = util_alloc(sizeof(*rows));

	rows->list = context;
	return rows;
}

static bool next_row(struct set_rows *rows, struct set_row *row)
{
	if (rows->at == rows->list->count)
		return false;
	*row = rows->list->rows[rows->at++];
	return true;
}

static bool never_failed(const struct set_rows *rows)
{
	(void)rows;
	return false;
}

static void close_rows(struct set_rows *rows)
{
	free(rows);
}

static void free_context(void *context)
{
	row_list_free(context);
}

static const struct set_rows_table list_table = {
	.open = open_rows, .next = next_row, .failed = never_failed, .close = close_rows, .free = free_context,
};

void row_list_give(struct row_list *list, struct sample_set *set)
{
	if (list->count)
		qsort(list->rows, list->count, sizeof(*list->rows), by_time);
	sample_set_give_rows(set, &list_table, list);
}

/* ---- the set's code ---- */

static enum set_kind kind_of(const struct function *function)
{
	if (function_is_unknown(function))
		return SET_UNKNOWN;
	if (!function->known && strcmp(function->name, "[idle]") == 0)
		return SET_IDLE;
	return !function->kernel ? SET_USER : function->module ? SET_MODULE : SET_KERNEL;
}

/* Takes "file.c:41" apart. `text` NULL or "": not known. Returns the file in `file`. */
static const char *split_line(const char *text, char file[256], uint32_t *line)
{
	const char *colon = text ? strrchr(text, ':') : NULL;

	*line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	util_print(file, 256, "%.*s", colon ? (int)(colon - text) : 0, colon ? text : "");
	return file;
}

/* `at`: a file that is taken if no one knows the function's own. */
static uint32_t add_function(const struct set_code *code, uint32_t id, const char *at)
{
	struct symbols *symbols = code->symbols;
	const struct function *function = symbols_get(symbols, id);
	struct set_function own = {
		.name = function->name, .object = function->object, .address = function->address,
		.kind = kind_of(function),
	};
	char file[256];

	own.file = split_line(symbols_line(symbols, id), file, &own.line);
	if (!*own.file && function->inlined)
		own.file = at;
	return sample_set_function(code->set, &own);
}

uint32_t set_code_function(const struct set_code *code, uint32_t function)
{
	return add_function(code, function, "");
}

/*
 * A function with a line of its code, which counts only if it is in the function's file: what the compiler had from
 * another file has no function of its own.
 */
static struct set_line add_line(const struct set_code *code, uint32_t function, const char *text)
{
	struct set_line line = { .line = 0 };
	char file[256];
	uint32_t number;

	split_line(text, file, &number);
	line.function = add_function(code, function, file);
	if (line.function != SET_NONE && strcmp(code->set->functions[line.function].file, file) == 0)
		line.line = number;
	return line;
}

/* The lines at a node, split up: the innermost first. Returns how many. */
static uint32_t lines_at(const struct set_code *code, const struct node *node, char **text,
	const char *lines[SET_CODE_LINES])
{
	const char *known = code->lines ? symbols_lines_at(code->symbols, node->space, node->address) : NULL;
	uint32_t count = 0;
	char *end;

	*text = util_copy(known ? known : "", known ? strlen(known) : 0);
	while (count < SET_CODE_LINES - 1 && (end = strrchr(*text, '\n'))) {
		lines[count++] = end + 1;
		*end = '\0';
	}
	lines[count++] = *text;
	return count;
}

uint32_t set_code_lines(const struct set_code *code, const struct node *node, uint32_t function,
	struct set_line lines[SET_CODE_LINES])
{
	uint32_t inside[SET_CODE_LINES], count = 0, known;
	struct inlined inlined = { .count = 0 };
	const char *at[SET_CODE_LINES];
	char *text;

	if (code->lines)
		symbols_inlined(code->symbols, node->space, node->address, &inlined);
	while (count < inlined.count && count < SET_CODE_LINES - 1) {	/* the list may go with the next question */
		inside[count] = inlined.functions[inlined.count - 1 - count];
		count++;
	}
	inside[count++] = function;
	known = lines_at(code, node, &text, at);
	for (uint32_t i = 0; i < count; i++)		/* if one is missing, nobody knows whose call a line is */
		lines[i] = add_line(code, inside[i], i == 0 || known == count ? at[i] : "");
	free(text);
	return count;
}

uint32_t set_code_object(const struct set_code *code, const struct node *node, uint32_t function)
{
	const char *name = symbols_get(code->symbols, function)->object;
	struct symbols_mapping mapping;
	struct set_object own = { .name = name, .path = "", .build_id = "" };
	char id[2 * sizeof(mapping.build_id.bytes) + 1] = "";

	if (symbols_mapping(code->symbols, node->space, node->address, &mapping) &&
			strcmp(mapping.name, name) == 0) {
		for (size_t i = 0; i < mapping.build_id.size; i++)
			snprintf(id + 2 * i, 3, "%02x", mapping.build_id.bytes[i]);
		own = (struct set_object) { .name = name, .path = mapping.path, .build_id = id, .start = mapping.start,
			.end = mapping.end, .offset = mapping.offset };
	}
	return *name ? sample_set_object(code->set, &own) : SET_NONE;
}
