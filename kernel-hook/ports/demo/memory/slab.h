/* SPDX-License-Identifier: MIT */
/* Objects of one size, cut from pages; a page goes back when its last object does. */
#ifndef SLAB_H
#define SLAB_H

#include <stdint.h>

#include "ports/demo/machine/spin.h"

struct slab_page;

struct slab {
	uint32_t size;			/* of an object in bytes, 8 to 2000; fixed */
	struct spin lock;		/* of what follows */
	struct slab_page *partial;	/* pages with a free object */
	uint32_t used;
};

/* thread. The object is not cleared. NULL: no memory. */
void *slab_alloc(struct slab *slab);
void slab_free(struct slab *slab, void *object);

#endif
