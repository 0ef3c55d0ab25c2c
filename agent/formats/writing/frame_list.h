/* SPDX-License-Identifier: MIT */
/* The frames of a stack, as deep as it is: functions, the root first, inlined ones behind those that they are in. */
#ifndef FRAME_LIST_H
#define FRAME_LIST_H

#include <stdint.h>

struct sample_set;
struct set_line;

struct frame_list {			/* all zero: an empty one */
	struct set_line *frames;
	uint32_t count, room;
};

void frame_list_read(struct frame_list *list, const struct sample_set *set, uint32_t stack);
void frame_list_clear(struct frame_list *list);

#endif
