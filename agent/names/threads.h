/* SPDX-License-Identifier: MIT */
/*
 * Names of processes and threads, also of those that have ended: of about the last 128 Ki that were
 * told, sampled or asked for (recent.h). A text lives until threads_free, even when its thread is
 * forgotten; beyond 16 MB of them, or a 32nd of the budget, new ones are not taken. One owner
 * thread.
 */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct threads;

struct threads *threads_new(struct budget *budget);
void threads_free(struct threads *threads);

void threads_process(struct threads *threads, uint32_t process, struct text name);
void threads_thread(struct threads *threads, uint32_t thread, uint32_t process, struct text name);

/* A thread and its process were met again: they are not forgotten yet. */
void threads_seen(struct threads *threads, uint32_t thread, uint32_t process);

/* Printable names; never NULL: "thread 12" and "process 3" where none was told. */
const char *threads_name(struct threads *threads, uint32_t thread);
const char *threads_process_name(struct threads *threads, uint32_t process);

/*
 * Does the pattern name this thread: its number when the pattern is one, else part of its name or
 * of its process's, as shown (pattern.h)? "": yes.
 */
bool threads_match(struct threads *threads, uint32_t thread, uint32_t process, const char *pattern);

/* Names that were not taken: there is no memory for their text. */
void threads_retry(struct threads *threads);	/* they are about to be told again */
uint64_t threads_refused(const struct threads *threads);

/* Grows when an earlier answer of threads_match may be different now. */
uint64_t threads_generation(const struct threads *threads);

#endif
