/* SPDX-License-Identifier: MIT */
/* The names of objects as they are shown: the last part of each path, made printable, and kept once. */
#ifndef OBJECT_NAMES_H
#define OBJECT_NAMES_H

#include <stdint.h>

#include "agent/base/hash.h"
#include "agent/wire/event.h"

enum { OBJECT_NAMES_MAX = 4096 };	/* distinct names; later ones are "" */

struct object_names {
	char *list[OBJECT_NAMES_MAX];
	uint32_t count;
	struct hash by_name;		/* needs no budget, for there are OBJECT_NAMES_MAX at most */
};

void object_names_init(struct object_names *names);
void object_names_clear(struct object_names *names);

/* The name to show for this path. It lives as long as `names`. */
const char *object_names_of(struct object_names *names, struct text path);

#endif
