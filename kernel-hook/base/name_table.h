/* SPDX-License-Identifier: MIT */
/*
 * A table of names: rows that hold one encoded event each, found by a key. One writer at a time
 * (serial), which an interrupt may stop half-way; the drainer reads beside it and never waits.
 *
 * Barrier pair 5, row.sequence: odd while the row is written. Writer: odd, then each word released
 * after it, then even, released. Reader: sequence acquired, each word acquired, sequence again:
 * a word that is newer than the first look shows at least the odd number at the second.
 *
 * Barrier pair 8, changes: counted and released after the row; the reader acquires it before a walk,
 * so that a row that the walk found old is followed by another walk.
 */
#ifndef KTOP_NAME_TABLE_H
#define KTOP_NAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KTOP_ROW_WORDS = 16,		/* the largest: an object with a full name and build-id */
	KTOP_MARKS = 7,			/* in a group */
};

struct ktop_key {
	uint32_t id;			/* process or thread */
	uint64_t at;			/* an object's start, else 0 */
};

struct ktop_row {
	/* the writer's */
	uint32_t sequence;		/* 0: never written */
	uint32_t size;			/* bytes of payload */
	uint64_t words[KTOP_ROW_WORDS];
	struct ktop_key key;
	uint32_t chain;			/* next row in this bucket, plus 1 */
	bool exited;			/* may be reused when the table is full */

	/* the drainer's */
	uint32_t sent;			/* the sequence that the host has; 0: none */
};

/* Ids of one hash whose rows found no place; more of them than fit are not counted. */
struct ktop_marks {
	uint32_t count;
	uint32_t ids[KTOP_MARKS];
};

struct ktop_table {
	/* fixed after init */
	struct ktop_row *rows;
	uint32_t *buckets;		/* as many as rows; a row's index plus 1 */
	struct ktop_marks *marks;	/* a group for every four rows, or the only one */
	uint32_t size;			/* a power of two */
	uint16_t event;			/* enum ktop_event */

	/* the writer's */
	uint32_t used;			/* rows ever written */
	uint32_t exited;		/* rows that may be reused */
	uint32_t hand;			/* where to look for one */
	uint32_t changes;
	uint64_t lost;			/* rows that found no place */
	uint32_t missing;		/* marks: ids of such rows, until they exit or find one */

	/* the drainer's */
	uint32_t seen;			/* changes at the begin of the walk */
	uint32_t cursor;		/* next row of the walk */
};

uint64_t ktop_table_memory(uint32_t rows);
void ktop_table_init(struct ktop_table *table, void *memory, uint32_t rows, uint16_t event);

/* Serial. Writes or overwrites the row of a key; false: there is no place, which is counted. */
bool ktop_table_put(struct ktop_table *table, struct ktop_key key, const void *payload,
	uint32_t size);

/* Serial. Has the key no row, or this very one? */
bool ktop_table_agrees(const struct ktop_table *table, struct ktop_key key, const void *payload,
	uint32_t size);

/* Serial. Counts a row of this id as one that found no place. */
void ktop_table_refuse(struct ktop_table *table, uint32_t id);

/* Serial. All rows of this id may be reused; until then they stay. */
void ktop_table_exit(struct ktop_table *table, uint32_t id);

/* Any context. How full it is now. */
struct ktop_table_fill {
	uint32_t used;			/* rows whose ids have not exited */
	uint32_t missing;		/* ids whose rows, or some of them, found no place; at least */
	uint64_t lost;			/* rows that found none, since init */
};
struct ktop_table_fill ktop_table_fill(const struct ktop_table *table);

/* The drainer. Sends all rows again. */
void ktop_table_restart(struct ktop_table *table);

/*
 * The drainer. Copies the row at an index below `used`, of rows that never exit, to `to` (8 * KTOP_ROW_WORDS
 * bytes); 0: it is being written.
 */
uint32_t ktop_table_read(const struct ktop_table *table, uint32_t index, void *to);

/* The drainer. Copies a row that the host lacks to `to` (8 * KTOP_ROW_WORDS bytes); 0: none now. */
uint32_t ktop_table_next(struct ktop_table *table, void *to);

#endif
