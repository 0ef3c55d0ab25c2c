/* SPDX-License-Identifier: MIT */
/*
 * The file of the guest's kernel, and where that kernel runs: its slide, told by an anchor (a symbol
 * of which the guest says where it is) or else by the bias of the kernel's object. One owner.
 */
#ifndef KERNEL_IMAGE_H
#define KERNEL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct debug_object;
struct image;
struct kernel_image;
struct object;

struct kernel_image *kernel_image_new(void);
void kernel_image_free(struct kernel_image *kernel);

/* Reads it from a file, in the place of an earlier one. False with `error` set: nothing changed. */
bool kernel_image_load(struct kernel_image *kernel, const char *path, struct budget *budget,
	char **error);

/* Takes another one's: the file is theirs, the table is both's. False: they have none. */
bool kernel_image_share(struct kernel_image *kernel, const struct kernel_image *others);
void kernel_image_drop(struct kernel_image *kernel);

/* NULL: none. It lives as long as the kernel_image, also when another has taken its place. */
struct image *kernel_image_file(const struct kernel_image *kernel);

/* Run address minus link address, modulo 2^64; 0: not told. */
uint64_t kernel_image_slide(const struct kernel_image *kernel);
bool kernel_image_set_anchor(struct kernel_image *kernel, const char *name, uint64_t address);
void kernel_image_set_bias(struct kernel_image *kernel, uint64_t bias);

/* Of an object of the kernel's: is it this file, not a module? `name`: the object's, printable. */
bool kernel_image_is(const struct kernel_image *kernel, const struct object *object,
	const char *name);

/* The guest's build-id is known, and the file is of another build. */
bool kernel_image_contradicts(const struct kernel_image *kernel, const void *build_id, size_t size);

/* What the guest's kernel is, once; NULL: it was told already. Returns the version, a copy. */
const char *kernel_image_set_build(struct kernel_image *kernel, const void *build_id, size_t size,
	const char *version);

/* Where lines of the kernel that runs are looked for; NULL: its build was not told. */
const struct debug_object *kernel_image_debug(const struct kernel_image *kernel);

#endif
