/* SPDX-License-Identifier: MIT */
/* What symbols.c, symbols_code.c and symbols_kernel.c share; nobody else includes it. */
#ifndef SYMBOLS_STATE_H
#define SYMBOLS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"
#include "symbols.h"

enum { EARLY_PAGES = 256, EARLY_BITS = 12 };
enum { SYMBOLS_RANGES = 8 };		/* of unknown code, that are kept as text */

struct code_piece_range {		/* a piece of code that nothing names */
	uint64_t low, high;		/* its first and last byte, of whole pages */
	uint64_t all;			/* 1: there is no such code elsewhere */
};

struct told_range {
	uint32_t function;
	struct code_piece_range range;
	const char *text;		/* NULL: none is kept here */
};

struct symbols {
	struct budget *budget;
	struct functions *functions;
	struct objects *objects;
	struct layouts *layouts;
	struct address_cache *cache;
	struct lines *lines;
	uint64_t generation, cached_generation;

	struct guest_symbols *told;	/* the functions that the guest itself tells of its kernel */
	bool being_told;
	struct kernel_image *kernel;
	uint32_t anchors_tried;		/* functions that were told, and gave no slide */
	enum arch_id board;		/* ARCH_OTHER: the source sees the kernel's addresses alone */
	enum firmware firmware;		/* of that board */
	uint64_t early[EARLY_PAGES];	/* what ran before the kernel */
	uint32_t early_count;
	bool early_ended;		/* the kernel has begun */
	struct module_tables *modules;	/* of the kernel that runs */

	struct return_code *returns;	/* what stands before return addresses (symbols_code.c); NULL: not asked */

	char *sysroot, *debug;		/* NULL: not told */
	char note[256];
	struct symbols_sampled recent[SYMBOLS_RECENT];		/* the last ones; a ring */
	struct symbols_sampled kept[SYMBOLS_KEPT];		/* of all, each with the same chance */
	uint64_t sampled_count;				/* in all */
	uint64_t draw;					/* of random numbers, the last one */
	struct told_range ranges[SYMBOLS_RANGES];	/* by function */
	uint32_t ranges_told;
	struct specials *specials;
};

#define UNKNOWN_NAME "[unknown]"	/* of code that nobody knows */

/* Earlier answers may be wrong now. Such news comes in bursts, so the cache is cleared at the next question. */
void symbols_renew(struct symbols *symbols);

/* The object that has a function's source. NULL: nobody knows. */
const struct debug_object *symbols_debug_of(struct symbols *symbols, uint32_t function);

/* arm64's Linux enters and leaves the kernel by code that is in no table of symbols: is the address in that? */
bool symbols_is_trampoline(const struct symbols *symbols, uint64_t address);

/* ---- the kernel's image (symbols_kernel.c) ---- */

/*
 * The file of the guest's kernel, and its slide: how far the kernel runs from its link addresses. The slide
 * comes from an anchor, a symbol whose run address the guest tells, or else from the bias of the kernel's
 * object. One owner.
 */

struct budget;
struct debug_object;
struct image;
struct kernel_bytes;
struct object;

struct kernel_image *kernel_image_new(void);
void kernel_image_free(struct kernel_image *kernel);

/* NULL: none. The result is valid until kernel_image_free, even after another file has replaced it. */
struct image *kernel_image_file(const struct kernel_image *kernel);

/* Run address minus link address, modulo 2^64; 0 if the guest has not told. */
uint64_t kernel_image_slide(const struct kernel_image *kernel);

/*
 * True if there is a file, and its names can be used. Linux chooses a new slide in each boot, so the names in its boot
 * image belong to no address until the slide is known; and where most of the code that runs is not that of the file,
 * they belong to other code.
 */
bool kernel_image_is_placed(const struct kernel_image *kernel);

bool kernel_image_other(const struct kernel_image *kernel, uint64_t *page);

/* Is an object of the kernel this file, not a module? `name`: the object's name, printable. */
bool kernel_image_is(const struct kernel_image *kernel, const struct object *object,
	const char *name);

/* Where the lines of the running kernel are looked for. NULL: the guest has not told its build. */
const struct debug_object *kernel_image_debug(const struct kernel_image *kernel);

#endif
