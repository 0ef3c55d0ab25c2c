/* SPDX-License-Identifier: MIT */
/* Functions that are not code, by name and object: "[idle]", "[unknown]" of a program, a group. One owner. */
#ifndef SPECIALS_H
#define SPECIALS_H

#include <stdbool.h>
#include <stdint.h>

struct functions;
struct specials;

struct specials *specials_new(struct functions *functions);	/* borrows `functions` */
void specials_free(struct specials *specials);

/* What tells one from another. The object's text must live as long as the functions; the name is copied. */
struct special {
	const char *name, *object;
	bool kernel, known;		/* as in struct function */
	uint32_t function;		/* its id, set by specials_get */
};

/* Returns the function's id, made once. When there is no memory for a new one, that of the single "[unknown]". */
uint32_t specials_get(struct specials *specials, const struct special *wanted);

#endif
