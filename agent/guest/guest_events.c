/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/wire/id_index.h"
#include "agent/wire/payload.h"
#include "guest_events.h"

enum {
	IDS = UINT16_MAX + 1,
	OLD_FIRST = 32,			/* the event id of the first bit of status.trace_mask */
};

struct called {				/* what a number is called */
	enum trace_role role;
	uint64_t number;
	char *name;			/* printable */
	struct field *arguments;	/* `argument_count`; NULL: not told */
	int argument_count;
};

struct guest_events {
	struct budget *budget;
	struct called *called;		/* by_number finds them */
	uint32_t called_count, called_room;
	struct hash by_number;
	struct id_index by_id;
	struct guest_event *kinds;	/* in the order in which they came; by_id finds them */
	size_t count, room;		/* used and allocated entries of kinds[] */
	uint64_t refused;		/* events that were not counted for want of memory */
	bool told;			/* the hook has sent the mask of all ids */
	uint32_t mask[IDS / 32];	/* bit i of word w: the guest traces event 32 * w + i */
};

struct guest_events *guest_events_new(struct budget *budget)
{
	struct guest_events *events = util_alloc(sizeof(*events));

	events->budget = budget;
	hash_init(&events->by_number, budget);
	return events;
}

void guest_events_free(struct guest_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->count; i++) {
		struct guest_event *kind = &events->kinds[i];

		free(kind->name);
		free(kind->fields);
		budget_free(events->budget, kind->counts, kind->room * sizeof(*kind->counts));
	}
	for (uint32_t i = 0; i < events->called_count; i++) {
		free(events->called[i].name);
		free(events->called[i].arguments);
	}
	budget_free(events->budget, events->called, events->called_room * sizeof(*events->called));
	hash_clear(&events->by_number);
	free(events->kinds);
	id_index_clear(&events->by_id);
	free(events);
}

/* The kind with this id; a new one is made. NULL: there are GUEST_EVENTS kinds already. */
static struct guest_event *kind_of(struct guest_events *events, uint16_t id)
{
	uint32_t position = id_index_find(&events->by_id, id);

	if (position != ID_INDEX_NONE)
		return &events->kinds[position];
	if (events->count == GUEST_EVENTS)
		return NULL;
	if (events->count == events->room) {
		events->room = 2 * events->room + 32;
		events->kinds = util_grow(events->kinds, events->room, sizeof(*events->kinds));
	}
	id_index_set(&events->by_id, id, (uint16_t)events->count);
	events->kinds[events->count] = (struct guest_event) {
		.id = id, .name = util_copy(payload_name(id), strlen(payload_name(id))), .fields = util_copy("", 0),
	};
	return &events->kinds[events->count++];
}

/* Makes counts[] large enough for this CPU. False: no memory. */
static bool make_room(struct guest_events *events, struct guest_event *kind, uint32_t cpu)
{
	uint32_t room = cpu + 1 + kind->room;
	uint64_t *counts;

	if (cpu < kind->room)
		return true;
	counts = budget_resize(events->budget, kind->counts, kind->room * sizeof(*counts),
		room * sizeof(*counts));
	if (!counts)
		return false;
	memset(counts + kind->room, 0, (room - kind->room) * sizeof(*counts));
	kind->counts = counts;
	kind->room = room;
	return true;
}

void guest_events_count(struct guest_events *events, const struct event *received, size_t count)
{
	uint32_t cpu = received[0].cpu;

	for (size_t i = 0; i < count; i++) {
		struct guest_event *kind = kind_of(events, received[i].id);

		if (kind && make_room(events, kind, cpu))
			kind->counts[cpu]++;
		else
			events->refused += kind != NULL;
	}
}

void guest_events_describe(struct guest_events *events, const struct event *descriptor)
{
	struct guest_event *kind = kind_of(events, descriptor->descriptor.event);

	if (!kind || kind->described)
		return;
	free(kind->name);
	free(kind->fields);
	kind->described = true;
	kind->stream = descriptor->descriptor.stream;
	kind->name = util_printable(descriptor->descriptor.name.bytes,
		descriptor->descriptor.name.size);
	kind->fields = util_printable(descriptor->descriptor.fields.bytes,
		descriptor->descriptor.fields.size);
}

static struct called *find_called(const struct guest_events *events, enum trace_role role, uint64_t number)
{
	uint64_t hash = hash_pair(&events->by_number, number, role);
	uint32_t at = 0, position;

	while ((position = hash_next(&events->by_number, hash, &at)) != HASH_NONE)
		if (events->called[position].role == role && events->called[position].number == number)
			return &events->called[position];
	return NULL;
}

/* NULL: it stands in no event that ktop knows, there are too many, or no memory. */
static struct called *have_called(struct guest_events *events, uint16_t event, uint64_t number)
{
	uint32_t kind = id_index_find(&events->by_id, event);
	enum trace_role role = trace_role_named(kind == ID_INDEX_NONE ? payload_name(event) : events->kinds[kind].name);
	uint64_t hash = hash_pair(&events->by_number, number, role);
	struct called *list = find_called(events, role, number);

	if (list || role == ROLE_NONE || events->called_count == GUEST_NUMBERS)
		return list;
	list = budget_array(events->budget, events->called, events->called_count, &events->called_room, sizeof(*list));
	events->called = list ? list : events->called;
	if (!list || !hash_add(&events->by_number, hash, events->called_count))
		return NULL;
	list[events->called_count] = (struct called) { .role = role, .number = number, .name = util_copy("", 0) };
	return &list[events->called_count++];
}

void guest_events_number(struct guest_events *events, const struct event *number)
{
	struct called *called = have_called(events, number->number.event, number->number.number);

	if (!called)
		return;
	free(called->name);
	called->name = util_printable(number->number.name.bytes, number->number.name.size);
}

const char *guest_events_called(const struct guest_events *events, enum trace_role role, uint64_t number)
{
	const struct called *called = find_called(events, role, number);

	return called ? called->name : "";
}

void guest_events_tell_arguments(struct guest_events *events, const struct event *arguments)
{
	struct field fields[FIELDS_MAX];
	char *text = util_copy(arguments->arguments.fields.bytes, arguments->arguments.fields.size);
	int count = fields_parse(text, fields);
	struct called *called = count < 0 || count > CALL_ARGUMENTS ? NULL :
		have_called(events, arguments->arguments.event, arguments->arguments.number);

	free(text);
	for (int i = 0; i < count && called; i++)
		if (fields[i].list)
			called = NULL;
	if (!called)
		return;
	free(called->arguments);
	called->arguments = util_alloc((size_t)(count + 1) * sizeof(fields[0]));
	memcpy(called->arguments, fields, (size_t)count * sizeof(fields[0]));
	called->argument_count = count;
}

int guest_events_arguments(const struct guest_events *events, uint64_t number, const struct field **fields)
{
	const struct called *called = find_called(events, ROLE_CALL_BEGIN, number);

	*fields = called ? called->arguments : NULL;
	return *fields ? called->argument_count : -1;
}

bool guest_events_traced(struct guest_events *events, const struct event *tracing)
{
	uint32_t mask[sizeof(events->mask) / sizeof(events->mask[0])] = { 0 };
	bool others;

	memcpy(mask, tracing->tracing.mask, tracing->tracing.words * sizeof(mask[0]));
	others = memcmp(mask, events->mask, sizeof(mask)) != 0;
	memcpy(events->mask, mask, sizeof(mask));
	events->told = true;
	return others;
}

void guest_events_traced_before(struct guest_events *events, const struct status *status)
{
	if (!events->told)
		events->mask[OLD_FIRST / 32] = status->trace_mask;
}

const struct guest_event *guest_events_from(const struct guest_events *events, uint32_t id)
{
	for (; id < IDS; id++) {
		uint32_t position = id_index_find(&events->by_id, (uint16_t)id);

		if (position != ID_INDEX_NONE)
			return &events->kinds[position];
	}
	return NULL;
}

bool guest_events_on(const struct guest_events *events, uint16_t id)
{
	return events->mask[id / 32] >> id % 32 & 1;
}

uint64_t guest_events_refused(const struct guest_events *events)
{
	return events->refused;
}
