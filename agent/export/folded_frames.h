/* SPDX-License-Identifier: MIT */
/* The parts of folded lines, as texts: each once, known by a number. */
#ifndef FOLDED_FRAMES_H
#define FOLDED_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/hash.h"

enum folded_kind { FOLDED_ROOT, FOLDED_THREAD, FOLDED_CALLER, FOLDED_LEAF };

struct folded_frame {
	uint32_t number;		/* where it was added */
	enum folded_kind kind;
	uint32_t id;			/* of the function, or of the thread */
	size_t size;
	char *text;			/* harmless, with what stands behind it: ' ' after a leaf, else ';' */
};

struct folded_frames {
	struct budget *budget;
	struct folded_frame *list;
	uint32_t count, room;
	uint32_t *by_function;		/* numbers of callers and leaves, two by two */
	size_t function_room;
	struct hash by_id;		/* of the others */
	size_t paid;			/* bytes that were taken from the budget for texts */
};

void folded_frames_init(struct folded_frames *frames, struct budget *budget);
void folded_frames_clear(struct folded_frames *frames);

/* The number of a frame. HASH_NONE: it is not there. */
uint32_t folded_frames_find(const struct folded_frames *frames, enum folded_kind kind, uint32_t id);

/* Adds one that is not there yet. Its text is the name, made harmless, with the mark. HASH_NONE: no memory. */
uint32_t folded_frames_add(struct folded_frames *frames, enum folded_kind kind, uint32_t id, const char *name,
	const char *mark);

/*
 * Sorts the frames by their texts. No text is the beginning of another one, since what stands behind it is in no name.
 * Returns the ranking (ranking.h). NULL: no memory.
 */
uint32_t *folded_frames_sort(struct folded_frames *frames);

#endif
