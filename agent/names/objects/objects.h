/* SPDX-License-Identifier: MIT */
/*
 * The objects of the guest: which file lies at which addresses. The same object in many processes is one.
 * What the guest says is a hint only. A file is looked for by its base name in folders that the caller
 * names, and by its path below a folder with a copy of the guest's files.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/arch_id.h"
#include "agent/names/copies/file_state.h"
#include "agent/names/files/sym_elf.h"
#include "agent/wire/event.h"

struct budget;
struct debug_folders;
struct image;
struct objects;
struct program_search;
struct programs;
struct sym_cfi;

enum {
	OBJECTS_MAX = 1 << 16,		/* distinct mappings; later ones are ignored */
	OBJECTS_NAMES_MAX = 4096,	/* distinct names that are shown; later ones are "" */
	OBJECTS_PROGRAMS_MAX = 4096,	/* distinct files that the guest names; later ones are not read */
};

#define OBJECTS_NONE 0xffffffffu

struct program {			/* a file that the guest names; lives until objects_free */
	struct image *image;		/* NULL: none, or not yet */
	struct sym_cfi *rules;		/* call frame information; NULL: none, or no memory */
	bool starved;			/* memory was short: the file may have more symbols than `image` */
	struct program_search *search;	/* NULL: nothing is under way */
	struct program *next;		/* in the list of searches */
	bool nameless;			/* its file was refused, so its functions have no names */
	bool missed;			/* its last search has found no file */
	bool given;			/* a copy of its file was given */
	uint64_t contents;		/* as in struct object */
	struct build_id build_id;
	size_t size;			/* of the name */
	char name[];			/* as the guest told it: any bytes */
};

struct mapping {
	uint64_t start, end, bias;
	bool by_offset;			/* as in struct object */
	uint64_t contents;		/* likewise */
	const char *name;		/* printable base name; lives until objects_free */
	struct build_id build_id;
	struct program *program;	/* NULL: nowhere to look for it */
	struct debug_object *debug;	/* for a module's lines; lives until objects_free; NULL: its build is unknown */
};

struct objects *objects_new(struct budget *budget);
void objects_free(struct objects *objects);

/* Reads files through `programs`, which shares them with other boots. To be called before anything is mapped. */
void objects_set_programs(struct objects *objects, struct programs *programs);

/* Sets where files are looked for, for objects that are mapped from now on. The texts stay the caller's. */
void objects_set_folders(struct objects *objects, const struct debug_folders *folders);

/* Sets the kernel's version, which names the folder of its modules: once, for modules mapped from now on. */
void objects_set_version(struct objects *objects, const char *version);

/* The last part of a path, made printable; "" if there are too many. Valid until objects_free. */
const char *objects_name(struct objects *objects, struct text path);

/*
 * Returns the mapping's id: dense, from 0, and the same for equal mappings of all processes. `folders`: where
 * its file is searched for by its base name; NULL-terminated, or NULL. The file comes later (objects_step),
 * unless the build-id contradicts; a file that was missing is searched for again.
 * `*found`: the mapping has another file now. OBJECTS_NONE: the object makes no sense, or there are too
 * many.
 */
uint32_t objects_map(struct objects *objects, const struct object *object,
	const char *const *folders, bool *found);

/* As in symbols.h. */
enum file_state objects_file_state(const struct objects *objects, const struct object *object);
void objects_give_file(struct objects *objects, const struct object *object, int fd);

/*
 * To be called now and then: takes files that have been read. True: some mapping has another file now. Sets
 * `*starved` if a file was refused because memory was short.
 */
bool objects_step(struct objects *objects, bool *starved);
bool objects_reading(const struct objects *objects);	/* some files are still to come */

/* Makes files that were refused be read again at the next mapping from them. */
void objects_retry(struct objects *objects);

struct image *objects_image(const struct mapping *mapping);	/* NULL: none, or not yet */

/* Run address minus link address. It is not known before the mapping's file is. */
uint64_t objects_bias(const struct mapping *mapping);

/*
 * How far behind the beginning of its file an address is. Without the file, it is the address for which the code was
 * linked, where the guest tells that.
 */
uint64_t objects_offset(const struct mapping *mapping, uint64_t address);

/* Valid until the next objects_map. */
const struct mapping *objects_get(const struct objects *objects, uint32_t mapping);

/* A remark about files that were refused, or limits that were reached; "" if there is none. */
const char *objects_note(const struct objects *objects);
uint64_t objects_told(const struct objects *objects);	/* how many such remarks were made */
uint64_t objects_left_out(const struct objects *objects);	/* bad symbols in the files that were read */

/* ---- firmware ---- */

/*
 * Which firmware a machine of QEMU's has, by what lies in its memory: UEFI (EDK II) in the flash memory, U-Boot where
 * it was loaded. Both move to RAM early, where no address tells what they are. The bytes are the guest's: any at all.
 */

struct memory_reader;

enum firmware { FIRMWARE_UNKNOWN, FIRMWARE_UEFI, FIRMWARE_UBOOT };

struct firmware_search {		/* starts zeroed */
	enum { FIRMWARE_BEGINS, FIRMWARE_SEARCHES, FIRMWARE_DONE } stage;
	uint64_t searched;		/* bytes of the place where U-Boot is loaded */
	enum firmware found;
};

/*
 * Goes on. Call it until it is FIRMWARE_DONE, each time that pages have come: `physical` reads a guest's memory by its
 * physical addresses. Reads a megabyte at most, and no device.
 */
void firmware_search(struct firmware_search *search, enum arch_id arch, const struct memory_reader *physical);

/* ---- regions ---- */

/*
 * Names for code that runs before the kernel, or under it: firmware, boot loader, the kernel's own decompressor. They
 * come from the memory maps of QEMU's machines (pc and q35: hw/i386/pc.c; virt of arm: hw/arm/virt.c; virt of riscv:
 * hw/riscv/virt.c), which is where the hardware has them, and from the header of a Linux boot image. QEMU is not asked.
 * No symbols are known of such code: a region is all one function. UEFI and U-Boot move to RAM; where they
 * are there is not known. What runs at low addresses and is in no region is theirs.
 */

struct linux_kernel;

#define REGION_FIRMWARE "firmware"	/* the object of those that are firmware; all others load the kernel */

struct region {
	uint64_t start, end;
	const char *name, *object;
};

extern const struct region region_moved;	/* firmware that has moved to memory, nobody knows which */

/*
 * `linux`: NULL if the kernel is no Linux, or not known. `firmware`: FIRMWARE_UNKNOWN also where the kernel may run at
 * low addresses. NULL: nothing is known there.
 */
const struct region *region_find(enum arch_id arch, const struct linux_kernel *linux, enum firmware firmware,
	uint64_t address);

#endif
