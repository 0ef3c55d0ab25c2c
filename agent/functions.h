/*
 * The functions that have been met, by dense ids. They never move: functions_get is for any thread
 * that was handed the id; all else is for one owner.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function;
struct functions;
struct image;

enum { FUNCTIONS_MAX = 4 << 20 };

/* Where a function's line is to be read. */
struct origin {
	const struct image *image;	/* NULL: nowhere */
	const char *line;		/* NULL: not known yet */
	bool asked;
};

struct functions *functions_new(void);
void functions_free(struct functions *functions);

/* Takes the function's name (fresh memory). All that is beyond the limit is one "[unknown]". */
uint32_t functions_add(struct functions *functions, const struct function *function,
	const struct image *image);

size_t functions_count(const struct functions *functions);
const struct function *functions_get(const struct functions *functions, uint32_t id);

/* The owner's part of a function. Its line, once set to fresh memory, belongs to `functions`. */
struct origin *functions_origin(struct functions *functions, uint32_t id);

#endif
