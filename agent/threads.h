/*
 * Names of processes and threads, also of those that have ended. Texts live until threads_free. One
 * owner thread. Bounded: what a guest tells beyond 128 Ki names or 16 MB of text is not taken.
 */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"

struct threads;

struct threads *threads_new(void);
void threads_free(struct threads *threads);

void threads_process(struct threads *threads, uint32_t process, struct text name);
void threads_thread(struct threads *threads, uint32_t thread, uint32_t process, struct text name);

/* Printable names; never NULL: "thread 12" and "process 3" where none was told. */
const char *threads_name(struct threads *threads, uint32_t thread);
const char *threads_process_name(struct threads *threads, uint32_t process);

/*
 * Does the pattern name this thread: its number when the pattern is one, else part of its name or
 * of its process's, as shown (pattern.h)? "": yes.
 */
bool threads_match(struct threads *threads, uint32_t thread, uint32_t process, const char *pattern);

/* Grows when an earlier answer of threads_match may be different now. */
uint64_t threads_generation(const struct threads *threads);

#endif
