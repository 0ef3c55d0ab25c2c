/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/trace/span.h"
#include "agent/wire/id_index.h"
#include "agent/wire/payload.h"
#include "guest_events.h"

enum {
	IDS = UINT16_MAX + 1,
};

struct told {				/* the arguments of a call */
	struct field *fields;		/* `count`; NULL: not told */
	int count;
};

struct guest_events {
	struct budget *budget;
	struct trace_number *numbers;	/* by_number finds them */
	struct told *arguments;		/* of each of them */
	uint32_t number_count, number_room, argument_room;
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
	for (uint32_t i = 0; i < events->number_count; i++) {
		free((char *)events->numbers[i].name);
		free(events->arguments[i].fields);
	}
	budget_free(events->budget, events->numbers, events->number_room * sizeof(*events->numbers));
	budget_free(events->budget, events->arguments, events->argument_room * sizeof(*events->arguments));
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

/* HASH_NONE: it has no name. */
static uint32_t find_number(const struct guest_events *events, enum trace_role role, uint64_t number)
{
	uint64_t hash = hash_pair(&events->by_number, number, role);
	uint32_t at = 0, position;

	while ((position = hash_next(&events->by_number, hash, &at)) != HASH_NONE)
		if (events->numbers[position].role == role && events->numbers[position].number == number)
			break;
	return position;
}

/* HASH_NONE: there are too many, or no memory. */
static uint32_t have_number(struct guest_events *events, enum trace_role role, uint64_t number)
{
	uint32_t found = find_number(events, role, number), count = events->number_count;
	struct trace_number *numbers;
	struct told *arguments;

	if (found != HASH_NONE || count == GUEST_NUMBERS)
		return found;
	numbers = budget_array(events->budget, events->numbers, count, &events->number_room, sizeof(*numbers));
	events->numbers = numbers ? numbers : events->numbers;
	arguments = budget_array(events->budget, events->arguments, count, &events->argument_room, sizeof(*arguments));
	events->arguments = arguments ? arguments : events->arguments;
	if (!numbers || !arguments || !hash_add(&events->by_number, hash_pair(&events->by_number, number, role), count))
		return HASH_NONE;
	numbers[count] = (struct trace_number) { .role = role, .number = number, .name = util_copy("", 0) };
	arguments[count] = (struct told) { .fields = NULL };
	return events->number_count++;
}

/* Likewise; of a number in this event. */
static uint32_t have_number_of(struct guest_events *events, uint16_t event, uint64_t number)
{
	uint32_t kind = id_index_find(&events->by_id, event);
	enum trace_role role = trace_role_named(kind == ID_INDEX_NONE ? payload_name(event) : events->kinds[kind].name);

	return role != ROLE_NONE ? have_number(events, role, number) :
		have_number(events, ROLE_SINGLE, SPAN_NUMBER(event, number));
}

/* `name`: printable; owned from now on. */
static void name_number(struct guest_events *events, uint32_t at, char *name)
{
	if (at == HASH_NONE) {
		free(name);
		return;
	}
	free((char *)events->numbers[at].name);
	events->numbers[at].name = name;
}

void guest_events_number(struct guest_events *events, const struct event *number)
{
	name_number(events, have_number_of(events, number->number.event, number->number.number),
		util_printable(number->number.name.bytes, number->number.name.size));
}

void guest_events_describe(struct guest_events *events, const struct event *descriptor)
{
	struct guest_event *kind = kind_of(events, descriptor->descriptor.event);
	char pair[FIELD_NAME_SIZE];

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
	if (strcmp(trace_pair_name(kind->name, pair), kind->name) != 0)		/* it may be one's beginning */
		name_number(events, have_number(events, ROLE_PAIR_BEGIN, kind->id), util_copy(pair, strlen(pair)));
}

/* Two events whose names have the same first word, as memory_alloc and memory_free. */
static bool are_of_a_group(const struct guest_events *events, uint16_t one, uint16_t other)
{
	uint32_t a = id_index_find(&events->by_id, one), b = id_index_find(&events->by_id, other);
	const char *name = a == ID_INDEX_NONE ? "" : events->kinds[a].name;
	size_t size = strcspn(name, "_");

	return b != ID_INDEX_NONE && size && strncmp(name, events->kinds[b].name, size) == 0 &&
		(events->kinds[b].name[size] == '_' || !events->kinds[b].name[size]);
}

/* What another event of the hook's own group calls the number. HASH_NONE: none does. */
static uint32_t find_in_group(const struct guest_events *events, uint64_t number)
{
	for (uint32_t i = 0; i < events->number_count && SPAN_EVENT(number) < EVENT_TRACE_USER; i++) {
		const struct trace_number *is = &events->numbers[i];

		if (is->role == ROLE_SINGLE && (uint32_t)is->number == (uint32_t)number &&
				SPAN_EVENT(is->number) < EVENT_TRACE_USER &&
				are_of_a_group(events, SPAN_EVENT(number), SPAN_EVENT(is->number)))
			return i;
	}
	return HASH_NONE;
}

const char *guest_events_called(const struct guest_events *events, enum trace_role role, uint64_t number)
{
	uint32_t at = find_number(events, role, number);

	if (at == HASH_NONE && role == ROLE_SINGLE)
		at = find_in_group(events, number);
	return at == HASH_NONE ? "" : events->numbers[at].name;
}

bool guest_events_is_block(const struct guest_events *events, uint16_t pair)
{
	return strcmp(guest_events_called(events, ROLE_PAIR_BEGIN, pair), "block") == 0;
}

uint32_t guest_events_numbers(const struct guest_events *events, const struct trace_number **numbers)
{
	*numbers = events->numbers;
	return events->number_count;
}

void guest_events_tell_arguments(struct guest_events *events, const struct event *arguments)
{
	struct field fields[FIELDS_MAX];
	char *text = util_copy(arguments->arguments.fields.bytes, arguments->arguments.fields.size);
	int count = fields_parse(text, fields);
	uint32_t at = count < 0 || count > CALL_ARGUMENTS ? HASH_NONE :
		have_number_of(events, arguments->arguments.event, arguments->arguments.number);

	free(text);
	for (int i = 0; i < count && at != HASH_NONE; i++)
		if (fields[i].list)
			at = HASH_NONE;
	if (at == HASH_NONE)
		return;
	free(events->arguments[at].fields);
	events->arguments[at].fields = util_alloc((size_t)(count + 1) * sizeof(fields[0]));
	memcpy(events->arguments[at].fields, fields, (size_t)count * sizeof(fields[0]));
	events->arguments[at].count = count;
}

int guest_events_arguments(const struct guest_events *events, uint64_t number, const struct field **fields)
{
	uint32_t at = find_number(events, ROLE_CALL_BEGIN, number);

	*fields = at == HASH_NONE ? NULL : events->arguments[at].fields;
	return *fields ? events->arguments[at].count : -1;
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
		events->mask[EVENT_TRACE_FIRST / 32] = status->trace_mask;
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
