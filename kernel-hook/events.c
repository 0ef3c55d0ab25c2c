/* SPDX-License-Identifier: MIT */
/* The kernel's events are rows of a name table (base/name_table.h), which is read while the kernel may write to it. */
#include <stdbool.h>
#include <stdint.h>

#include "base/put.h"
#include "base/str.h"
#include "events.h"
#include "hook.h"
#include "trace.h"

/* An event and its name, without a terminating zero. */
struct named {
	uint32_t id;
	uint32_t size;			/* bytes of the name; 0: it cannot be read now, or the kernel lacks the event */
	const char *name;
};

#define NAMED(number, stream, label) { number, sizeof(#label) - 1, #label },
static const struct named own[] = { KTOP_WIRE_TRACE_EVENTS(NAMED) };
enum { OWN = sizeof(own) / sizeof(own[0]) };

/* A row of the table: the payload of a descriptor event. */
union description {
	uint8_t bytes[8 * KTOP_ROW_WORDS];
	struct ktop_wire_descriptor fixed;
};

enum { NAME = sizeof(struct ktop_wire_descriptor) + sizeof(uint16_t) };	/* where the name's bytes begin in a row */

_Static_assert(NAME + sizeof(uint16_t) + KTOP_TRACE_TEXT <= 8 * KTOP_ROW_WORDS, "texts fit their row");
_Static_assert(KTOP_TRACE_FIRST % 32 == 0 && KTOP_TRACE_IDS % 32 == 0, "whole words");

/* ---- what the kernel calls (serial) ---- */

/* Writes the row of an event, and returns its bytes. 0: the texts are too long, or there is no name. */
static uint32_t describe(union description *to, uint32_t id, const char *name, const char *fields)
{
	struct ktop_wire_descriptor fixed = { .event = (uint16_t)id, .stream = KTOP_TRACE };
	uint32_t name_size = ktop_str_fit(name, KTOP_TRACE_TEXT + 1);
	uint32_t size = ktop_str_fit(fields, KTOP_TRACE_TEXT + 1);
	uint8_t *at = ktop_put(to->bytes, &fixed, sizeof(fixed));

	if (name_size == 0 || name_size + size > KTOP_TRACE_TEXT)
		return 0;
	at = ktop_put_list(ktop_put_list(at, name, name_size), fields, size);
	return (uint32_t)(at - to->bytes);
}

/*
 * Puts an event into the table. False: the event is refused, and counted: its texts or its id are out of range, the id
 * has another description already, or the table is full.
 */
static bool tell(struct ktop_table *table, uint32_t id, const char *name, const char *fields)
{
	union description row;
	struct ktop_key key = { .id = id };
	uint32_t size = describe(&row, id, name, fields);

	if (size && id >= KTOP_TRACE_USER && id < KTOP_TRACE_IDS &&
			ktop_table_agrees(table, key, row.bytes, size))
		return ktop_table_put(table, key, row.bytes, size);
	ktop_table_refuse(table, id);
	return false;
}

bool ktop_events(struct ktop *ktop, const struct ktop_event_row *rows, uint32_t count)
{
	bool all = true;

	for (uint32_t i = 0; i < count; i++)
		all &= tell(&ktop->meta.events, rows[i].id, rows[i].name, rows[i].fields);
	return all;
}

/*
 * Takes the highest id that is free or has this very description. If there is none, the refusal is counted for
 * KTOP_TRACE_IDS, an id that no event has.
 */
uint16_t ktop_event_new(struct ktop *ktop, const char *name, const char *fields)
{
	struct ktop_table *table = &ktop->meta.events;
	union description row;

	for (uint32_t id = KTOP_TRACE_IDS - 1; id >= KTOP_TRACE_USER; id--) {
		uint32_t size = describe(&row, id, name, fields);

		if (size == 0)
			break;
		if (ktop_table_agrees(table, (struct ktop_key) { .id = id }, row.bytes, size))
			return tell(table, id, name, fields) ? (uint16_t)id : 0;
	}
	ktop_table_refuse(table, KTOP_TRACE_IDS);
	return 0;
}

/* ---- what control lines ask (the drainer) ---- */

/* The event at a place in the list of all. False: the list has ended. A row that is being written has no name. */
static bool event_at(const struct ktop *ktop, uint32_t index, union description *row,
	struct named *event)
{
	uint16_t size = 0;

	if (index < OWN) {
		*event = own[index];
		if (ktop->untraced >> (event->id - KTOP_TRACE_FIRST) & 1)
			event->size = 0;
		return true;
	}
	if (index - OWN >= ktop_table_fill(&ktop->meta.events).used)
		return false;
	if (ktop_table_read(&ktop->meta.events, index - OWN, row->bytes))
		__builtin_memcpy(&size, row->bytes + sizeof(row->fixed), sizeof(size));
	*event = (struct named) {
		.id = row->fixed.event, .size = size, .name = (const char *)row->bytes + NAME,
	};
	return true;
}

/* Is the word this event's name, or its beginning up to a '_'? */
static bool is_named(const struct named *event, const char *word)
{
	uint32_t at = 0;

	while (at < event->size && word[at] == event->name[at])
		at++;
	return event->size && word[at] == 0 && (at == event->size || (at && event->name[at] == '_'));
}

bool ktop_events_choose(const struct ktop *ktop, const char *word, uint32_t *mask, bool on)
{
	bool all = ktop_str_same(word, "all"), found = false;
	union description row;
	struct named event;

	for (uint32_t i = 0; event_at(ktop, i, &row, &event); i++) {
		if (event.size == 0 || (!all && !is_named(&event, word)))
			continue;
		found = true;
		if (on)
			mask[event.id / 32] |= 1u << event.id % 32;
		else
			mask[event.id / 32] &= ~(1u << event.id % 32);
	}
	return found;
}

uint32_t ktop_events_words(const uint32_t *mask)
{
	uint32_t words = KTOP_TRACE_WORDS;

	while (words && mask[words - 1] == 0)
		words--;
	return words;
}

static bool is_on(const uint32_t *mask, uint32_t id)
{
	return mask[id / 32] >> id % 32 & 1;
}

/* A list that is too long for a text ends with " ..."; the filters come after it. */
void ktop_events_list(const struct ktop *ktop, const uint32_t *mask, struct ktop_str *text)
{
	static const char more[] = " ...", only[] = " only ";
	enum { OPTIONS = 9 };		/* the most bytes of an event's: ":stack=30" */
	const struct ktop_str *filters = &ktop->meta.filters;
	union description row;
	struct named event;

	for (uint32_t i = 0; event_at(ktop, i, &row, &event); i++) {
		if (event.size == 0)
			continue;
		if (text->size + 2 + event.size + OPTIONS + sizeof(more) + sizeof(only) + filters->size >
				KTOP_TEXT_MAX) {
			ktop_str_add(text, more);
			break;
		}
		ktop_str_add(text, is_on(mask, event.id) ? " +" : " -");
		for (uint32_t at = 0; at < event.size; at++)
			text->bytes[text->size++] = event.name[at];
		if (is_on(ktop->stacks, event.id)) {
			ktop_str_add(text, ":stack=");
			ktop_str_number(text, ktop->stack_frames);
		}
	}
	ktop_str_add(text, filters->size ? only : "");
	for (uint32_t at = 0; at < filters->size && text->size < KTOP_TEXT_MAX; at++)
		text->bytes[text->size++] = filters->bytes[at];
}

void ktop_events_count(const struct ktop *ktop, const uint32_t *mask, struct ktop_str *text)
{
	uint32_t count = 0, on = 0;
	union description row;
	struct named event;

	for (uint32_t i = 0; event_at(ktop, i, &row, &event); i++) {
		count += event.size != 0;
		on += event.size && is_on(mask, event.id);
	}
	ktop_str_number(text, on);
	ktop_str_add(text, " of ");
	ktop_str_number(text, count);
}
