/* SPDX-License-Identifier: MIT */
/* Answers (answers.h) made by hand, always the same: 4 CPUs, eight functions, 10 s of samples. */
#ifndef HAND_ANSWERS_H
#define HAND_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "answers.h"

struct symbols;

enum { HAND_FUNCTIONS = 8 };

struct symbols *hand_symbols(uint32_t functions[HAND_FUNCTIONS]);

/* Those of a whole program, from the setup of its group to the teardown. Its text is in UTF-8 from then on. */
extern struct symbols *hand_names;
extern uint32_t hand_functions[HAND_FUNCTIONS];
int hand_begin(void **state);
int hand_end(void **state);

struct answers *hand_answers(struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS]);

/* Adds a heat map of all that is busy. */
void hand_heat(struct answers *answers, struct symbols *symbols);

/* Adds what trace events say of some system calls and interrupts; `more`: so much more to do. */
void hand_events(struct answers *answers, struct symbols *symbols, uint64_t more);
/* Adds what three call sites of two allocators have not given back, with the stacks of the first. */
void hand_memory(struct answers *answers, struct symbols *symbols);
/* Of three threads and two CPUs; the moment is of the first thread, at the end. */
void hand_timeline(struct answers *answers, struct symbols *symbols);

/*
 * Gives it a call tree of these functions, with more weight by `more`: top-down, syscall_entry calls spin_lock, which
 * calls memcpy and page_alloc; or the callers and callees of spin_lock.
 */
void hand_tree(struct answers *answers, struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS], bool around,
	uint64_t more);

/*
 * Gives each of its answers a baseline: even rows had half as much, odd ones twice. The third row is new, and a
 * table's last one is gone. Of an annotation it is likewise by instruction; the fifth one is gone.
 */
void hand_baseline(struct answers *answers);

/* Gives it the page of spin_lock. */
void hand_page(struct answers *answers, struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS]);

/* Gives it another number of CPUs, each busy in its own way. */
void hand_cpus(struct answers *answers, uint32_t count);

/* A kernel of functions with these names. `ids` gets their ids, in this order. */
struct symbols *hand_kernel(const char *const *names, size_t count, uint32_t *functions);

/* Gives it another table, of these functions, each with less time than the one before. */
void hand_rows(struct answers *answers, struct symbols *symbols, const uint32_t *functions,
	size_t count);

#endif
