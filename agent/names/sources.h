/* SPDX-License-Identifier: MIT */
/*
 * What the compiler's DWARF says of functions and addresses: lines, and what was inlined; read by a
 * worker, and NULL or false until it is known. One owner.
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
void sources_free(struct sources *sources);	/* before the objects that were asked for */

/* Before the first question; the texts stay the caller's. */
void sources_set(struct sources *sources, const struct debug_folders *folders, bool debuginfod);

/* As symbols_line has it, of a function that is in this object. */
const char *sources_line(struct sources *sources, uint32_t function,
	const struct debug_object *object);

/* As symbols_inlined has it, at a link address of an object; `within`: the function there. */
bool sources_inlined(struct sources *sources, const struct debug_object *object, uint64_t address,
	uint32_t within, struct inlined *inlined);

/* True: memory was short for lines. They are asked for again, and not refused any more. */
bool sources_retry(struct sources *sources);

uint64_t sources_refused(const struct sources *sources);	/* answers without room */
const char *sources_note(struct sources *sources, char *text, size_t size);

#endif
