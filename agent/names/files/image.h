/* SPDX-License-Identifier: MIT */
/* A file with symbols, as read from the host: an ELF file or a list of symbols. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "debug_file.h"
#include "sym_elf.h"

struct budget;

struct image {
	struct budget *budget;
	char *path;
	int fd;				/* for its lines; -1: a list of symbols has none */
	struct stat file;		/* as it was when it was read */
	struct build_id build_id;
	struct symbol_table *table;
	struct debug_object debug;	/* of this very file; not for a list */
	uint32_t *functions;		/* symbols.c: ids by symbol, FUNCTION_NONE: not made */
};

enum image_kinds { IMAGE_ELF, IMAGE_ELF_OR_TEXT };

/* By content. NULL with `error` set. An ELF file without symbols is fine, a list is not. */
struct image *image_load(const char *path, enum image_kinds kinds, struct budget *budget,
	char **error);
void image_free(struct image *image);

/* An ELF file that was opened already; its descriptor is the image's, or closed. */
struct image *image_read(int fd, const char *path, struct budget *budget, char **error);

/* Is the file there still the one that was read? May wait for a disk. */
bool image_is_current(const char *path, const struct stat *then);

/* Another of the same file, whose table they share, for another owner. NULL: no descriptor left. */
struct image *image_share(const struct image *image);

#endif
