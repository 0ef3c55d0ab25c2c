/* SPDX-License-Identifier: MIT */
/*
 * The tables of a profile of pprof: what its samples refer to by number. They lie in the profile in any order, before
 * or behind the samples. Nothing in them is trusted: a number that leads nowhere is found when it is looked up.
 */
#ifndef PPROF_TABLES_H
#define PPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;

enum { PPROF_TYPES = 64 };		/* kinds of values at most */

/* The numbers of fields in profile.proto, by the message that has them: those that are read. */
enum pprof_field {
	PPROF_SAMPLE_TYPE = 1, PPROF_SAMPLE, PPROF_MAPPING, PPROF_LOCATION, PPROF_FUNCTION, PPROF_TEXT,
	PPROF_COMMENT = 13, PPROF_DEFAULT_TYPE,
};

struct pprof_type {
	uint64_t name, unit;		/* numbers of texts */
};

struct pprof_mapping {
	uint64_t id, start, end, offset, file, build_id;
	uint32_t object;		/* in the set */
	const char *name;		/* as a comment of ktop's has it; NULL: that of the file */
};

struct pprof_function {
	uint64_t id, name, file, line;
};

struct pprof_location {
	uint64_t id, mapping, address;	/* mapping 0: none */
	const uint8_t *bytes;		/* its message, which has the lines */
	size_t size;
	uint32_t location;		/* in the set */
};

struct pprof_text {
	const uint8_t *bytes;
	size_t size;
};

struct pprof_tables {
	struct budget *budget;
	struct pprof_text *raw;
	const char **texts;		/* each as it was before ktop wrote it, if it did */
	char *text_bytes;
	struct pprof_mapping *mappings;	/* by id, as are those below */
	struct pprof_function *functions;
	struct pprof_location *locations;
	uint64_t *comments;		/* numbers of texts */
	uint32_t text_count, mapping_count, function_count, location_count, comment_count;
	uint32_t text_room, mapping_room, function_room, location_room, comment_room;
	size_t texts_size, text_bytes_size;	/* bytes */
	struct pprof_type types[PPROF_TYPES];
	uint32_t type_count;
	uint64_t default_type;		/* the number of its name; 0: the last one */
};

extern const char pprof_no_profile[];	/* "why; what to do" */

/*
 * Reads the tables out of a profile, which has to live as long. False with `error` set: "why; what to do"; without it
 * there is no memory. Clear it in any case.
 */
bool pprof_tables_read(struct pprof_tables *tables, const char *bytes, size_t size, struct budget *budget,
	char **error);
void pprof_tables_clear(struct pprof_tables *tables);

/* NULL: there is none of this number. */
const char *pprof_tables_text(const struct pprof_tables *tables, uint64_t number);
struct pprof_mapping *pprof_tables_mapping(const struct pprof_tables *tables, uint64_t id);
const struct pprof_function *pprof_tables_function(const struct pprof_tables *tables, uint64_t id);
struct pprof_location *pprof_tables_location(const struct pprof_tables *tables, uint64_t id);

/* ---- protobuf reader ---- */

/* Protocol buffers, read field by field. The bytes may be any; nothing behind them is read. */

struct protobuf_reader {		/* of a message, or of the numbers of a packed list */
	const uint8_t *at;
	size_t left;
	bool bad;			/* it is no message from here on */
};

struct protobuf_field {
	uint64_t number;		/* which field it is */
	uint64_t value;			/* of a number */
	const uint8_t *bytes;		/* of a text, a message or a packed list; NULL: the field is a number */
	size_t size;
};

static inline struct protobuf_reader protobuf_reader_of(const void *bytes, size_t size)
{
	return (struct protobuf_reader) { .at = bytes, .left = size };
}

/* The next field. Those that are of neither kind are skipped. False: there is none, or `bad`. */
bool protobuf_reader_next(struct protobuf_reader *reader, struct protobuf_field *field);

/* The next number of a packed list. False: there is none, or `bad`. */
bool protobuf_reader_number(struct protobuf_reader *reader, uint64_t *number);

#endif
