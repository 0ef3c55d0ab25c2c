/* SPDX-License-Identifier: MIT */
/* Functions that are not code, by name and object: "[idle]", "[unknown]" of a program. One owner. */
#ifndef SPECIALS_H
#define SPECIALS_H

#include <stdbool.h>
#include <stdint.h>

struct functions;
struct specials;

struct specials *specials_new(struct functions *functions);	/* borrowed */
void specials_free(struct specials *specials);

/*
 * Its id, made once; the object's text lives as long as the functions. As many as there are objects
 * with different names: that is bounded elsewhere.
 */
uint32_t specials_get(struct specials *specials, const char *name, const char *object, bool kernel);

#endif
