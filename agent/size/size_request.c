/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/export/json_writer.h"
#include "agent/formats/picture/cells.h"
#include "agent/formats/picture/picture.h"
#include "agent/formats/picture/svg.h"
#include "code_sizes.h"
#include "size_request.h"
#include "size_rows.h"

/* ---- size formats ---- */

/* ---- as text ---- */

enum { NAME_WIDTH = 40, FILE_WIDTH = 40 };

struct writing {
	const struct code_sizes *sizes;
	const struct size_asked *asked;
	const struct size_rows *rows;
	size_t shown;			/* rows at most */
	FILE *out;
};

static double percent(double part, uint64_t whole)
{
	return whole ? 100 * part / (double)whole : 0;
}

static size_t shown_rows(uint32_t top, size_t count)
{
	size_t most = top == SIZE_TOP_UNSET ? SIZE_TOP : top;

	return most && most < count ? most : count;
}

/* Do rows have source files; are there several objects to tell apart? */
static bool has_files(const struct writing *writing)
{
	return writing->asked->by == SIZE_BY_FUNCTION;
}

static bool has_objects(const struct writing *writing)
{
	return has_files(writing) && !writing->asked->compare && writing->sizes->object_count > 1;
}

static void put_names(const struct writing *writing, const char *name, const char *file, const char *object)
{
	if (!has_files(writing)) {
		fprintf(writing->out, "%s\n", name);
		return;
	}
	util_pad(writing->out, name, NAME_WIDTH);
	if (has_objects(writing)) {
		util_pad(writing->out, file, FILE_WIDTH);
		fprintf(writing->out, "%s\n", object);
	} else {
		fprintf(writing->out, "%s\n", file);
	}
}

static void put_row_names(const struct writing *writing, const struct size_row *row)
{
	put_names(writing, code_sizes_told(writing->sizes, row->name), code_sizes_told(writing->sizes, row->file),
		code_sizes_told(writing->sizes, row->object));
}

static uint64_t all_bytes(const struct code_sizes *sizes)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < sizes->object_count; i++)
		bytes += sizes->objects[i].bytes;
	return bytes;
}

/* ---- of one build ---- */

static void write_sizes(const struct writing *writing)
{
	const struct size_rows *rows = writing->rows;
	uint64_t all = all_bytes(writing->sizes), left = rows->bytes[SIZE_BEFORE];

	fprintf(writing->out, "%10s %7s  ", "BYTES", "%");
	put_names(writing, size_row_heads[writing->asked->by], "SOURCE", "OBJECT");
	for (size_t i = 0; i < writing->shown; i++) {
		uint64_t bytes = rows->rows[i].bytes[SIZE_BEFORE];

		fprintf(writing->out, "%10" PRIu64 " %7.2f  ", bytes, percent((double)bytes, all));
		put_row_names(writing, &rows->rows[i]);
		left -= bytes;
	}
	if (writing->shown < rows->count)
		fprintf(writing->out, "%10" PRIu64 " %7.2f  (%zu more row%s; --top 0 shows all)\n", left,
			percent((double)left, all), rows->count - writing->shown,
			util_plural(rows->count - writing->shown));
	if (rows->bytes[SIZE_BEFORE] < all)
		fprintf(writing->out, "%10" PRIu64 " %7.2f  what the filter lets pass\n", rows->bytes[SIZE_BEFORE],
			percent((double)rows->bytes[SIZE_BEFORE], all));
	fprintf(writing->out, "%10" PRIu64 " %7.2f  all executable sections\n", all, all ? 100.0 : 0);
}

/* ---- of two builds ---- */

static void put_change(const struct writing *writing, const uint64_t *bytes, enum size_change change)
{
	fprintf(writing->out, "%10" PRIu64 " %10" PRIu64 " %+10" PRId64 " ", bytes[SIZE_BEFORE], bytes[SIZE_AFTER],
		size_change_bytes(bytes));
	if (change == SIZE_NEW || change == SIZE_GONE)
		fprintf(writing->out, "%9s  ", size_change_words[change]);
	else
		fprintf(writing->out, "%+9.2f  ", percent((double)size_change_bytes(bytes), bytes[SIZE_BEFORE]));
}

static void write_sums(const struct writing *writing)
{
	struct size_sum sums[SIZE_CHANGES];

	size_change_sums(writing->rows, sums);
	fputc('\n', writing->out);
	for (int i = 0; i < SIZE_CHANGES; i++)
		fprintf(writing->out, "%22s%+10" PRId64 " %9s  %zu %s\n", "", sums[i].bytes, "", sums[i].rows,
			size_change_words[i]);
	put_change(writing, writing->rows->bytes, SIZE_GROWN);
	fprintf(writing->out, "%s\n", writing->asked->filter.count ? "what the filter lets pass" :
		"all executable sections");
}

static void write_changes(const struct writing *writing)
{
	size_t changed = 0;

	/* Those that changed come first. */
	while (changed < writing->rows->count && size_change_of(&writing->rows->rows[changed]) != SIZE_SAME)
		changed++;
	fprintf(writing->out, "%10s %10s %10s %9s  ", "BEFORE", "AFTER", "CHANGE", "%");
	put_names(writing, size_row_heads[writing->asked->by], "SOURCE", "");
	for (size_t i = 0; i < writing->shown && i < changed; i++) {
		put_change(writing, writing->rows->rows[i].bytes, size_change_of(&writing->rows->rows[i]));
		put_row_names(writing, &writing->rows->rows[i]);
	}
	if (writing->shown < changed)
		fprintf(writing->out, "(%zu more row%s; --top 0 shows all)\n", changed - writing->shown,
			util_plural(changed - writing->shown));
	write_sums(writing);
}

static void write_notes(const struct writing *writing)
{
	for (uint32_t i = 0; i < writing->sizes->object_count; i++) {
		const struct code_object *object = &writing->sizes->objects[i];

		if (object->note)
			fprintf(writing->out, "%s: %s\n", code_sizes_told(writing->sizes, object->name), object->note);
	}
}

static bool write_text(struct code_sizes *sizes, const struct size_asked *asked, uint32_t top, FILE *out,
	const char **nothing)
{
	struct size_rows rows;
	bool made = size_rows_make(sizes, asked, &rows);
	struct writing writing = {
		.sizes = sizes, .asked = asked, .rows = &rows, .shown = shown_rows(top, rows.count), .out = out,
	};

	(void)nothing;
	if (made && asked->compare)
		write_changes(&writing);
	else if (made)
		write_sizes(&writing);
	if (made)
		write_notes(&writing);
	size_rows_clear(&rows, sizes);
	return made;
}

const struct size_format size_text = { .name = "text", .ending = ".txt", .rows = true, .write = write_text };

/* ---- as folded stacks ---- */

struct folded_writing {
	FILE *out;
	bool compare, any;		/* a stack has been written */
};

/* Replaces what would separate frames, counts or lines. */
static void put_frame(const char *name, FILE *out)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : (unsigned char)*name <= ' ' || *name == 0x7f ? '_' : *name, out);
}

/* With a comparison two numbers: before and after. */
static void write_stack(void *context, char *const *frames, uint32_t count, const uint64_t *bytes)
{
	struct folded_writing *writing = context;

	writing->any = true;
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(';', writing->out);
		put_frame(frames[i], writing->out);
	}
	fprintf(writing->out, " %" PRIu64, bytes[SIZE_BEFORE]);
	if (writing->compare)
		fprintf(writing->out, " %" PRIu64, bytes[SIZE_AFTER]);
	putc('\n', writing->out);
}

static bool write_folded(struct code_sizes *sizes, const struct size_asked *asked, uint32_t top, FILE *out,
	const char **nothing)
{
	struct folded_writing writing = { .out = out, .compare = asked->compare };

	(void)top;
	if (!size_stacks_visit(sizes, asked, write_stack, &writing))
		return false;
	if (!writing.any)
		*nothing = "no code passes the filter; take another one";
	return writing.any;
}

const struct size_format size_folded = { .name = "folded", .ending = ".folded", .write = write_folded };

/* ---- as JSON ---- */

static const char *const by_words[SIZE_BYS] = { "function", "file", "folder", "object", "namespace" };

static void put_objects(struct json_writer *writer, const struct code_sizes *sizes)
{
	json_begin_list(writer, "objects");
	for (uint32_t i = 0; i < sizes->object_count; i++) {
		cJSON *row = cJSON_CreateObject();

		cJSON_AddStringToObject(row, "name", code_sizes_told(sizes, sizes->objects[i].name));
		json_add_count(row, "bytes", sizes->objects[i].bytes);
		if (sizes->objects[i].note)
			cJSON_AddStringToObject(row, "note", sizes->objects[i].note);
		json_row(writer, row);
	}
	json_end_list(writer);
}

static void add_bytes(cJSON *object, const uint64_t *bytes, bool compare)
{
	if (!compare) {
		json_add_count(object, "bytes", bytes[SIZE_BEFORE]);
		return;
	}
	json_add_count(object, "before", bytes[SIZE_BEFORE]);
	json_add_count(object, "after", bytes[SIZE_AFTER]);
	cJSON_AddNumberToObject(object, "change", (double)size_change_bytes(bytes));
}

static void put_row(struct json_writer *writer, const struct code_sizes *sizes, const struct size_asked *asked,
	const struct size_row *row)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "name", code_sizes_told(sizes, row->name));
	if (asked->by == SIZE_BY_FUNCTION)
		cJSON_AddStringToObject(object, "source", code_sizes_told(sizes, row->file));
	if (row->object != TEXT_NONE)
		cJSON_AddStringToObject(object, "object", code_sizes_told(sizes, row->object));
	add_bytes(object, row->bytes, asked->compare);
	if (asked->compare)
		cJSON_AddStringToObject(object, "state", size_change_words[size_change_of(row)]);
	json_row(writer, object);
}

static void put_sums(struct json_writer *writer, const struct size_rows *rows)
{
	struct size_sum sums[SIZE_CHANGES];
	cJSON *all = cJSON_CreateObject();

	size_change_sums(rows, sums);
	for (int i = 0; i < SIZE_CHANGES; i++) {
		cJSON *sum = cJSON_AddObjectToObject(all, size_change_words[i]);

		json_add_count(sum, "rows", sums[i].rows);
		cJSON_AddNumberToObject(sum, "bytes", (double)sums[i].bytes);
	}
	json_member(writer, "sums", all);
}

static bool write_rows(const struct code_sizes *sizes, const struct size_asked *asked, const struct size_rows *rows,
	uint32_t top, FILE *out)
{
	size_t shown = top != SIZE_TOP_UNSET && top && top < rows->count ? top : rows->count;
	uint64_t rest[SIZE_SIDES] = { rows->bytes[SIZE_BEFORE], rows->bytes[SIZE_AFTER] };
	struct json_writer writer;
	cJSON *sum = cJSON_CreateObject();

	json_begin_object(&writer, out);
	put_objects(&writer, sizes);
	json_member_text(&writer, "by", by_words[asked->by]);
	add_bytes(sum, rows->bytes, asked->compare);
	json_member(&writer, "sum", sum);
	if (asked->compare)
		put_sums(&writer, rows);
	json_begin_list(&writer, "rows");
	for (size_t i = 0; i < shown; i++) {
		put_row(&writer, sizes, asked, &rows->rows[i]);
		for (int side = 0; side < SIZE_SIDES; side++)
			rest[side] -= rows->rows[i].bytes[side];
	}
	json_end_list(&writer);
	sum = cJSON_CreateObject();
	json_add_count(sum, "rows", rows->count - shown);
	add_bytes(sum, rest, asked->compare);
	json_member(&writer, "left_out", sum);
	return json_end_object(&writer);
}

static bool write_json(struct code_sizes *sizes, const struct size_asked *asked, uint32_t top, FILE *out,
	const char **nothing)
{
	struct size_rows rows;
	bool written = size_rows_make(sizes, asked, &rows) && write_rows(sizes, asked, &rows, top, out);

	(void)nothing;
	size_rows_clear(&rows, sizes);
	return written;
}

const struct size_format size_json = { .name = "json", .ending = ".json", .rows = true, .write = write_json };

/* ---- as SVG ---- */

struct drawing {
	const struct code_sizes *sizes;
	struct cells *cells;
	bool compare, full;
	char **texts;			/* of the cells' functions, which live as long as the tree */
	size_t count;
};

static const char *keep(struct drawing *drawing, const char *text)
{
	if ((drawing->count & (drawing->count - 1)) == 0)
		drawing->texts = util_grow(drawing->texts, 2 * drawing->count + 1, sizeof(*drawing->texts));
	drawing->texts[drawing->count] = util_copy(text, strlen(text));
	return drawing->texts[drawing->count++];
}

/* Cells have the colour of their outermost folder or namespace. */
static void add_stack(void *context, char *const *frames, uint32_t count, const uint64_t *bytes)
{
	struct drawing *drawing = context;
	const char *group = keep(drawing, frames[count > 1 ? 1 : 0]);
	uint64_t now = bytes[drawing->compare ? SIZE_AFTER : SIZE_BEFORE];
	uint64_t before = drawing->compare ? bytes[SIZE_BEFORE] : 0;
	uint32_t cell = CELLS_ROOT;

	for (uint32_t i = 0; i < count && !drawing->full; i++) {
		cell = cells_child(drawing->cells, cell, &(struct set_function) {
			.name = keep(drawing, frames[i]), .object = i ? group : "", .file = "",
		});
		drawing->full = cell == SET_NONE;
	}
	if (!drawing->full)
		drawing->full = cells_add(drawing->cells, cell, 0, &(struct cell_amount) {
			.weight = now, .samples = now, .before = before, .samples_before = before,
		}) == SET_NONE;
}

static bool draw(const struct drawing *drawing, FILE *out, const char **nothing)
{
	const struct code_sizes *sizes = drawing->sizes;
	struct picture picture = {
		.cells = drawing->cells, .title = "code size", .unit = "bytes",
		.before = drawing->compare ? code_sizes_told(sizes, sizes->objects[SIZE_BEFORE].name) : NULL,
		.colours = drawing->compare ? COLOURS_CHANGE : COLOURS_OBJECT,
	};

	if (drawing->cells->cells[CELLS_ROOT].total.weight || drawing->cells->cells[CELLS_ROOT].total.before)
		return svg_write(&picture, out);
	*nothing = "no code passes the filter; take another one";
	return false;
}

static bool write_svg(struct code_sizes *sizes, const struct size_asked *asked, uint32_t top, FILE *out,
	const char **nothing)
{
	struct drawing drawing = { .sizes = sizes, .cells = cells_new(NULL), .compare = asked->compare };
	bool written;

	(void)top;
	drawing.full = !drawing.cells;
	written = !drawing.full && size_stacks_visit(sizes, asked, add_stack, &drawing) && !drawing.full &&
		cells_settle(drawing.cells) && draw(&drawing, out, nothing);
	cells_free(drawing.cells);
	for (size_t i = 0; i < drawing.count; i++)
		free(drawing.texts[i]);
	free(drawing.texts);
	return written;
}

const struct size_format size_svg = { .name = "svg", .ending = ".svg", .write = write_svg };

/* ---- size formats ---- */

/* A new format needs a file of its own and a row here. */

static const struct size_format *const formats[] = { &size_text, &size_json, &size_folded, &size_svg };

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct size_format *size_format_at(int index)
{
	return formats[index];
}

/* By its ending; NULL: it has none of theirs. */
static const struct size_format *size_format_of_file(const char *path)
{
	size_t size = strlen(path);

	for (int i = 0; i < FORMATS; i++) {
		size_t ending = strlen(formats[i]->ending);

		if (size > ending && strcmp(path + size - ending, formats[i]->ending) == 0)
			return formats[i];
	}
	return NULL;
}

/* ---- size request ---- */

#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct size_request, member), __VA_ARGS__ }

static bool check_filter(const char *text, char **error)
{
	struct filter filter;

	return size_rows_filter(text, &filter, error);
}

const struct option_row size_request_options[] = {
	OPTION("by", "function|file|folder|object|namespace", OPTION_CHOICE, by, "what a row is (function)"),
	OPTION("top", "N", OPTION_NUMBER, top, "rows at most, 0 for all (text: 30; JSON: all)"),
	OPTION("filter", "WORDS", OPTION_TEXT, filter, "only the code that these choose: NAME, object:NAME, "
		"file:NAME, !NAME",
		.check = check_filter, .once = option_words_once),
	OPTION("format", SIZE_FORMAT_NAMES, OPTION_CHOICE, format, "how it is written (by the ending of FILE; text)"),
	OPTION("output", "FILE", OPTION_FILE, file, "the file to write: .txt, .json, .folded, .svg (standard output)",
		.letter = 'o'),
	OPTION("debug-dir", "DIR", OPTION_FOLDER, debug, "a folder with debug files, laid out as /usr/lib/debug"),
	OPTION("memory", "MIB", OPTION_NUMBER, memory, "memory that ktop itself may use, 64 or more (512)",
		.least = BUDGET_LEAST_MIB, .most = BUDGET_MOST_MIB),
	{ 0 },
};

const struct size_request size_request_default = { .format = -1, .top = SIZE_TOP_UNSET };

static const struct size_format *format_of(const struct size_request *request)
{
	if (request->format >= 0)
		return size_format_at(request->format);
	return request->file ? size_format_of_file(request->file) : &size_text;
}

bool size_request_check(const struct size_request *request, struct size_asked *asked, char **error)
{
	const struct size_format *format = format_of(request);

	*asked = (struct size_asked) { .by = (enum size_by)request->by };
	if (request->filter && !size_rows_filter(request->filter, &asked->filter, error))
		return false;
	if (!util_file_is_folder("debug-dir", request->debug, error))
		return false;
	if (!format)
		return util_fail(error, "%s: its ending names no format; give --format, or one of .txt, .json, "
			".folded, .svg", request->file);
	if (request->top != SIZE_TOP_UNSET && !format->rows)
		return util_fail(error, "--top: without effect: %s has no rows; leave it out", format->name);
	return true;
}

bool size_request_write(const struct size_request *request, struct code_sizes *sizes, const struct size_asked *asked,
	char **error)
{
	struct util_file *file = request->file ? util_file_open(request->file, error) : NULL;
	const char *nothing = "there is no memory for its rows; give more by --memory";

	if (request->file && !file)
		return false;
	if (!format_of(request)->write(sizes, asked, request->top, file ? util_file_stream(file) : stdout,
			&nothing)) {
		util_file_discard(file);
		return util_fail(error, "%s: not written: %s", request->file ? request->file : "standard output",
			nothing);
	}
	return !file || util_file_commit(file, error);
}

char *size_request_remark(const struct size_request *request)
{
	const struct size_format *format = format_of(request);

	return request->file && request->format < 0 ?
		util_file_ends_twice(request->file, format->ending, format->name) : NULL;
}
