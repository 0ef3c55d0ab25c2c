/*
 * Which file is mapped where, in each address space of the guest. What the guest says of its
 * objects is a hint: a file is only looked for by its base name in folders that the caller names.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "event.h"
#include "sym_elf.h"

struct image;
struct objects;

enum {
	OBJECTS_MAX = 8192,		/* mappings, over all spaces; the oldest goes first */
	OBJECTS_FILES_MAX = 64,		/* files that are read */
	OBJECTS_NAMES_MAX = 4096,	/* distinct names; later ones are "" */
};

struct mapping {
	uint32_t space;
	uint64_t start, end, bias;
	const char *name;		/* printable base name; lives until objects_free */
	struct build_id build_id;
	struct image *image;		/* NULL: no file */
	uint64_t age;			/* how many were mapped before it */
};

struct objects *objects_new(void);
void objects_free(struct objects *objects);

/* The base name, made printable; lives until objects_free. */
const char *objects_name(struct objects *objects, struct text name);

/*
 * Replaces what it overlaps in its space. A file is taken when its build-id does not contradict.
 * False when nothing has changed: the same mapping again, or one that makes no sense.
 */
bool objects_map(struct objects *objects, const struct object *object, const char *const *folders);

/* The mapping at an address; good until the next objects_map. NULL: none. */
const struct mapping *objects_find(const struct objects *objects, uint32_t space, uint64_t address);

/* A standing remark about files that were not taken or limits that were reached, "" if none. */
const char *objects_note(const struct objects *objects);

#endif
