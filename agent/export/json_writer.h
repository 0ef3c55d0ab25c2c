/* SPDX-License-Identifier: MIT */
/*
 * Writes one JSON object to a stream, member by member, and its lists row by row. So the object may be far larger than
 * the memory that is left. Members' names are written without escapes: they come from ktop's source.
 */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cJSON;

struct json_writer {
	FILE *out;
	const char *before;		/* the text before the next member or row */
	bool failed;			/* there was no memory for a value: "null" was written */
};

void json_begin_object(struct json_writer *writer, FILE *out);
/* Goes on behind members that the text has; "": there are none. */
void json_go_on(struct json_writer *writer, FILE *out, const char *text);
bool json_end_object(struct json_writer *writer);	/* false: a value is missing */

/* json_member and json_row take ownership of the value. */
void json_member(struct json_writer *writer, const char *name, struct cJSON *value);
void json_member_count(struct json_writer *writer, const char *name, uint64_t count);
void json_member_text(struct json_writer *writer, const char *name, const char *text);

/* A member that is a list. Until it ends, only rows are written. */
void json_begin_list(struct json_writer *writer, const char *name);
void json_row(struct json_writer *writer, struct cJSON *row);
void json_end_list(struct json_writer *writer);

/* Adds a number to an object that is not written yet. It is written to its last digit, as json_member_count's is. */
void json_add_count(struct cJSON *object, const char *name, uint64_t count);

#endif
