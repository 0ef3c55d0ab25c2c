/* SPDX-License-Identifier: MIT */
/*
 * What the compiler's DWARF says of functions and addresses: lines, and what was inlined. A worker thread
 * reads it; until it has done so, answers are NULL or false. One owner.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct code_lines;
struct debug_folders;
struct debug_object;
struct functions;
struct inlined;
struct lines;

enum { LINES_MAX = 1 << 20 };		/* addresses whose lines and inlined functions are kept */

struct lines *lines_new(struct functions *functions, struct budget *budget);
void lines_free(struct lines *lines);	/* before the objects in its questions are freed */

/* To be called before the first question. The texts stay the caller's. */
void lines_set(struct lines *lines, const struct debug_folders *folders, bool debuginfod);

/* See symbols_line; the function is one of this object. */
const char *lines_of(struct lines *lines, uint32_t function,
	const struct debug_object *object);

/* See symbols_inlined, but at a link address of an object. `within`: the function at that address. */
bool lines_inlined(struct lines *lines, const struct debug_object *object, uint64_t address,
	uint32_t within, struct inlined *inlined);

/* See symbols_lines_at, but at a link address of an object. */
const char *lines_at(struct lines *lines, const struct debug_object *object, uint64_t address);

/* Takes what the worker has read, and asks it for more. Returns how many lines of addresses have been read. */
uint64_t lines_read(struct lines *lines);
bool lines_all_read(const struct lines *lines);		/* of the addresses that were asked for, none is on its way */

/* On their way; as known now, but debuginfod is still asked, so there may be more later; as they are. */
enum lines_state { LINES_COMING, LINES_LATER, LINES_THERE };

/*
 * The lines of the code in [low, high), link addresses of an object: `*code`, which the caller frees; NULL: none. The
 * worker is asked about one stretch at a time: a question about another one takes its place.
 */
enum lines_state lines_code(struct lines *lines, const struct debug_object *object, uint64_t low, uint64_t high,
	struct code_lines **code);

/* True if memory was short for lines. They are asked for again; the count of refused ones starts anew. */
bool lines_retry(struct lines *lines);

uint64_t lines_refused(const struct lines *lines);	/* answers that found no room */
const char *lines_note(struct lines *lines, char *text, size_t size);	/* a remark, "" if none */

#endif
