/* SPDX-License-Identifier: MIT */
/*
 * Names of processes and threads, including ended ones: the last 128 Ki or so that were told, sampled or
 * asked for (hash.h). A text lives until threads_free, even after its thread is forgotten. Texts take at
 * most 16 MB, or a 32nd of the budget; new names beyond that are refused. One owner thread.
 */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/wire/event.h"

struct budget;
struct threads;

struct threads *threads_new(struct budget *budget);
void threads_free(struct threads *threads);

/*
 * The guest tells a name, or a new one. A process that it tells no name of has that of its first thread, whose number
 * is its own; while that one has none, of another thread.
 */
void threads_process(struct threads *threads, uint32_t process, struct text name);
void threads_thread(struct threads *threads, uint32_t thread, uint32_t process, struct text name);

/* A thread and its process were seen again: keeps them from being forgotten. */
void threads_seen(struct threads *threads, uint32_t thread, uint32_t process);

/* The name that was told, printable; NULL: none was. */
const char *threads_told(const struct threads *threads, uint32_t thread);
const char *threads_told_process(const struct threads *threads, uint32_t process);

/* The idle task, which has no number: as its guest calls it; NULL: it is not known that this is what runs then. */
void threads_idle(struct threads *threads, const char *name);

/* A printable name, never NULL: "thread 12" if none was told. */
const char *threads_name(struct threads *threads, uint32_t thread);

/* The process that a thread belongs to: a thread of the kernel, to the one that the guest told with its name. */
uint32_t threads_owner(const struct threads *threads, uint32_t thread, uint32_t process);
bool threads_knows(const struct threads *threads, uint32_t thread);	/* its name, and its process, if it has one */
const char *threads_process_name(struct threads *threads, uint32_t process);	/* as threads_name */

/*
 * Write the title of a thread, or of the process that it belongs to: "primes/17", or "thread 17" if no name was told.
 * So two that have the same name have different titles. A long name is cut, and never the number. `size`: 64 at least.
 */
void threads_title(const struct threads *threads, uint32_t thread, char *text, size_t size);
void threads_title_process(const struct threads *threads, uint32_t thread, uint32_t process, char *text, size_t size);

/* Writes the name alone. Where the thread is not known, it is that of the process, if it has one. */
void threads_comm(const struct threads *threads, uint32_t thread, uint32_t process, char *text, size_t size);

/*
 * Does the pattern fit this thread? A number must be the thread's id; any other pattern is part of the
 * shown name of the thread or of its process (util.h), which is "process 3" if none was told. "" fits all.
 */
bool threads_match(struct threads *threads, uint32_t thread, uint32_t process, const char *pattern);

/* Is this what threads_comm writes, as a whole? */
bool threads_is(const struct threads *threads, uint32_t thread, uint32_t process, const char *name);

/* The same for the process alone. A kernel thread belongs to the process that the guest told with its name. */
bool threads_match_process(struct threads *threads, uint32_t thread, uint32_t process, const char *pattern);

/* How many names were refused, because there was no memory for their text. */
uint64_t threads_refused(const struct threads *threads);
void threads_retry(struct threads *threads);	/* the guest is about to tell them again: counts from 0 */

/* Grows whenever an earlier answer of these two may be different now. */
uint64_t threads_generation(const struct threads *threads);

#endif
