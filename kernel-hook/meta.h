/* SPDX-License-Identifier: MIT */
/* What is so, in place of what happened: sent anew to each host, and again when it changes. */
#ifndef KTOP_META_H
#define KTOP_META_H

#include <stdbool.h>
#include <stdint.h>

#include "base/name_table.h"
#include "base/str.h"
#include "ktop.h"

/* Rows where the kernel sets none; a name is cut to bytes. */
enum {
	KTOP_PROCESSES = 1024,
	KTOP_THREADS = 4096,
	KTOP_OBJECTS = 512,
	KTOP_USER_EVENTS = 64,
	KTOP_ROWS_MAX = 1 << 20,
	KTOP_USER_EVENTS_MAX = 512,
	KTOP_NAME_MAX = 63,
	KTOP_BUILD_ID_MAX = 32,
};

struct ktop_name {
	uint8_t size;
	char bytes[KTOP_NAME_MAX];
};

struct ktop_build_id {
	uint8_t size;
	uint8_t bytes[KTOP_BUILD_ID_MAX];
};

struct ktop_meta {
	/* fixed after init */
	uint8_t boot_id[16];
	uint64_t epoch, clock, anchor_address;
	struct ktop_name kernel, version, arch, anchor;
	struct ktop_build_id build_id;
	ktop_symbol_after *symbols;	/* NULL: the kernel does not know them */

	/* as name_table.h has it; the writers are the kernel's (serial) */
	struct ktop_table processes, threads, objects;
	struct ktop_table events;	/* descriptors of the kernel's own; they never exit */

	/* the drainer's */
	uint32_t hello;			/* next step of the greeting */
	uint32_t beat;			/* next step of the heartbeat */
	uint64_t beaten;		/* clock at which that began */
	uint64_t symbols_told;		/* those that end up to here; UINT64_MAX: all */
	bool reply_full;		/* not yet sent */
	bool reply_ok;
	struct ktop_str reply;
	struct ktop_str note;		/* why the sampler is not the one that the kernel chose */
};

/* Of settings that are complete. */
uint64_t ktop_meta_memory(const struct ktop_settings *settings);
void ktop_meta_init(struct ktop_meta *meta, const struct ktop_facts *facts,
	const struct ktop_settings *settings, void *memory);

/* The drainer. All of it again, for a new host; the heartbeat now; which events are on, and the keys, again. */
void ktop_meta_hello(struct ktop *ktop);
void ktop_meta_beat(struct ktop *ktop);
void ktop_meta_tracing(struct ktop *ktop);
void ktop_meta_keys(struct ktop *ktop);

/* The drainer. Writes the next event due at `now`, at most KTOP_SAMPLE_MAX bytes; 0: none. */
uint32_t ktop_meta_next(struct ktop *ktop, uint64_t now, uint8_t *to, uint16_t *event);

#endif
