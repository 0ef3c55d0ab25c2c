/* SPDX-License-Identifier: MIT */
/*
 * A table of names. Each row holds one encoded event (a process, a thread, an object, a descriptor) and is found by
 * a key. There is one writer at a time (serial, ktop.h); an interrupt may stop it half-way. The drainer reads at the
 * same time and never waits.
 *
 * Barrier pair 5, row.sequence: it is odd while the row is written. The writer makes it odd, then stores each
 * word with release, then makes it even with release. The reader loads the sequence and each word with acquire, then
 * the sequence again. If it has read a word that is newer than its first look, its second look shows at least the
 * odd number, and it discards what it read.
 *
 * Barrier pair 8, changes: the writer counts it up with release after it has written a row. The reader acquires it
 * before a walk. A row that is written after the walk has passed it therefore causes another walk.
 */
#ifndef KTOP_NAME_TABLE_H
#define KTOP_NAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	KTOP_ROW_WORDS = 16,		/* for the largest event: an object with a full name and build-id */
	KTOP_MARKS = 7,			/* ids in a group */
};

/* What a row is found by. */
struct ktop_key {
	uint32_t id;			/* process or thread */
	uint64_t at;			/* an object's start address; 0 for all other events */
};

struct ktop_row {
	/* written by the writer */
	uint32_t sequence;		/* 0: never written; odd: being written */
	uint32_t size;			/* bytes of payload */
	uint64_t words[KTOP_ROW_WORDS];
	struct ktop_key key;
	uint32_t chain;			/* next row in this bucket, plus 1 */
	bool exited;			/* the row may be reused when the table is full */

	/* written by the drainer */
	uint32_t sent;			/* the sequence that was sent to this host; 0: none */
};

/* Ids with one hash whose rows found no place. Those that do not fit here are not counted as missing. */
struct ktop_marks {
	uint32_t count;
	uint32_t ids[KTOP_MARKS];
};

struct ktop_table {
	/* fixed after init */
	struct ktop_row *rows;
	uint32_t *buckets;		/* as many as rows; each has the index of its first row, plus 1; 0: none */
	struct ktop_marks *marks;	/* a group for every four rows, at least one group */
	uint32_t size;			/* rows, a power of two */
	uint16_t event;			/* enum ktop_event: what the rows hold */

	/* written by the writer */
	uint32_t used;			/* rows that were ever written: the first ones */
	uint32_t exited;		/* of them, rows that may be reused */
	uint32_t hand;			/* index at which to look for a row to reuse */
	uint32_t changes;		/* rows written since init */
	uint64_t lost;			/* rows that found no place since init */
	uint32_t missing;		/* ids in `marks`: their rows have no place now */

	/* written by the drainer */
	uint32_t seen;			/* `changes` when the walk began */
	uint32_t cursor;		/* index of the next row of the walk */
};

/* Bytes of memory that a table of so many rows, a power of two, takes. */
uint64_t ktop_table_memory(uint32_t rows);

/* Thread, once. The memory stays the table's. */
void ktop_table_init(struct ktop_table *table, void *memory, uint32_t rows, uint16_t event);

/* Serial. Writes or overwrites the row of a key. False: the table is full; that is counted. */
bool ktop_table_put(struct ktop_table *table, struct ktop_key key, const void *payload,
	uint32_t size);

/* Serial. May the key have this payload? True: it has no row yet, or its row holds the same bytes. Changes nothing. */
bool ktop_table_agrees(const struct ktop_table *table, struct ktop_key key, const void *payload,
	uint32_t size);

/* Serial. Counts a row of this id as lost: it found no place. */
void ktop_table_refuse(struct ktop_table *table, uint32_t id);

/* Serial. The id has ended: its rows may be reused. Until then they are still sent to new hosts. */
void ktop_table_exit(struct ktop_table *table, uint32_t id);

/* How full a table is. Any context. */
struct ktop_table_fill {
	uint32_t used;			/* rows whose ids have not exited */
	uint32_t missing;		/* ids that lack a row now; there may be more (KTOP_MARKS) */
	uint64_t lost;			/* rows that found no place since init */
};
struct ktop_table_fill ktop_table_fill(const struct ktop_table *table);

/* The drainer. From now on ktop_table_next() gives all rows again. */
void ktop_table_restart(struct ktop_table *table);

/*
 * The drainer, for a table whose rows never exit. Copies the row at an index below `used` to `to`, which has
 * 8 * KTOP_ROW_WORDS bytes. Returns the size of the payload; 0: the row is being written.
 */
uint32_t ktop_table_read(const struct ktop_table *table, uint32_t index, void *to);

/*
 * The drainer. Copies a row that the host does not have yet to `to`, which has 8 * KTOP_ROW_WORDS bytes. Returns the
 * size of the payload; 0: there is none now.
 */
uint32_t ktop_table_next(struct ktop_table *table, void *to);

#endif
