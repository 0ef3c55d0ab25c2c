/* SPDX-License-Identifier: MIT */
/* The bytes of a function's code, from wherever they can be had. */
#ifndef CODE_BYTES_H
#define CODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "agent/base/arch_id.h"

struct budget;
struct linux_kernel;

enum { CODE_BYTES_MAX = 1 << 16 };	/* of a longer function, only so many are shown */

struct code_bytes {
	enum arch_id arch;
	size_t size;			/* 0: there are none */
	uint8_t bytes[CODE_BYTES_MAX];
};

struct code_file {			/* where they are */
	int fd;				/* of an ELF file; -1: none */
	const char *path;		/* of a Linux boot image; NULL: it is none */
	struct stat then;		/* as it was when its symbols were read */
	uint64_t start;			/* the link address of an Image's first byte */
};

/* Reads the code in [low, high), link addresses. It may wait for a disk, and unpack an image. Any thread. */
void code_bytes_read(struct code_bytes *code, const struct code_file *file, uint64_t low, uint64_t high,
	struct budget *budget);

/* ---- functions by name ---- */

/*
 * The functions that have a tree_name (agent/query/tree/tree.h). There may be several, such as those of a program that
 * is mapped at several places. Functions are only added, so each is looked at once. One owner.
 */

struct symbols;

enum { NAMED_FUNCTIONS_MAX = 16, NAMED_KERNEL = 64 };

struct named_functions {
	uint64_t name;			/* 0: of none */
	char kernel[NAMED_KERNEL];	/* see tree_name */
	size_t looked_at, count;
	uint32_t functions[NAMED_FUNCTIONS_MAX];
};

/* Goes on with the functions that are new; begins anew if the name is another one. */
void named_functions_find(struct named_functions *named, const struct symbols *symbols, uint64_t name,
	const char *kernel);

#endif
