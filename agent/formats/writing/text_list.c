/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "text_list.h"

bool text_list_make(struct text_list *list, uint32_t count, void (*put)(FILE *to, const void *context, uint32_t index),
	const void *context)
{
	FILE *to;

	*list = (struct text_list) { .ends = calloc((size_t)count + 1, sizeof(*list->ends)) };
	to = list->ends ? util_text_stream(&list->text, &list->size) : NULL;
	if (!to)
		return false;
	for (uint32_t i = 0; i < count && !ferror(to); i++) {
		put(to, context, i);
		list->ends[i] = fflush(to) == 0 ? list->size : 0;
	}
	return util_text_whole(to, &list->text);
}

void text_list_clear(struct text_list *list)
{
	free(list->text);
	free(list->ends);
	*list = (struct text_list) { 0 };
}

void text_list_put(const struct text_list *list, uint32_t index, FILE *to)
{
	size_t begin = index ? list->ends[index - 1] : 0;

	fwrite(list->text + begin, 1, list->ends[index] - begin, to);
}
