/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "kernel-hook/wire.h"
#include "event.h"
#include "id_index.h"
#include "trace_kinds.h"

_Static_assert((int)LEAVES_READY == KTOP_LEAVES_READY && (int)LEAVES_ASLEEP == KTOP_LEAVES_ASLEEP &&
	(int)LEAVES_BLOCKED == KTOP_LEAVES_BLOCKED && (int)LEAVES_DEAD == KTOP_LEAVES_DEAD, "as in the wire");

_Static_assert((int)EVENT_TRACE_USER == KTOP_TRACE_USER, "as in the wire");

struct trace_kinds {
	struct trace_kind *kinds[TRACE_KINDS];
	size_t count;
	struct id_index by_id;
};

/* An event of this name has the role if the first `needed` of these fields are among its values. */
static const struct {
	const char *name;
	int needed;
	const char *fields[ROLE_VALUES];	/* NULL: no more */
} roles[ROLES_NAMED] = {
	[ROLE_SWITCH] = { "sched_switch", 2, { "from", "to", "leaves" } },
	[ROLE_WAKE] = { "sched_wake", 2, { "thread", "waker" } },
	[ROLE_IRQ_BEGIN] = { "irq_enter", 1, { "irq" } },
	[ROLE_IRQ_END] = { "irq_exit", 1, { "irq" } },
	[ROLE_CALL_BEGIN] = { "syscall_enter", 2,
		{ "thread", "number", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5" } },
	[ROLE_CALL_END] = { "syscall_exit", 3, { "thread", "number", "result" } },
	[ROLE_SOFTIRQ_BEGIN] = { "softirq_enter", 1, { "softirq" } },
	[ROLE_SOFTIRQ_END] = { "softirq_exit", 1, { "softirq" } },
	[ROLE_LOCK_WAIT] = { "lock_wait", 2, { "lock", "thread", "holder" } },
	[ROLE_LOCK_WAITED] = { "lock_waited", 2, { "lock", "thread" } },
	[ROLE_LOCK_ACQUIRED] = { "lock_acquired", 2, { "lock", "thread" } },
	[ROLE_LOCK_RELEASED] = { "lock_released", 2, { "lock", "thread" } },
};

enum trace_role trace_role_named(const char *name)
{
	for (int role = ROLE_NONE + 1; role < ROLES_NAMED; role++)
		if (strcmp(roles[role].name, name) == 0)
			return (enum trace_role)role;
	return ROLE_NONE;
}

/* The value that is the field of this name; -1: there is none. */
static int value_named(const struct trace_kind *kind, const char *name)
{
	for (int i = 0; i < kind->value_count; i++)
		if (strcmp(kind->fields[i].name, name) == 0)
			return i;
	return -1;
}

static void find_values(struct trace_kind *kind)
{
	size_t offset = 0;

	for (int i = 0; i < kind->count && i < TRACE_VALUES && !kind->fields[i].list; i++) {
		const enum field_type type = kind->fields[i].type;

		kind->values[i] = (struct trace_value) {
			.offset = (uint8_t)offset, .size = (uint8_t)field_size(type),
			.is_signed = type >= FIELD_S8 && type <= FIELD_S64,
			.is_thread = strcmp(kind->fields[i].name, "thread") == 0,
		};
		offset += field_size(type);
		kind->value_count++;
	}
}

/* What every event may have: a thread, and a number that has a name. */
static void be_single(struct trace_kind *kind)
{
	int thread = value_named(kind, "thread"), number = value_named(kind, "number");

	if (number >= 0 && kind->values[number].size > sizeof(uint32_t))
		number = -1;			/* an address, or the like: each would be another row */

	memset(kind->role_values, TRACE_VALUES, sizeof(kind->role_values));
	kind->role_values[PAIR_THREAD] = thread < 0 ? TRACE_VALUES : (uint8_t)thread;
	kind->role_values[PAIR_NUMBER] = number < 0 ? TRACE_VALUES : (uint8_t)number;
	kind->role = ROLE_SINGLE;
	kind->pair = kind->id;
}

static void find_role(struct trace_kind *kind)
{
	enum trace_role role = trace_role_named(kind->name);
	uint8_t values[ROLE_VALUES];

	be_single(kind);
	for (int i = 0; i < ROLE_VALUES; i++) {
		int value = roles[role].fields[i] ? value_named(kind, roles[role].fields[i]) : -1;

		if (value < 0 && i < roles[role].needed)
			return;
		values[i] = value < 0 ? TRACE_VALUES : (uint8_t)value;
	}
	if (role == ROLE_NONE)
		return;
	memcpy(kind->role_values, values, sizeof(values));
	kind->role = role;
	for (int i = 0; (role == ROLE_SWITCH || role == ROLE_WAKE) && i < 2; i++)
		kind->values[kind->role_values[i]].is_thread = true;
	if (role == ROLE_LOCK_WAIT && kind->role_values[2] < TRACE_VALUES)
		kind->values[kind->role_values[2]].is_thread = true;
}

/* ---- pairs ---- */

static const struct {
	const char *begin, *end;	/* the last words of two names */
} ends[] = { { "_begin", "_end" }, { "_enter", "_exit" }, { "_start", "_stop" }, { "_issue", "_done" } };

/* The length of the name without this last word. 0: it has another one, or nothing before it. */
static size_t stem(const char *name, const char *word)
{
	size_t length = strlen(name), last = strlen(word);

	return length > last && strcmp(name + length - last, word) == 0 ? length - last : 0;
}

const char *trace_pair_name(const char *name, char text[FIELD_NAME_SIZE])
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		length = stem(name, ends[i].begin) ? stem(name, ends[i].begin) : length;
	return util_print(text, FIELD_NAME_SIZE, "%.*s", (int)length, name);
}

static bool are_ends(const struct trace_kind *begin, const struct trace_kind *end)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t length = stem(begin->name, ends[i].begin);

		if (length && length == stem(end->name, ends[i].end) && memcmp(begin->name, end->name, length) == 0)
			return true;
	}
	return false;
}

/* Is it the frame of both? */
static bool is_frame(const struct trace_kind *kind, int value)
{
	return value >= 0 && kind->values[value].size == sizeof(uint64_t);
}

static bool join_frames(struct trace_kind *begin, struct trace_kind *end)
{
	int ours = value_named(begin, "frame"), theirs = value_named(end, "frame");

	if (!is_frame(begin, ours) || !is_frame(end, theirs))
		return false;
	begin->role_values[PAIR_KEY] = (uint8_t)ours;
	end->role_values[PAIR_KEY] = (uint8_t)theirs;
	begin->role = ROLE_FRAME_BEGIN;
	end->role = ROLE_FRAME_END;
	end->pair = begin->id;
	return true;
}

/* Two that have no field in common, or too many, stay single: which beginning an end belongs to is not known. */
static void join(struct trace_kind *begin, struct trace_kind *end)
{
	uint8_t ours[TRACE_VALUES], theirs[TRACE_VALUES];
	int count = 0;

	if (join_frames(begin, end))
		return;
	for (int i = 0; i < begin->value_count; i++) {
		int other = value_named(end, begin->fields[i].name);

		if (other < 0)
			continue;
		ours[count] = (uint8_t)i;
		theirs[count++] = (uint8_t)other;
	}
	if (count == 0 || count > ROLE_VALUES - PAIR_KEY)
		return;
	memcpy(begin->role_values + PAIR_KEY, ours, (size_t)count);
	memcpy(end->role_values + PAIR_KEY, theirs, (size_t)count);
	begin->role = ROLE_PAIR_BEGIN;
	end->role = ROLE_PAIR_END;
	end->pair = begin->id;
}

static void find_partner(const struct trace_kinds *kinds, struct trace_kind *kind)
{
	for (size_t i = 0; i < kinds->count && kind->role == ROLE_SINGLE; i++) {
		struct trace_kind *other = kinds->kinds[i];

		if (other->role != ROLE_SINGLE)
			continue;
		if (are_ends(kind, other))
			join(kind, other);
		else if (are_ends(other, kind))
			join(other, kind);
	}
}

/* ---- kinds ---- */

void trace_kind_role_values(const uint8_t role_values[ROLE_VALUES], const uint64_t values[TRACE_VALUES],
	uint64_t role[ROLE_VALUES])
{
	for (int i = 0; i < ROLE_VALUES; i++)
		role[i] = role_values[i] < TRACE_VALUES ? values[role_values[i]] : TRACE_NO_VALUE;
}

void trace_kind_values(const struct trace_kind *kind, const void *fields, uint64_t values[TRACE_VALUES])
{
	for (int i = 0; i < kind->value_count; i++) {
		const struct trace_value *value = &kind->values[i];
		unsigned unused = 64 - 8u * value->size;

		values[i] = 0;
		memcpy(&values[i], (const uint8_t *)fields + value->offset, value->size);
		if (value->is_signed)
			values[i] = (uint64_t)((int64_t)(values[i] << unused) >> unused);
	}
}

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
	find_values(kind);
	find_role(kind);
	return kind;
}

static void add(struct trace_kinds *kinds, uint16_t id, const char *name, const char *text)
{
	struct trace_kind *kind = kinds->count < TRACE_KINDS ? make(id, name, text) : NULL;

	if (!kind)
		return;
	find_partner(kinds, kind);
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
