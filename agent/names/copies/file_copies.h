/* SPDX-License-Identifier: MIT */
/*
 * Copies what tells of functions from files of programs out of a running Linux kernel's memory, one file
 * after another. A file of which some of that is not in memory has no copy. Ingest thread.
 */
#ifndef FILE_COPIES_H
#define FILE_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/names/linux/walk.h"
#include "file_state.h"

struct file_copies;
struct linux_kernel;

struct file_copy {
	uint64_t contents;		/* the address of the file's struct address_space */
	const char *path;		/* as it was wanted */
	int fd;				/* of the file's size; what was not copied is zero */
};

struct file_copy_taker {
	/* Only a file that is missing is copied. `fd` is -1. */
	enum file_state (*state)(void *context, const struct file_copy *file);
	void (*take)(void *context, const struct file_copy *copy);	/* takes over the descriptor */
	void *context;
};

struct file_copies *file_copies_new(void);
void file_copies_free(struct file_copies *copies);

/* Has the file copied, if few others wait and it was not tried too often. The path is cut if it is too long. */
void file_copies_want(struct file_copies *copies, uint64_t contents, const char *path);

enum { FILE_COPIES_LONGEST = 16384 };	/* a file that takes more samples is given up: the kernel changes meanwhile */

/*
 * A turn of a walk (walk.h) through the files that are wanted. WALK_FAILED: another turn is to be made when more of the
 * memory has come. `slide`: run address minus link address of the kernel. `samples`: how many have come.
 */
enum walk file_copies_read(struct file_copies *copies, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory, uint64_t samples, const struct file_copy_taker *taker);

#endif
