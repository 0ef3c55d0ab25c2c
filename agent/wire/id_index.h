/* SPDX-License-Identifier: MIT */
/* For each event id, its position in an array that is kept elsewhere. A look-up costs two loads. */
#ifndef ID_INDEX_H
#define ID_INDEX_H

#include <stdint.h>
#include <stdlib.h>

#include "agent/base/util.h"

enum { ID_INDEX_PAGE = 256, ID_INDEX_NONE = 0xffff };	/* 256 pages with 256 ids each */

struct id_index {			/* all 0: empty; takes 128 KiB at most */
	uint16_t *pages[ID_INDEX_PAGE];	/* of positions plus 1; 0: none */
};

/* ID_INDEX_NONE: the id is not in the index. */
static inline uint32_t id_index_find(const struct id_index *index, uint16_t id)
{
	const uint16_t *page = index->pages[id / ID_INDEX_PAGE];
	uint16_t position = page ? page[id % ID_INDEX_PAGE] : 0;

	return position ? position - 1u : ID_INDEX_NONE;
}

/* `position` is below ID_INDEX_NONE. */
static inline void id_index_set(struct id_index *index, uint16_t id, uint16_t position)
{
	uint16_t **page = &index->pages[id / ID_INDEX_PAGE];

	if (!*page)
		*page = util_alloc(ID_INDEX_PAGE * sizeof(**page));
	(*page)[id % ID_INDEX_PAGE] = (uint16_t)(position + 1);
}

static inline void id_index_clear(struct id_index *index)
{
	for (int i = 0; i < ID_INDEX_PAGE; i++) {
		free(index->pages[i]);
		index->pages[i] = NULL;
	}
}

#endif
