/* A file with symbols, as read from the host: an ELF file or a list of symbols. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdint.h>

#include "debug_file.h"
#include "sym_elf.h"

struct budget;

struct image {
	struct budget *budget;
	char *path;
	int fd;				/* for its lines; -1: a list of symbols has none */
	struct build_id build_id;
	struct symbol_table *table;
	struct debug_object debug;	/* of this very file; not for a list */
	uint32_t *functions;		/* symbols.c: ids by symbol, SYMBOLS_NONE: not made */
};

enum image_kinds { IMAGE_ELF, IMAGE_ELF_OR_TEXT };

/* By content. NULL with `error` set. An ELF file without symbols is fine, a list is not. */
struct image *image_load(const char *path, enum image_kinds kinds, struct budget *budget,
	char **error);
void image_free(struct image *image);

#endif
