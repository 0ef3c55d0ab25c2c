/* SPDX-License-Identifier: MIT */
/*
 * The kinds of trace events that a boot of the guest has: those of the table in kernel-hook/wire.h, and what
 * the guest has sent a descriptor for: events of its kernel's own. One that was told first stays as it is.
 */
#ifndef TRACE_KINDS_H
#define TRACE_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "fields.h"

enum { TRACE_KINDS = 1024, TRACE_FIELDS = 32 };	/* more are not taken: their events count as unknown */

struct trace_kind {
	uint16_t id;
	int count;
	char name[FIELD_NAME_SIZE];
	struct field fields[];
};

struct trace_kinds;
struct trace_kinds *trace_kinds_new(void);
void trace_kinds_free(struct trace_kinds *kinds);
void trace_kinds_forget(struct trace_kinds *kinds);	/* what the guest told */

void trace_kinds_learn(struct trace_kinds *kinds, const struct event *descriptor);

/* NULL: not known. What is found lives until kinds are forgotten. */
const struct trace_kind *trace_kinds_find(const struct trace_kinds *kinds, uint16_t id);

/* The field of that name; -1: it has none. */
int trace_kind_field(const struct trace_kind *kind, const char *name);

#endif
