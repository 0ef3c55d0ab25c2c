/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "kernel-hook/wire.h"
#include "id_index.h"
#include "trace_kinds.h"

struct trace_kinds {
	struct trace_kind *kinds[TRACE_KINDS];
	size_t count;
	struct id_index by_id;
};

/* NULL: the fields cannot be parsed, or there are too many. */
static struct trace_kind *make(uint16_t id, const char *name, const char *text)
{
	struct field fields[FIELDS_MAX];
	int count = fields_parse(text, fields);
	struct trace_kind *kind;

	if (count < 0 || count > TRACE_FIELDS)
		return NULL;
	kind = util_alloc(sizeof(*kind) + (size_t)count * sizeof(fields[0]));
	kind->id = id;
	kind->count = count;
	if (fields_is_name(name, strlen(name)))
		memcpy(kind->name, name, strlen(name));
	else
		snprintf(kind->name, sizeof(kind->name), "event_%u", id);
	memcpy(kind->fields, fields, (size_t)count * sizeof(fields[0]));
	return kind;
}

static void add(struct trace_kinds *kinds, uint16_t id, const char *name, const char *text)
{
	struct trace_kind *kind = kinds->count < TRACE_KINDS ? make(id, name, text) : NULL;

	if (!kind)
		return;
	id_index_set(&kinds->by_id, id, (uint16_t)kinds->count);
	kinds->kinds[kinds->count++] = kind;
}

static void add_own(struct trace_kinds *kinds)
{
#define ADD(number, stream, called) add(kinds, number, #called, KTOP_WIRE_FIELDS(called));
	KTOP_WIRE_TRACE_EVENTS(ADD)
}

struct trace_kinds *trace_kinds_new(void)
{
	struct trace_kinds *kinds = util_alloc(sizeof(*kinds));

	add_own(kinds);
	return kinds;
}

static void clear(struct trace_kinds *kinds)
{
	while (kinds->count)
		free(kinds->kinds[--kinds->count]);
	id_index_clear(&kinds->by_id);
}

void trace_kinds_free(struct trace_kinds *kinds)
{
	if (!kinds)
		return;
	clear(kinds);
	free(kinds);
}

void trace_kinds_forget(struct trace_kinds *kinds)
{
	clear(kinds);
	add_own(kinds);
}

void trace_kinds_learn(struct trace_kinds *kinds, const struct event *descriptor)
{
	uint16_t id = descriptor->descriptor.event;
	char *name, *text;

	if (descriptor->descriptor.stream != STREAM_TRACE || id < KTOP_TRACE_FIRST ||
			trace_kinds_find(kinds, id))
		return;
	name = util_copy(descriptor->descriptor.name.bytes, descriptor->descriptor.name.size);
	text = util_copy(descriptor->descriptor.fields.bytes, descriptor->descriptor.fields.size);
	add(kinds, id, name, text);
	free(name);
	free(text);
}

const struct trace_kind *trace_kinds_find(const struct trace_kinds *kinds, uint16_t id)
{
	uint32_t position = kinds ? id_index_find(&kinds->by_id, id) : ID_INDEX_NONE;

	return position == ID_INDEX_NONE ? NULL : kinds->kinds[position];
}
