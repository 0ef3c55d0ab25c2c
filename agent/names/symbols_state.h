/* SPDX-License-Identifier: MIT */
/* What symbols.c and symbols_kernel.c share; nobody else includes it. */
#ifndef SYMBOLS_STATE_H
#define SYMBOLS_STATE_H

#include "symbols.h"

struct symbols {
	struct budget *budget;
	struct functions *functions;
	struct objects *objects;
	struct layouts *layouts;
	struct address_cache *cache;
	struct sources *sources;
	uint64_t generation, cached_generation;

	struct guest_symbols *told;	/* the functions that the guest itself tells of its kernel */
	bool being_told;
	struct kernel_image *kernel;
	const char *board;		/* the CPU of regions.h; NULL: the source sees no address but the kernel's */
	struct module_tables *modules;	/* of the kernel that runs */

	char *sysroot, *debug;		/* NULL: not told */
	char note[256];
	struct specials *specials;
};

/* Earlier answers may be wrong now. Such news comes in bursts, so the cache is cleared at the next question. */
void symbols_renew(struct symbols *symbols);

/* arm64's Linux enters and leaves the kernel by code that is in no table of symbols: is the address in that? */
bool symbols_is_trampoline(const struct symbols *symbols, uint64_t address);

#endif
