/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include <cjson/cJSON.h>

#include "agent/base/util.h"
#include "json_writer.h"

#define EXACT UINT64_C(999999999999999)	/* cJSON writes 15 digits of a number */

void json_begin_object(struct json_writer *writer, FILE *out)
{
	*writer = (struct json_writer) { .out = out, .before = "{\n" };
}

void json_go_on(struct json_writer *writer, FILE *out, const char *text)
{
	json_begin_object(writer, out);
	if (!*text)
		return;
	fputs(text, out);
	writer->before = ",\n";
}

bool json_end_object(struct json_writer *writer)
{
	fputs("\n}\n", writer->out);
	return !writer->failed;
}

static void put_value(struct json_writer *writer, cJSON *value)
{
	char *text = cJSON_PrintUnformatted(value);

	writer->failed |= !text;
	fputs(text ? text : "null", writer->out);
	cJSON_free(text);
	cJSON_Delete(value);
}

void json_member(struct json_writer *writer, const char *name, struct cJSON *value)
{
	fprintf(writer->out, "%s\"%s\": ", writer->before, name);
	put_value(writer, value);
	writer->before = ",\n";
}

/* All its digits. */
static cJSON *exact_number(uint64_t count)
{
	char digits[24];

	return count <= EXACT ? cJSON_CreateNumber((double)count) :
		cJSON_CreateRaw(util_print(digits, sizeof(digits), "%" PRIu64, count));
}

void json_member_count(struct json_writer *writer, const char *name, uint64_t count)
{
	json_member(writer, name, exact_number(count));
}

void json_member_text(struct json_writer *writer, const char *name, const char *text)
{
	json_member(writer, name, cJSON_CreateString(text));
}

void json_begin_list(struct json_writer *writer, const char *name)
{
	fprintf(writer->out, "%s\"%s\": [", writer->before, name);
	writer->before = "\n";
}

void json_row(struct json_writer *writer, struct cJSON *row)
{
	fputs(writer->before, writer->out);
	put_value(writer, row);
	writer->before = ",\n";
}

void json_end_list(struct json_writer *writer)
{
	fputs("]", writer->out);
	writer->before = ",\n";
}

void json_add_count(struct cJSON *object, const char *name, uint64_t count)
{
	cJSON_AddItemToObject(object, name, exact_number(count));
}
