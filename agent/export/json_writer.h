/* SPDX-License-Identifier: MIT */
/*
 * JSON that goes out member by member, and a list row by row: it may be far larger than the memory that is left.
 * Names need no escapes: they are ours.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cJSON;

struct json_writer {
	FILE *out;
	const char *before;		/* what goes before the next member or row */
	bool failed;			/* no memory for one */
};

void json_begin_object(struct json_writer *writer, FILE *out);
bool json_end_object(struct json_writer *writer);	/* false: some of it is missing */

/* These take the value. */
void json_member(struct json_writer *writer, const char *name, struct cJSON *value);
void json_member_count(struct json_writer *writer, const char *name, uint64_t count);
void json_member_text(struct json_writer *writer, const char *name, const char *text);

void json_begin_list(struct json_writer *writer, const char *name);
void json_row(struct json_writer *writer, struct cJSON *row);
void json_end_list(struct json_writer *writer);

/* Into a value in the making. */
void json_add_count(struct cJSON *object, const char *name, uint64_t count);

#endif
