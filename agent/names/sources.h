/* SPDX-License-Identifier: MIT */
/*
 * What the compiler's DWARF says of functions and addresses: lines, and what was inlined. A worker thread
 * reads it; until it has done so, answers are NULL or false. One owner.
 */
#ifndef SOURCES_H
#define SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct debug_folders;
struct debug_object;
struct functions;
struct inlined;
struct sources;

enum { SOURCES_MAX = 1 << 20 };		/* addresses whose inlined functions are kept */

struct sources *sources_new(struct functions *functions, struct budget *budget);
void sources_free(struct sources *sources);	/* before the objects in its questions are freed */

/* To be called before the first question. The texts stay the caller's. */
void sources_set(struct sources *sources, const struct debug_folders *folders, bool debuginfod);

/* See symbols_line; the function is one of this object. */
const char *sources_line(struct sources *sources, uint32_t function,
	const struct debug_object *object);

/* See symbols_inlined, but at a link address of an object. `within`: the function at that address. */
bool sources_inlined(struct sources *sources, const struct debug_object *object, uint64_t address,
	uint32_t within, struct inlined *inlined);

/* True if memory was short for lines. They are asked for again; the count of refused ones starts anew. */
bool sources_retry(struct sources *sources);

uint64_t sources_refused(const struct sources *sources);	/* answers that found no room */
const char *sources_note(struct sources *sources, char *text, size_t size);	/* a remark, "" if none */

#endif
