/* SPDX-License-Identifier: MIT */
/*
 * The file of the guest's kernel, and its slide: how far the kernel runs from its link addresses. The slide
 * comes from an anchor, a symbol whose run address the guest tells, or else from the bias of the kernel's
 * object. One owner.
 */
#ifndef KERNEL_IMAGE_H
#define KERNEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

struct budget;
struct debug_object;
struct image;
struct kernel_bytes;
struct kernel_image;
struct object;

struct kernel_image *kernel_image_new(void);
void kernel_image_free(struct kernel_image *kernel);

/* Loads the file, in place of an earlier one. False with `error` set: nothing has changed. */
bool kernel_image_load(struct kernel_image *kernel, const char *path, struct budget *budget,
	char **error);

/* The same out of the memory of the kernel that runs, which tells run addresses. False: its symbols are not there. */
bool kernel_image_read(struct kernel_image *kernel, struct kernel_bytes *memory, struct budget *budget);

/* Takes over the file of `others` and shares their table. False: they have none. */
bool kernel_image_share(struct kernel_image *kernel, const struct kernel_image *others);
void kernel_image_drop(struct kernel_image *kernel);	/* from now on there is no file */

/* NULL: none. The result is valid until kernel_image_free, even after another file has replaced it. */
struct image *kernel_image_file(const struct kernel_image *kernel);

/* Run address minus link address, modulo 2^64; 0 if the guest has not told. */
uint64_t kernel_image_slide(const struct kernel_image *kernel);
/* False: the file has no such symbol, or there is no file yet. */
bool kernel_image_set_anchor(struct kernel_image *kernel, const char *name, uint64_t address);
/* Sets the bias of the kernel's object: the slide, unless an anchor gives it. */
void kernel_image_set_bias(struct kernel_image *kernel, uint64_t bias);

/*
 * True if there is a file, and its names can be used. Linux chooses a new slide in each boot, so the names in its boot
 * image belong to no address until the slide is known; and where most of the code that runs is not that of the file,
 * they belong to other code.
 */
bool kernel_image_is_placed(const struct kernel_image *kernel);

/*
 * Pages of the kernel's code were compared with the file at its place: so many are equal, and so many others, the last
 * one at `other`, are not. True: that is news. kernel_image_other: such a page, until another place or file is known,
 * or all are equal that are compared where most were not. False: there is none.
 */
bool kernel_image_compared(struct kernel_image *kernel, uint32_t equal, uint32_t others, uint64_t other);
bool kernel_image_other(const struct kernel_image *kernel, uint64_t *page);

/* Is an object of the kernel this file, not a module? `name`: the object's name, printable. */
bool kernel_image_is(const struct kernel_image *kernel, const struct object *object,
	const char *name);

/* True if the guest's architecture is known, and the file is of another one. */
bool kernel_image_is_foreign(const struct kernel_image *kernel, enum arch_id arch);

/* True if the guest's build-id is known, and the file is of another build. */
bool kernel_image_contradicts(const struct kernel_image *kernel, const void *build_id, size_t size);

/*
 * Sets the build-id and version of the guest's kernel, once. Returns a copy of the version, valid until
 * kernel_image_free; NULL: it was set before, or `version` is NULL.
 */
const char *kernel_image_set_build(struct kernel_image *kernel, const void *build_id, size_t size,
	const char *version);

/* Where the lines of the running kernel are looked for. NULL: the guest has not told its build. */
const struct debug_object *kernel_image_debug(const struct kernel_image *kernel);

#endif
