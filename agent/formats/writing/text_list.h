/* SPDX-License-Identifier: MIT */
/* Texts that a format writes again and again, such as functions' names: made once, and known by their index. */
#ifndef TEXT_LIST_H
#define TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct text_list {			/* all zero: an empty one */
	char *text;			/* all of them, one behind the other */
	size_t *ends;			/* of each */
	size_t size;
};

/* Makes `count` texts: `put` writes each. False: no memory. */
bool text_list_make(struct text_list *list, uint32_t count, void (*put)(FILE *to, const void *context, uint32_t index),
	const void *context);
void text_list_clear(struct text_list *list);
void text_list_put(const struct text_list *list, uint32_t index, FILE *to);

#endif
