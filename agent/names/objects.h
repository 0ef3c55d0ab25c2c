/* SPDX-License-Identifier: MIT */
/*
 * Objects of the guest: which file lies at which addresses. The same in many processes is one. What
 * the guest says is a hint: a file is only looked for by its base name in folders that the caller
 * names, and by its path below a folder with a copy of the guest's files.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/names/files/sym_elf.h"
#include "agent/wire/event.h"

struct budget;
struct debug_folders;
struct image;
struct objects;
struct program_search;
struct programs;

enum {
	OBJECTS_MAX = 1 << 16,		/* distinct mappings; later ones are not taken */
	OBJECTS_PROGRAMS_MAX = 4096,	/* distinct files that the guest names; later ones have none */
	OBJECTS_NAMES_MAX = 4096,	/* distinct names; later ones are "" */
};

#define OBJECTS_NONE 0xffffffffu

struct program {			/* a file that the guest names; lives until objects_free */
	struct image *image;		/* NULL: none, or not yet */
	bool starved;			/* memory was short: it may have more symbols than that has */
	struct program_search *search;	/* NULL: nothing is under way */
	struct program *next;		/* that is searched for */
	bool nameless;			/* its file was refused */
	struct build_id build_id;
	size_t size;			/* of the name */
	char name[];			/* any bytes */
};

struct mapping {
	uint64_t start, end, bias;
	const char *name;		/* printable base name; lives until objects_free */
	struct build_id build_id;
	struct program *program;	/* NULL: nowhere to look for it */
	struct debug_object *debug;	/* a module's, lives as long; NULL: its build is unknown */
};

struct objects *objects_new(struct budget *budget);
void objects_free(struct objects *objects);

/* Files are read here, and shared with others that have the same; before anything is mapped. */
void objects_set_programs(struct objects *objects, struct programs *programs);

/* Where files are, for objects that are mapped from now on; the texts stay the caller's. */
void objects_set_folders(struct objects *objects, const struct debug_folders *folders);

/* The kernel's version, a name of a folder of its modules: once, for those mapped from now on. */
void objects_set_version(struct objects *objects, const char *version);

/* The base name, made printable; lives until objects_free. */
const char *objects_name(struct objects *objects, struct text name);

/*
 * The mapping's id: dense, from 0, the same for equal ones, whatever the process. Its file comes
 * later (objects_step), when its build-id does not contradict; one that was missing is looked for
 * again. `found`: it is there now. OBJECTS_NONE: the object makes no sense, or there are too many.
 */
uint32_t objects_map(struct objects *objects, const struct object *object,
	const char *const *folders, bool *found);

/*
 * To be called now and then: takes files that have come. True: some mapping has its file now.
 * `starved` is set when one was refused for want of memory.
 */
bool objects_step(struct objects *objects, bool *starved);
bool objects_reading(const struct objects *objects);	/* there are some to come */

/* Files that were refused are read again when something is mapped from them. */
void objects_retry(struct objects *objects);

struct image *objects_image(const struct mapping *mapping);	/* NULL: none, or not yet */

/* Good until the next objects_map. */
const struct mapping *objects_get(const struct objects *objects, uint32_t mapping);

/* A standing remark about files that were not taken or limits that were reached, "" if none. */
const char *objects_note(const struct objects *objects);
uint64_t objects_told(const struct objects *objects);	/* grows with each that is told */
uint64_t objects_left_out(const struct objects *objects);	/* symbols of the files that were */

#endif
