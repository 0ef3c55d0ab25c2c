/* SPDX-License-Identifier: MIT */
/*
 * The kinds of trace events in one boot of the guest: those of the table in kernel-hook/wire.h, and those
 * of the guest's own descriptors. The first descriptor of an id counts; later ones are ignored.
 */
#ifndef TRACE_KINDS_H
#define TRACE_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "fields.h"

/* The most kinds, and fields of a kind. Kinds beyond that are ignored: their events count as unknown. */
enum { TRACE_KINDS = 1024, TRACE_FIELDS = 32 };

struct trace_kind {
	uint16_t id;
	int count;	/* of fields */
	char name[FIELD_NAME_SIZE];
	struct field fields[];
};

struct trace_kinds;
struct trace_kinds *trace_kinds_new(void);
void trace_kinds_free(struct trace_kinds *kinds);
void trace_kinds_forget(struct trace_kinds *kinds);	/* forgets the guest's own; ktop's stay */

/*
 * Takes a descriptor of a trace event from the guest. Ignores it if it is of another stream, known already,
 * or cannot be parsed.
 */
void trace_kinds_learn(struct trace_kinds *kinds, const struct event *descriptor);

/* NULL: not known. The result is valid until trace_kinds_forget. */
const struct trace_kind *trace_kinds_find(const struct trace_kinds *kinds, uint16_t id);

#endif
