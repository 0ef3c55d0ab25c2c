/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "agent/formats/writing/name_text.h"
#include "pprof_tables.h"

const char pprof_no_profile[] = "it is no profile of pprof, or damaged; give a file that go tool pprof reads";

/* One number of a message, by the number of its field. */
struct wanted {
	unsigned field;
	uint64_t *into;
};

/* Reads these numbers of a message. False: it is none. */
static bool read_numbers(const struct protobuf_field *message, const struct wanted *wanted, size_t count)
{
	struct protobuf_reader reader = protobuf_reader_of(message->bytes, message->size);
	struct protobuf_field field;

	while (protobuf_reader_next(&reader, &field))
		for (size_t i = 0; i < count; i++)
			if (field.number == wanted[i].field && !field.bytes)
				*wanted[i].into = field.value;
	return !reader.bad;
}

#define READ(message, ...) \
	read_numbers(message, (const struct wanted[]) { __VA_ARGS__ }, \
		sizeof((const struct wanted[]) { __VA_ARGS__ }) / sizeof(struct wanted))

/* Room for one more row, which is zero. NULL: there is none. */
#define ADD(tables, what) \
	add(tables, (void **)&(tables)->what##s, &(tables)->what##_count, &(tables)->what##_room, \
		sizeof(*(tables)->what##s))

static void *add(struct pprof_tables *tables, void **rows, uint32_t *count, uint32_t *room, size_t size)
{
	void *moved = budget_array(tables->budget, *rows, *count, room, size);

	if (!moved)
		return NULL;
	*rows = moved;
	return memset((char *)moved + (*count)++ * size, 0, size);
}

enum outcome { GOOD, NO_PROFILE, NO_MEMORY };

static enum outcome outcome_of(bool read)
{
	return read ? GOOD : NO_PROFILE;
}

static enum outcome add_type(struct pprof_tables *tables, const struct protobuf_field *message)
{
	struct pprof_type *row = &tables->types[tables->type_count];

	if (tables->type_count == PPROF_TYPES)
		return NO_PROFILE;
	tables->type_count++;
	return outcome_of(READ(message, { 1, &row->name }, { 2, &row->unit }));
}

static enum outcome add_mapping(struct pprof_tables *tables, const struct protobuf_field *message)
{
	struct pprof_mapping *row = ADD(tables, mapping);

	if (!row)
		return NO_MEMORY;
	return outcome_of(READ(message, { 1, &row->id }, { 2, &row->start }, { 3, &row->end }, { 4, &row->offset },
		{ 5, &row->file }, { 6, &row->build_id }));
}

static enum outcome add_function(struct pprof_tables *tables, const struct protobuf_field *message)
{
	struct pprof_function *row = ADD(tables, function);

	if (!row)
		return NO_MEMORY;
	return outcome_of(READ(message, { 1, &row->id }, { 2, &row->name }, { 4, &row->file }, { 5, &row->line }));
}

static enum outcome add_location(struct pprof_tables *tables, const struct protobuf_field *message)
{
	struct pprof_location *row = ADD(tables, location);

	if (!row)
		return NO_MEMORY;
	row->bytes = message->bytes;
	row->size = message->size;
	return outcome_of(READ(message, { 1, &row->id }, { 2, &row->mapping }, { 3, &row->address }));
}

static enum outcome add_text(struct pprof_tables *tables, const struct protobuf_field *message)
{
	struct pprof_text *moved = budget_array(tables->budget, tables->raw, tables->text_count, &tables->text_room,
		sizeof(*moved));

	if (!moved)
		return NO_MEMORY;
	tables->raw = moved;
	moved[tables->text_count++] = (struct pprof_text) { message->bytes, message->size };
	return memchr(message->bytes, 0, message->size) ? NO_PROFILE : GOOD;
}

static enum outcome add_comment(struct pprof_tables *tables, uint64_t number)
{
	uint64_t *row = ADD(tables, comment);

	if (!row)
		return NO_MEMORY;
	*row = number;
	return GOOD;
}

static enum outcome add_comments(struct pprof_tables *tables, const struct protobuf_field *list)
{
	struct protobuf_reader reader = protobuf_reader_of(list->bytes, list->size);
	enum outcome outcome = GOOD;
	uint64_t number;

	while (outcome == GOOD && protobuf_reader_number(&reader, &number))
		outcome = add_comment(tables, number);
	return outcome == GOOD && reader.bad ? NO_PROFILE : outcome;
}

static enum outcome add_message(struct pprof_tables *tables, const struct protobuf_field *message)
{
	switch (message->number) {
	case PPROF_SAMPLE_TYPE: return add_type(tables, message);
	case PPROF_MAPPING: return add_mapping(tables, message);
	case PPROF_LOCATION: return add_location(tables, message);
	case PPROF_FUNCTION: return add_function(tables, message);
	case PPROF_TEXT: return add_text(tables, message);
	case PPROF_COMMENT: return add_comments(tables, message);
	default: return GOOD;
	}
}

static enum outcome add_all(struct pprof_tables *tables, const char *bytes, size_t size)
{
	struct protobuf_reader reader = protobuf_reader_of(bytes, size);
	struct protobuf_field field;
	enum outcome outcome = GOOD;

	while (outcome == GOOD && protobuf_reader_next(&reader, &field))
		if (field.bytes)
			outcome = add_message(tables, &field);
		else if (field.number == PPROF_DEFAULT_TYPE)
			tables->default_type = field.value;
		else if (field.number == PPROF_COMMENT)
			outcome = add_comment(tables, field.value);
	return outcome == GOOD && reader.bad ? NO_PROFILE : outcome;
}

/* Copies all texts, with a zero behind each. */
static enum outcome make_texts(struct pprof_tables *tables)
{
	size_t size = tables->text_count;
	char *to;

	for (uint32_t i = 0; i < tables->text_count; i++)
		size += tables->raw[i].size;
	tables->texts = budget_resize(tables->budget, NULL, 0, tables->text_count * sizeof(*tables->texts));
	tables->texts_size = tables->texts ? tables->text_count * sizeof(*tables->texts) : 0;
	tables->text_bytes = to = tables->texts ? budget_resize(tables->budget, NULL, 0, size) : NULL;
	if (!to)
		return NO_MEMORY;
	tables->text_bytes_size = size;
	for (uint32_t i = 0; i < tables->text_count; i++) {
		const struct pprof_text *raw = &tables->raw[i];

		tables->texts[i] = to;
		name_text_back((const char *)raw->bytes, raw->size, to);
		to += raw->size + 1;
	}
	return GOOD;
}

/* The id is the first member of each row. */
static int compare(const void *left, const void *right)
{
	uint64_t a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return a < b ? -1 : a > b;
}

/* False: two rows have one id, or one has none. */
static bool sort(void *rows, uint32_t count, size_t size)
{
	if (count)
		qsort(rows, count, size, compare);
	for (uint32_t i = 1; i < count; i++)
		if (compare((char *)rows + (i - 1) * size, (char *)rows + i * size) == 0)
			return false;
	return !count || compare(rows, &(uint64_t) { 0 }) != 0;
}

static enum outcome sort_all(struct pprof_tables *tables)
{
	return outcome_of(sort(tables->mappings, tables->mapping_count, sizeof(*tables->mappings)) &&
		sort(tables->functions, tables->function_count, sizeof(*tables->functions)) &&
		sort(tables->locations, tables->location_count, sizeof(*tables->locations)));
}

bool pprof_tables_read(struct pprof_tables *tables, const char *bytes, size_t size, struct budget *budget,
	char **error)
{
	enum outcome outcome;

	*tables = (struct pprof_tables) { .budget = budget };
	outcome = add_all(tables, bytes, size);
	if (outcome == GOOD && (!tables->text_count || !tables->type_count))
		outcome = NO_PROFILE;
	if (outcome == GOOD)
		outcome = make_texts(tables);
	if (outcome == GOOD)
		outcome = sort_all(tables);
	return outcome == GOOD || (outcome == NO_PROFILE && util_fail(error, "%s", pprof_no_profile));
}

void pprof_tables_clear(struct pprof_tables *tables)
{
	struct budget *budget = tables->budget;

	budget_free(budget, tables->text_bytes, tables->text_bytes_size);
	budget_free(budget, tables->texts, tables->texts_size);
	budget_free(budget, tables->raw, tables->text_room * sizeof(*tables->raw));
	budget_free(budget, tables->mappings, tables->mapping_room * sizeof(*tables->mappings));
	budget_free(budget, tables->functions, tables->function_room * sizeof(*tables->functions));
	budget_free(budget, tables->locations, tables->location_room * sizeof(*tables->locations));
	budget_free(budget, tables->comments, tables->comment_room * sizeof(*tables->comments));
	*tables = (struct pprof_tables) { 0 };
}

/* ---- looking up ---- */

const char *pprof_tables_text(const struct pprof_tables *tables, uint64_t number)
{
	return number < tables->text_count ? tables->texts[number] : NULL;
}

/* The row of this id; NULL: there is none. */
static void *row_of(void *rows, uint32_t count, size_t size, uint64_t id)
{
	size_t upto = sorted_upto(rows, count, size, 0, id);
	char *row = upto ? (char *)rows + (upto - 1) * size : NULL;

	return row && compare(row, &id) == 0 ? row : NULL;
}

struct pprof_mapping *pprof_tables_mapping(const struct pprof_tables *tables, uint64_t id)
{
	return row_of(tables->mappings, tables->mapping_count, sizeof(*tables->mappings), id);
}

const struct pprof_function *pprof_tables_function(const struct pprof_tables *tables, uint64_t id)
{
	return row_of(tables->functions, tables->function_count, sizeof(*tables->functions), id);
}

struct pprof_location *pprof_tables_location(const struct pprof_tables *tables, uint64_t id)
{
	return row_of(tables->locations, tables->location_count, sizeof(*tables->locations), id);
}

/* ---- protobuf reader ---- */

enum { NUMBER = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };	/* kinds, in the low bits of tags */

/* False, for what follows is no message. */
static bool give_up(struct protobuf_reader *reader)
{
	reader->left = 0;
	reader->bad = true;
	return false;
}

bool protobuf_reader_number(struct protobuf_reader *reader, uint64_t *number)
{
	unsigned shift = 0;

	*number = 0;
	if (!reader->left)
		return false;
	for (; reader->left && shift < 64; shift += 7) {
		uint8_t byte = *reader->at++;

		reader->left--;
		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return give_up(reader);
}

/* Takes so many bytes. */
static bool take(struct protobuf_reader *reader, uint64_t size, struct protobuf_field *field)
{
	if (size > reader->left)
		return give_up(reader);
	field->bytes = reader->at;
	field->size = (size_t)size;
	reader->at += size;
	reader->left -= (size_t)size;
	return true;
}

/* A message of which a length is missing is no message. */
static bool take_sized(struct protobuf_reader *reader, struct protobuf_field *field)
{
	uint64_t size;

	return (protobuf_reader_number(reader, &size) || give_up(reader)) && take(reader, size, field);
}

bool protobuf_reader_next(struct protobuf_reader *reader, struct protobuf_field *field)
{
	uint64_t tag;

	while (protobuf_reader_number(reader, &tag)) {
		*field = (struct protobuf_field) { .number = tag >> 3 };
		switch (tag & 7) {
		case NUMBER:
			return protobuf_reader_number(reader, &field->value) || give_up(reader);
		case BYTES:
			return take_sized(reader, field);
		case FIXED64:
			if (!take(reader, 8, field))
				return false;
			break;
		case FIXED32:
			if (!take(reader, 4, field))
				return false;
			break;
		default:
			return give_up(reader);
		}
	}
	return false;
}
