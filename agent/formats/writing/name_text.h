/* SPDX-License-Identifier: MIT */
/*
 * Names as text that harms no reader: printable UTF-8. Every other byte, each backslash, and each of the characters
 * that mean something in the format becomes \xHH. So different names stay different.
 */
#ifndef NAME_TEXT_H
#define NAME_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/base/hash.h"

enum { NAME_PIECE = 4 };		/* bytes */

/* Writes the next character of *text, or its \xHH, and moves *text behind it. Returns its size; 0: the text is over. */
size_t name_text_next(const char **text, const char *special, char piece[NAME_PIECE]);

void name_text_put(FILE *to, const char *text, const char *special);

/*
 * The name of which name_text_put wrote this text, without `special`; a text that it cannot have written is its own
 * name. The text has no zero, and may be any bytes. `name`: room for `size` bytes and a zero.
 */
void name_text_back(const char *text, size_t size, char *name);

/* ---- frame list ---- */

/* The frames of a stack, as deep as it is: functions, the root first, inlined ones behind those that they are in. */

struct sample_set;
struct set_line;

struct frame_list {			/* all zero: an empty one */
	struct set_line *frames;
	uint32_t count, room;
};

void frame_list_read(struct frame_list *list, const struct sample_set *set, uint32_t stack);
void frame_list_clear(struct frame_list *list);

/* ---- cpu list ---- */

/* The CPUs that a sample set has samples of, in order, for formats that give each CPU a part of its own. */

struct cpu_list {
	uint32_t *cpus;			/* SET_NONE, if it is there, is the last one */
	uint32_t count;
};

void cpu_list_init(struct cpu_list *list, const struct sample_set *set);
void cpu_list_clear(struct cpu_list *list);
uint32_t cpu_list_index(const struct cpu_list *list, uint32_t cpu);	/* of one that is in the list */

/* ---- thread names ---- */

/* The threads of a set by the guest's number of them, for formats that show trace events. */

enum { THREAD_NAME = 32 };

struct thread_names {
	const struct sample_set *set;
	struct hash by_number;
};

/* Without memory it knows fewer names. */
void thread_names_init(struct thread_names *names, const struct sample_set *set);
void thread_names_clear(struct thread_names *names);

/* The index of the set's first thread with this number and a name; SET_NONE: there is none. */
uint32_t thread_names_find(const struct thread_names *names, uint64_t number);

/* Its name, or "thread NUMBER", which is put into `text`. */
const char *thread_names_get(const struct thread_names *names, uint64_t number, char text[THREAD_NAME]);

#endif
