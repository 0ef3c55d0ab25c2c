/* SPDX-License-Identifier: MIT */
/* Functions that are not code, by name and object: "[idle]", or "[unknown]" of a program. One owner. */
#ifndef SPECIALS_H
#define SPECIALS_H

#include <stdbool.h>
#include <stdint.h>

struct functions;
struct specials;

struct specials *specials_new(struct functions *functions);	/* borrows `functions` */
void specials_free(struct specials *specials);

/*
 * Returns the function's id, made once. The object's text must live as long as the functions. There is one
 * for each name of an object at most, and objects' names are bounded (objects.h).
 */
uint32_t specials_get(struct specials *specials, const char *name, const char *object, bool kernel);

#endif
