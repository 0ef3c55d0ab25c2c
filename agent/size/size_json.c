/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>

#include "agent/export/json_writer.h"
#include "code_sizes.h"
#include "size_change.h"
#include "size_format.h"
#include "size_rows.h"

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
