/* SPDX-License-Identifier: MIT */
/* An allocator of objects of one size, cut from pages. A page is freed when its last object is. */
#ifndef SLAB_H
#define SLAB_H

#include <stdint.h>

#include "ports/demo/machine/spin.h"

struct slab_page;

struct slab {
	uint32_t size;			/* bytes of an object, 8 to 2000; fixed */
	struct spin lock;		/* guards the fields below */
	struct slab_page *partial;	/* the pages that have a free object */
	uint32_t used;			/* objects in use */
};

/* thread. The object is not cleared. NULL: no memory. */
void *slab_alloc(struct slab *slab);
void slab_free(struct slab *slab, void *object);

#endif
