/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/query/question/filter.h"
#include "code_sizes.h"
#include "size_rows.h"

/* ---- name space ---- */

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Skips what is no name in front of a type: `<`, `&mut `, `*const `, `dyn `. */
static const char *skip_front(const char *at)
{
	static const char *const words[] = { "mut ", "const ", "dyn " };
	bool more = true;

	while (more) {
		at += strspn(at, "<&*([ ");
		more = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !more; i++) {
			more = strncmp(at, words[i], strlen(words[i])) == 0;
			at += more ? strlen(words[i]) : 0;
		}
	}
	return at;
}

/* The bytes of a path such as `a::b::c`: letters, and `::` between them. It ends before anything else. */
static size_t path_size(const char *at)
{
	size_t size = 0;

	for (;;) {
		if (is_letter(at[size]))
			size++;
		else if (size && at[size] == ':' && at[size + 1] == ':' && is_letter(at[size + 2]))
			size += 2;
		else
			return size;
	}
}

/* The bytes before the last `::` of a path; 0: it has none. */
static size_t without_last(const char *path, size_t size)
{
	while (size > 1 && !(path[size - 1] == ':' && path[size - 2] == ':'))
		size--;
	return size > 1 ? size - 2 : 0;
}

/* Does the name go on behind these arguments of a template, so that they are of a class? */
static bool goes_on_behind(const char *arguments)
{
	int depth = 0;

	for (const char *at = arguments; *at; at++) {
		depth += *at == '<';
		depth -= *at == '>' && at[-1] != '-';
		if (depth == 0)
			return at[1] == ':' && at[2] == ':';
	}
	return false;
}

const char *name_space(const char *name, size_t *size)
{
	bool typed = name[0] == '<';
	const char *at = typed ? skip_front(name) : name, *behind;
	size_t all = path_size(at);

	behind = at + all + (strncmp(at + all, "::<", 3) == 0 ? 2 : 0);	/* Rust writes f::<T> */
	/* Behind a whole namespace stands what is no plain name, such as a destructor or a closure. */
	if (typed || (all && *behind == ':') || (*behind == '<' && goes_on_behind(behind)))
		*size = all;
	else
		*size = without_last(at, all);
	return at;
}

/* How many bytes at the beginning of a namespace are its outermost part, behind the first `from` of them. */
static size_t name_space_part(const char *space, size_t size, size_t from)
{
	size_t at = from;

	if (from)
		at += 2;
	while (at < size && !(space[at] == ':' && space[at + 1] == ':'))
		at++;
	return at;
}

/* ---- size rows ---- */

const char *const size_row_heads[SIZE_BYS] = { "FUNCTION", "FILE", "FOLDER", "OBJECT", "NAMESPACE" };

bool size_rows_filter(const char *text, struct filter *filter, char **error)
{
	if (!filter_parse(text, filter, error))
		return false;
	for (uint32_t i = 0; i < filter->count; i++)
		if (filter->terms[i].by != FILTER_FUNCTION && filter->terms[i].by != FILTER_OBJECT &&
				filter->terms[i].by != FILTER_FILE)
			return util_fail(error, "a word of the filter is about samples, and code has none; "
				"give NAME, object:NAME or file:NAME");
	return true;
}

/* The text of a piece that a term looks at. */
static uint32_t looked_at(const struct code_sizes *sizes, const struct code_piece *piece, enum filter_by by)
{
	return by == FILTER_OBJECT ? sizes->objects[piece->object].name : by == FILTER_FILE ? piece->file : piece->name;
}

/* Does the filter let this piece pass? */
static bool passes(const struct code_sizes *sizes, const struct size_asked *asked, const struct code_piece *piece)
{
	for (uint32_t i = 0; i < asked->filter.count; i++) {
		const struct filter_term *term = &asked->filter.terms[i];
		uint32_t text = looked_at(sizes, piece, term->by);

		if (filter_term_finds(&asked->filter, term, code_sizes_told(sizes, text)) == (term->negated != 0))
			return false;
	}
	return true;
}

/* ---- what row a piece is in ---- */

/* The text of some bytes of another text. */
static uint32_t text_of(struct code_sizes *sizes, const char *text, size_t size, bool *full)
{
	char *copy = util_copy(text, size);
	uint32_t id = code_sizes_text(sizes, copy, full);

	free(copy);
	return id;
}

static uint32_t folder_of(struct code_sizes *sizes, uint32_t file, bool *full)
{
	const char *path = code_sizes_told(sizes, file);
	size_t size = source_path_folder(path);

	if (file == TEXT_NONE)
		return code_sizes_text(sizes, SIZE_NO_SOURCE, full);
	return size ? text_of(sizes, path, size, full) : code_sizes_text(sizes, ".", full);
}

static uint32_t namespace_of(struct code_sizes *sizes, uint32_t name, bool *full)
{
	size_t size;
	const char *space = name_space(code_sizes_told(sizes, name), &size);

	return size ? text_of(sizes, space, size, full) : code_sizes_text(sizes, SIZE_NO_NAMESPACE, full);
}

static uint32_t name_of(struct code_sizes *sizes, const struct size_asked *asked, const struct code_piece *piece,
	bool *full)
{
	switch (asked->by) {
	case SIZE_BY_FILE:
		return piece->file != TEXT_NONE ? piece->file : code_sizes_text(sizes, SIZE_NO_SOURCE, full);
	case SIZE_BY_FOLDER:
		return folder_of(sizes, piece->file, full);
	case SIZE_BY_OBJECT:
		return sizes->objects[asked->compare ? 1 : piece->object].name;
	case SIZE_BY_NAMESPACE:
		return asked->stacks ? piece->name : namespace_of(sizes, piece->name, full);
	default:
		return piece->name;
	}
}

static struct size_row row_of(struct code_sizes *sizes, const struct size_asked *asked, const struct code_piece *piece,
	bool *full)
{
	/* Where one build has no source files, names alone are compared. */
	bool files = asked->by == SIZE_BY_FUNCTION &&
		(!asked->compare || (sizes->objects[0].lines && sizes->objects[1].lines));
	bool objects = asked->stacks || (asked->by == SIZE_BY_FUNCTION && !asked->compare);
	struct size_row row = {
		.name = name_of(sizes, asked, piece, full),
		.file = files ? piece->file : TEXT_NONE,
		.object = objects ? sizes->objects[asked->compare ? 1 : piece->object].name : TEXT_NONE,
	};

	row.bytes[asked->compare ? piece->object : SIZE_BEFORE] = piece->bytes;
	return row;
}

/* ---- rows ---- */

static int by_key(const void *left, const void *right)
{
	const struct size_row *a = left, *b = right;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->object < b->object ? -1 : a->object > b->object;
}

static uint64_t weight_of(const struct size_row *row, bool compare)
{
	uint64_t before = row->bytes[SIZE_BEFORE], after = row->bytes[SIZE_AFTER];

	return !compare ? before : after > before ? after - before : before - after;
}

struct order {
	const struct code_sizes *sizes;
	bool compare;
};

static int by_weight(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const struct size_row *a = left, *b = right;
	uint64_t one = weight_of(a, order->compare), other = weight_of(b, order->compare);
	int names;

	if (one != other)
		return one > other ? -1 : 1;
	names = strcmp(code_sizes_told(order->sizes, a->name), code_sizes_told(order->sizes, b->name));
	if (!names)
		names = strcmp(code_sizes_told(order->sizes, a->file), code_sizes_told(order->sizes, b->file));
	return names ? names : by_key(a, b);
}

/* Makes one row of those that are alike, which stand side by side. */
static void merge(struct size_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct size_row *last = kept ? &rows->rows[kept - 1] : NULL, *row = &rows->rows[i];

		if (!last || by_key(last, row) != 0) {
			rows->rows[kept++] = *row;
			continue;
		}
		for (int side = 0; side < SIZE_SIDES; side++)
			last->bytes[side] += row->bytes[side];
	}
	rows->count = kept;
}

bool size_rows_make(struct code_sizes *sizes, const struct size_asked *asked, struct size_rows *rows)
{
	struct order order = { .sizes = sizes, .compare = asked->compare };
	bool full = false;

	*rows = (struct size_rows) { .room = sizes->count * sizeof(*rows->rows) };
	rows->rows = rows->room ? budget_resize(sizes->budget, NULL, 0, rows->room) : NULL;
	if (!rows->rows)
		return !rows->room;
	for (size_t i = 0; i < sizes->count && !full; i++) {
		struct size_row row;

		if (!passes(sizes, asked, &sizes->pieces[i]))
			continue;
		row = row_of(sizes, asked, &sizes->pieces[i], &full);
		for (int side = 0; side < SIZE_SIDES; side++)
			rows->bytes[side] += row.bytes[side];
		rows->rows[rows->count++] = row;
	}
	if (rows->count)
		qsort(rows->rows, rows->count, sizeof(*rows->rows), by_key);
	merge(rows);
	if (rows->count)
		qsort_r(rows->rows, rows->count, sizeof(*rows->rows), by_weight, &order);
	return !full;
}

void size_rows_clear(struct size_rows *rows, const struct code_sizes *sizes)
{
	budget_free(sizes->budget, rows->rows, rows->room);
	*rows = (struct size_rows) { .count = 0 };
}

/* ---- a change of size ---- */

const char *const size_change_words[SIZE_CHANGES] = { "new", "grown", "shrunk", "gone", "same" };

enum size_change size_change_of(const struct size_row *row)
{
	uint64_t before = row->bytes[SIZE_BEFORE], after = row->bytes[SIZE_AFTER];

	if (before == after)
		return SIZE_SAME;
	if (!before || !after)
		return before ? SIZE_GONE : SIZE_NEW;
	return after > before ? SIZE_GROWN : SIZE_SHRUNK;
}

int64_t size_change_bytes(const uint64_t *bytes)
{
	return (int64_t)(bytes[SIZE_AFTER] - bytes[SIZE_BEFORE]);
}

void size_change_sums(const struct size_rows *rows, struct size_sum sums[SIZE_CHANGES])
{
	memset(sums, 0, SIZE_CHANGES * sizeof(*sums));
	for (size_t i = 0; i < rows->count; i++) {
		struct size_sum *sum = &sums[size_change_of(&rows->rows[i])];

		sum->rows++;
		sum->bytes += size_change_bytes(rows->rows[i].bytes);
	}
}

bool size_limit_read(const char *text, struct size_limit *limit, char **error)
{
	char *end;

	limit->number = strtod(text, &end);
	limit->percent = *end == '%';
	return (end > text && !end[limit->percent] && isfinite(limit->number) && limit->number >= 0) ||
		util_fail(error, "it is neither bytes nor a share; give such as 4096 or 2%%");
}

bool size_limit_passed(const struct size_limit *limit, const uint64_t *bytes)
{
	double most = limit->percent ? limit->number / 100 * (double)bytes[SIZE_BEFORE] : limit->number;

	return (double)size_change_bytes(bytes) > most;
}

/* ---- stacks of sizes ---- */

struct frames {
	char *list[SIZE_FRAMES_MAX];	/* fresh memory */
	uint32_t count;
};

static void push(struct frames *frames, const char *text, size_t size)
{
	frames->list[frames->count++] = util_copy(text, size);
}

/* One frame for each part of a path, while there is room for two more: the rest of the path, and the function. */
static void push_path(struct frames *frames, const char *path)
{
	size_t size = strcspn(path, "/");

	if (path[0] == '/')
		size = 1 + strcspn(path + 1, "/");
	while (path[size] && frames->count < SIZE_FRAMES_MAX - 2) {
		push(frames, path, size);
		path += size + 1;
		size = strcspn(path, "/");
	}
	push(frames, path, strlen(path));
}

static void push_namespace(struct frames *frames, const char *name)
{
	size_t size, at = 0;
	const char *space = name_space(name, &size);

	while (at < size && frames->count < SIZE_FRAMES_MAX - 1) {
		at = name_space_part(space, size, at);
		push(frames, space, at);
	}
}

static void push_row(struct frames *frames, const struct code_sizes *sizes, enum size_by by, const struct size_row *row)
{
	const char *name = code_sizes_told(sizes, row->name), *file = code_sizes_told(sizes, row->file);
	const char *object = code_sizes_told(sizes, row->object);

	push(frames, object, strlen(object));
	if (by == SIZE_BY_FILE || by == SIZE_BY_FOLDER)
		push_path(frames, name);
	else if (by == SIZE_BY_FUNCTION)
		push_path(frames, file[0] ? file : SIZE_NO_SOURCE);
	else if (by == SIZE_BY_NAMESPACE)
		push_namespace(frames, name);
	if (by == SIZE_BY_FUNCTION || by == SIZE_BY_NAMESPACE)
		push(frames, name, strlen(name));
}

bool size_stacks_visit(struct code_sizes *sizes, const struct size_asked *asked, size_stacks_take *take, void *context)
{
	struct size_asked leaves = *asked;
	struct size_rows rows;
	bool made;

	leaves.stacks = true;
	made = size_rows_make(sizes, &leaves, &rows);
	for (size_t i = 0; made && i < rows.count; i++) {
		struct frames frames = { .count = 0 };

		push_row(&frames, sizes, asked->by, &rows.rows[i]);
		take(context, frames.list, frames.count, rows.rows[i].bytes);
		for (uint32_t k = 0; k < frames.count; k++)
			free(frames.list[k]);
	}
	size_rows_clear(&rows, sizes);
	return made;
}
