/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "frame_list.h"

void frame_list_read(struct frame_list *list, const struct sample_set *set, uint32_t stack)
{
	while ((list->count = sample_set_frames(set, stack, list->frames, list->room)) == list->room) {
		list->room = 2 * list->room + 64;
		list->frames = util_grow(list->frames, list->room, sizeof(*list->frames));
	}
}

void frame_list_clear(struct frame_list *list)
{
	free(list->frames);
	*list = (struct frame_list) { 0 };
}
