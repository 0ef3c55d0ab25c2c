/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "agent/base/util.h"
#include "code_sizes.h"
#include "size_change.h"
#include "size_format.h"
#include "size_rows.h"

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
