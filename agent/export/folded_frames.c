/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "folded_frames.h"
#include "ranking.h"

enum { BLOCK_COST = 32 };		/* bytes that a block of memory takes besides its contents */

void folded_frames_init(struct folded_frames *frames, struct budget *budget)
{
	*frames = (struct folded_frames) { .budget = budget };
	hash_init(&frames->by_id, budget);
}

void folded_frames_clear(struct folded_frames *frames)
{
	for (uint32_t i = 0; i < frames->count; i++)
		free(frames->list[i].text);
	budget_give(frames->budget, frames->paid);
	budget_free(frames->budget, frames->list, frames->room * sizeof(*frames->list));
	budget_free(frames->budget, frames->by_function, frames->function_room * sizeof(*frames->by_function));
	hash_clear(&frames->by_id);
}

/* ---- by number: functions are numbered from 0 on, threads are not ---- */

static bool is_function(enum folded_kind kind)
{
	return kind == FOLDED_CALLER || kind == FOLDED_LEAF;
}

static size_t place_of(enum folded_kind kind, uint32_t id)
{
	return 2 * (size_t)id + (kind == FOLDED_LEAF);
}

uint32_t folded_frames_find(const struct folded_frames *frames, enum folded_kind kind, uint32_t id)
{
	size_t place = place_of(kind, id);
	uint64_t hash;
	uint32_t at = 0, number;

	if (is_function(kind))
		return place < frames->function_room ? frames->by_function[place] : HASH_NONE;
	hash = hash_pair(&frames->by_id, kind, id);
	while ((number = hash_next(&frames->by_id, hash, &at)) != HASH_NONE)
		if (frames->list[number].kind == kind && frames->list[number].id == id)
			break;
	return number;
}

/* False: no memory. */
static bool have_place(struct folded_frames *frames, size_t place)
{
	size_t room = 2 * place + 1024;
	uint32_t *by_function;

	if (place < frames->function_room)
		return true;
	by_function = budget_resize(frames->budget, frames->by_function,
		frames->function_room * sizeof(*by_function), room * sizeof(*by_function));
	if (!by_function)
		return false;
	memset(by_function + frames->function_room, 0xff, (room - frames->function_room) * sizeof(*by_function));
	frames->by_function = by_function;
	frames->function_room = room;
	return true;
}

/* The frame that is added next will be found. False: no memory. */
static bool number_next(struct folded_frames *frames, enum folded_kind kind, uint32_t id)
{
	size_t place = place_of(kind, id);

	if (!is_function(kind))
		return hash_add(&frames->by_id, hash_pair(&frames->by_id, kind, id), frames->count);
	if (!have_place(frames, place))
		return false;
	frames->by_function[place] = frames->count;
	return true;
}

/* ---- texts ---- */

/* Replaces the characters of a name that would separate frames, counts or lines. */
static char harmless(char c)
{
	if (c == ';')
		return ':';
	return (unsigned char)c <= ' ' || c == 0x7f ? '_' : c;
}

static bool make_text(struct folded_frames *frames, struct folded_frame *frame, const char *name, const char *mark)
{
	size_t named = strlen(name), marked = strlen(mark);

	frame->size = named + marked + 1;
	if (!budget_take(frames->budget, frame->size + BLOCK_COST))
		return false;
	frames->paid += frame->size + BLOCK_COST;
	frame->text = util_alloc(frame->size);
	for (size_t i = 0; i < named; i++)
		frame->text[i] = harmless(name[i]);
	memcpy(frame->text + named, mark, marked);
	frame->text[named + marked] = frame->kind == FOLDED_LEAF ? ' ' : ';';
	return true;
}

uint32_t folded_frames_add(struct folded_frames *frames, enum folded_kind kind, uint32_t id, const char *name,
	const char *mark)
{
	struct folded_frame frame = { .number = frames->count, .kind = kind, .id = id };
	struct folded_frame *list = budget_array(frames->budget, frames->list, frames->count, &frames->room,
		sizeof(*list));

	if (!list)
		return HASH_NONE;
	frames->list = list;
	if (!make_text(frames, &frame, name, mark))
		return HASH_NONE;
	if (!number_next(frames, kind, id)) {
		free(frame.text);
		return HASH_NONE;
	}
	list[frames->count] = frame;
	return frames->count++;
}

static int compare(const void *left, const void *right)
{
	const struct folded_frame *a = left, *b = right;

	return memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
}

uint32_t *folded_frames_sort(struct folded_frames *frames)
{
	return ranking_new(frames->budget, frames->list, frames->count, sizeof(*frames->list), compare);
}
