/* SPDX-License-Identifier: MIT */
/*
 * Meta events tell a state, not something that happened. They are sent to each new host, and again when they change:
 *   hello    the kinds of events in wire.h, facts of the guest, which trace events are on, the keys
 *   beat     every 50 ms: the status, and the counts of each CPU
 *   tables   names of processes, threads, objects, numbers, and of the kernel's own events
 *   reply    the answer to a control line
 *   memory   the guest's, as a host has asked for it
 */
#ifndef KTOP_META_H
#define KTOP_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/name_table.h"
#include "base/str.h"
#include "ktop.h"

/* Rows of each name table if the kernel does not choose; the most rows; the most bytes of a name and of a build id. */
enum {
	KTOP_PROCESSES = 1024,
	KTOP_THREADS = 4096,
	KTOP_OBJECTS = 512,
	KTOP_USER_EVENTS = 64,
	KTOP_ROWS_MAX = 1 << 20,
	KTOP_USER_EVENTS_MAX = 512,
	KTOP_NAME_MAX = 63,
	KTOP_BUILD_ID_MAX = 32,
	KTOP_MARK_TEXTS = 32,		/* texts of control lines `mark`; and as many of ktop_mark(): a power of two */
};

struct ktop_name {
	uint8_t size;
	char bytes[KTOP_NAME_MAX];
};

struct ktop_build_id {
	uint8_t size;
	uint8_t bytes[KTOP_BUILD_ID_MAX];
};

struct ktop_numbers_told {
	uint32_t count;			/* so many were looked at; UINT32_MAX: all */
	bool arguments_due;		/* those of the last of them are still to be told */
};

struct ktop_meta {
	/* fixed after init */
	uint8_t boot_id[16];		/* these four lines: the kernel's facts (ktop.h) */
	uint64_t epoch, clock, anchor_address;
	struct ktop_name kernel, version, arch, anchor;
	struct ktop_build_id build_id;
	ktop_symbol_after *symbols;	/* NULL: the kernel does not know its symbols */
	ktop_number_at *numbers;	/* NULL: they have no names */
	const struct ktop_memory *memory;	/* NULL: none is read for the host */
	const struct ktop_functions *functions;	/* NULL: functions are not traced for the host */
	uint8_t outside;		/* as in ktop_facts: the status has it in place of the timer; 0: the timer */

	/* name_table.h says who writes what; the writer is the kernel (serial) */
	struct ktop_table processes, threads, objects;
	struct ktop_table events;	/* descriptors of the kernel's own events; they never exit */
	struct ktop_table texts;	/* of marks by programs, as the names of their numbers; they never exit */

	/* written by the drainer */
	uint32_t hello;			/* next step of the greeting */
	uint32_t beat;			/* next step of the beat */
	uint64_t beaten;		/* clock at which that beat began */
	uint64_t symbols_told;		/* symbols that end at or below this address were sent; UINT64_MAX: all */
	struct ktop_numbers_told numbers_told;	/* to the host */
	struct ktop_numbers_told numbers_kept;	/* in the black box */
	struct ktop_name marks[KTOP_MARK_TEXTS];	/* that of mark number KTOP_MARKS_ASKED + i */
	uint32_t mark_count, marks_told;
	bool reply_full;		/* `reply` is not yet sent */
	bool reply_ok;			/* the line was understood and done */
	struct ktop_str reply;
	struct ktop_str filters;	/* those of trace events, as text; empty: nothing is left out */
	struct ktop_str note;		/* why the sampler is not the one that was chosen; else empty */
};

/* Bytes of memory that the name tables take. The settings are complete. */
uint64_t ktop_meta_memory(const struct ktop_settings *settings);

/* Thread, in ktop_init(). `meta` is all zero; it keeps the memory. */
void ktop_meta_init(struct ktop_meta *meta, const struct ktop_facts *facts,
	const struct ktop_settings *settings, void *memory);

/*
 * The drainer. Each makes the next drain send something. Hello: all meta events, for a new host. Beat: the beat, since
 * the status has changed. Tracing: which trace events are on. Keys: the codes of the keys.
 */
void ktop_meta_hello(struct ktop *ktop);
void ktop_meta_beat(struct ktop *ktop);
void ktop_meta_tracing(struct ktop *ktop);
void ktop_meta_keys(struct ktop *ktop);

/* The drainer. The number of a mark with this text, a new one if need be; 0: there is no room for another text. */
uint32_t ktop_meta_mark(struct ktop *ktop, const char *text);

/* Thread, in ktop_init(), or the drainer. Writes the payload of event `guest`, and returns its end. */
uint8_t *ktop_meta_guest(const struct ktop *ktop, uint8_t *to);

/*
 * The drainer. The payload of event `number` for the next number that has a name and was not told, or of its
 * `arguments`, and that event's id. Returns its bytes; 0: there is none.
 */
uint32_t ktop_meta_number(struct ktop_meta *meta, struct ktop_numbers_told *told, uint8_t *to, uint16_t *event);

/*
 * The drainer. Writes the payload of the next event that is due at `now`, at most KTOP_SAMPLE_ROOM bytes, and its id.
 * Returns its bytes; 0: nothing is due.
 */
uint32_t ktop_meta_next(struct ktop *ktop, uint64_t now, uint8_t *to, uint16_t *event);

#endif
