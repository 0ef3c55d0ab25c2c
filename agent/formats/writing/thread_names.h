/* SPDX-License-Identifier: MIT */
/* The threads of a set by the guest's number of them, for formats that show trace events. */
#ifndef THREAD_NAMES_H
#define THREAD_NAMES_H

#include <stdint.h>

#include "agent/base/hash.h"

struct sample_set;

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
