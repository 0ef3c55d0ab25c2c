/* SPDX-License-Identifier: MIT */
/*
 * The listings of one boot's functions: the last few are kept. A job reads code and source; the lines' worker reads
 * DWARF; so nobody waits. Code that is in no file is read from the guest's memory. One owner: the ingest thread.
 */
#ifndef LISTINGS_H
#define LISTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

struct budget;
struct listing;
struct listings;
struct memory_reader;
struct symbols;

struct listings *listings_new(struct symbols *symbols, struct budget *budget);	/* borrows both */
void listings_free(struct listings *listings);		/* before the symbols; never waits */

void listings_set_map(struct listings *listings, const char *map);	/* see listing.h; copied; NULL: none */

/* The functions with that tree_name; valid until the next call. `kernel`: see tree_name. */
struct named_functions;
const struct named_functions *listings_functions(struct listings *listings, uint64_t name, const char *kernel);

struct listing_answer {
	struct listing *listing;	/* the caller holds it; NULL: not known yet, or never */
	uint64_t bias;			/* run address minus link address */
	bool more;			/* it is still being made, or there may be more of it: ask again */
	const char *lacks;		/* what it lacks, and why; "": nothing */
};

/*
 * The listing of the function at an address of a space. `arch`: the guest's, for code that is in no file. `memory`:
 * the guest's; reads that fail are asked for again.
 */
struct listing_answer listings_get(struct listings *listings, uint32_t space, uint64_t address, enum arch_id arch,
	const struct memory_reader *memory);

#endif
