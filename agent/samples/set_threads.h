/* SPDX-License-Identifier: MIT */
/* Puts the threads that samples name into a sample set, each once, with what they are called. */
#ifndef SET_THREADS_H
#define SET_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/hash.h"

struct budget;
struct sample_set;
struct threads;
struct who;

struct set_threads {
	struct sample_set *set;
	struct threads *names;
	struct budget *budget;		/* borrowed, as the others */
	struct seen_thread *list;
	uint32_t count, room;
	struct hash by_who;
};

void set_threads_init(struct set_threads *threads, struct sample_set *set, struct threads *names,
	struct budget *budget);
void set_threads_clear(struct set_threads *threads);

/* Its index in the set. It is put there if it is new; false: there is no memory. */
bool set_threads_have(struct set_threads *threads, const struct who *who, uint32_t *index);

/* False: it was not put there. */
bool set_threads_find(const struct set_threads *threads, const struct who *who, uint32_t *index);

#endif
