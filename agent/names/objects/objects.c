/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/memory_reader.h"
#include "agent/base/util.h"
#include "agent/names/dwarf/sym_cfi.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/wire/event.h"
#include "objects.h"
#include "programs.h"

enum {
	PATH_MOST = 4096,		/* longer names have no file */
	NAME_MAX_SHOWN = 64,		/* bytes of an object's name */
	SEARCH_COST = 1024,		/* bytes of a program and its search, rounded up */
};

/* A guest says by this bit of a link address that it only knows the offset in the file (ports/linux/maps.c). */
#define NOWHERE (UINT64_C(1) << 63)

struct objects {
	struct budget *budget;
	struct mapping *mappings;
	uint32_t count, room;
	struct hash by_content;		/* of mappings */
	struct programs *programs;
	uint64_t boot;			/* this boot's number in `programs` */
	struct program **named;		/* the programs that the guest has named */
	uint32_t program_count, program_room;
	struct hash by_path;		/* of programs */
	struct program *searched, **last;	/* programs with a search under way, oldest first */
	struct image *images[PROGRAMS_MAX];	/* those found; one for each file, whatever its names */
	size_t image_count;
	uint32_t nameless;		/* programs whose file was refused, and that have none since */
	char *names[OBJECTS_NAMES_MAX];	/* as they are shown, each once */
	uint32_t name_count;
	struct hash by_name;		/* needs no budget, for there are OBJECTS_NAMES_MAX at most */
	struct debug_folders folders;
	char *version;			/* of the kernel; NULL: not told */
	char note[256];
	const struct program *noted;	/* the program that `note` is about; NULL: a limit */
	const char *limit_noted;	/* the limit that `note` is about, so that it is told once; NULL: none */
	char *why;			/* why its file was refused; NULL: the note says something else */
	uint64_t told;			/* how many notes were made */
};

void objects_set_folders(struct objects *objects, const struct debug_folders *folders)
{
	objects->folders = *folders;
}

void objects_set_version(struct objects *objects, const char *version)
{
	if (!objects->version)
		objects->version = util_copy(version, strlen(version));
}

struct objects *objects_new(struct budget *budget)
{
	struct objects *objects = util_alloc(sizeof(*objects));

	objects->budget = budget;
	objects->last = &objects->searched;
	objects->programs = programs_new(budget);
	objects->boot = programs_boot(objects->programs);
	hash_init(&objects->by_content, budget);
	hash_init(&objects->by_name, NULL);
	hash_init(&objects->by_path, budget);
	return objects;
}

void objects_set_programs(struct objects *objects, struct programs *programs)
{
	programs_release(objects->programs);
	objects->programs = programs_hold(programs);
	objects->boot = programs_boot(programs);
}

static size_t cost_of(const struct program *program)
{
	return SEARCH_COST + 2 * program->size;
}

static void free_programs(struct objects *objects)
{
	for (uint32_t i = 0; i < objects->program_count; i++) {
		struct program *program = objects->named[i];

		if (program->search)
			programs_leave(program->search);
		sym_cfi_close(program->rules);
		budget_free(objects->budget, program, cost_of(program));
	}
	budget_free(objects->budget, objects->named,
		objects->program_room * sizeof(struct program *));
	for (size_t i = 0; i < objects->image_count; i++)
		image_free(objects->images[i]);
	programs_release(objects->programs);
}

void objects_free(struct objects *objects)
{
	if (!objects)
		return;
	free_programs(objects);
	for (uint32_t i = 0; i < objects->name_count; i++)
		free(objects->names[i]);
	hash_clear(&objects->by_name);
	for (uint32_t i = 0; i < objects->count; i++)
		budget_free(objects->budget, objects->mappings[i].debug,
			objects->mappings[i].debug ? sizeof(struct debug_object) : 0);
	free(objects->version);
	free(objects->why);
	hash_clear(&objects->by_content);
	hash_clear(&objects->by_path);
	budget_free(objects->budget, objects->mappings,
		objects->room * sizeof(*objects->mappings));
	free(objects);
}

const char *objects_note(const struct objects *objects)
{
	return objects->note;
}

uint64_t objects_told(const struct objects *objects)
{
	return objects->told;
}

uint64_t objects_left_out(const struct objects *objects)
{
	uint64_t count = 0;

	for (size_t i = 0; i < objects->image_count; i++)
		count += symbol_table_refused(objects->images[i]->table);
	return count;
}

void objects_retry(struct objects *objects)
{
	programs_retry(objects->programs);
}

static struct text base_name(struct text name)
{
	for (size_t i = name.size; i > 0; i--) {
		if (name.bytes[i - 1] == '/')
			return (struct text) { .bytes = name.bytes + i, .size = name.size - i };
	}
	return name;
}

const char *objects_name(struct objects *objects, struct text path)
{
	struct text base = base_name(path);
	char *name = util_printable(base.bytes, base.size < NAME_MAX_SHOWN ? base.size : NAME_MAX_SHOWN);
	uint64_t hash = hash_text(&objects->by_name, name);
	uint32_t at = 0, position;

	while ((position = hash_next(&objects->by_name, hash, &at)) != HASH_NONE) {
		if (strcmp(objects->names[position], name) == 0) {
			free(name);
			return objects->names[position];
		}
	}
	if (objects->name_count == OBJECTS_NAMES_MAX || !hash_add(&objects->by_name, hash, objects->name_count)) {
		free(name);
		return "";
	}
	return objects->names[objects->name_count++] = name;
}

/* The note is made printable: the guest chose names and paths in it. */
static __attribute__((format(printf, 2, 3))) void note(struct objects *objects, const char *format, ...)
{
	va_list arguments;
	char *printable;
	char text[2 * sizeof(objects->note)];

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printable = util_printable(text, strlen(text));
	util_print(objects->note, sizeof(objects->note), "%s", printable);
	free(printable);
	objects->noted = NULL;
	objects->limit_noted = NULL;
}

/* Notes a limit once. Each later object reaches it again: that is not told, and costs nothing. */
static __attribute__((format(printf, 2, 0))) void note_limit(struct objects *objects, const char *format,
	uint32_t limit)
{
	char text[sizeof(objects->note)];

	if (objects->limit_noted == format)
		return;
	free(objects->why);
	objects->why = NULL;
	objects->told++;
	snprintf(text, sizeof(text), format, limit);
	note(objects, "%s", text);
	objects->limit_noted = format;
}

/* ---- their files ---- */

struct image *objects_image(const struct mapping *mapping)
{
	return mapping->program ? mapping->program->image : NULL;
}

uint64_t objects_bias(const struct mapping *mapping)
{
	const struct image *image = objects_image(mapping);

	if (!mapping->by_offset || !image)
		return mapping->bias;
	return mapping->start - elf_segments_address(&image->segments, mapping->start - mapping->bias);
}

uint64_t objects_offset(const struct mapping *mapping, uint64_t address)
{
	const struct image *image = objects_image(mapping);
	uint64_t link = address - objects_bias(mapping);

	return image ? link - image->segments.low : link & ~NOWHERE;
}

static bool is_named(const struct program *program, const struct object *object, const struct build_id *id)
{
	struct text name = object->name;

	return program->contents == object->contents && program->size == name.size &&
		memcmp(program->name, name.bytes, name.size) == 0 && program->build_id.size == id->size &&
		memcmp(program->build_id.bytes, id->bytes, id->size) == 0;
}

static struct program *new_program(struct objects *objects, const struct object *object,
	const struct build_id *id)
{
	struct text name = object->name;
	const struct program facts = { .build_id = *id, .contents = object->contents, .size = name.size };
	struct program **named = budget_array(objects->budget, objects->named,
		objects->program_count, &objects->program_room, sizeof(*named));
	struct program *program;

	if (!named)
		return NULL;
	objects->named = named;
	if (objects->program_count == OBJECTS_PROGRAMS_MAX) {
		note_limit(objects, "more than %u programs: functions of later ones have no names",
			OBJECTS_PROGRAMS_MAX);
		return NULL;
	}
	program = budget_resize(objects->budget, NULL, 0, cost_of(&facts));
	if (!program)
		return NULL;
	*program = facts;
	memcpy(program->name, name.bytes, name.size);
	return program;
}

static uint64_t hash_bytes(const struct hash *hash, uint64_t value, const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < size; i++)
		value = hash_pair(hash, value, value + byte[i]);
	return value;
}

static uint64_t program_hash(const struct objects *objects, const struct object *object, const struct build_id *id)
{
	uint64_t value = hash_bytes(&objects->by_path, object->contents, object->name.bytes, object->name.size);

	return hash_bytes(&objects->by_path, value, id->bytes, id->size);
}

/* The program of that name, contents and build. NULL: it was not mapped. */
static struct program *find_program(const struct objects *objects, const struct object *object,
	const struct build_id *id)
{
	uint64_t hash = program_hash(objects, object, id);
	uint32_t at = 0, position;

	while ((position = hash_next(&objects->by_path, hash, &at)) != HASH_NONE)
		if (is_named(objects->named[position], object, id))
			return objects->named[position];
	return NULL;
}

/* Makes it if it is new. NULL: there are too many, or no memory. */
static struct program *have_program(struct objects *objects, const struct object *object, const struct build_id *id)
{
	struct program *program = find_program(objects, object, id);
	uint64_t hash = program_hash(objects, object, id);

	if (program)
		return program;
	program = new_program(objects, object, id);
	if (program && !hash_add(&objects->by_path, hash, objects->program_count)) {
		budget_free(objects->budget, program, cost_of(program));
		return NULL;
	}
	if (program)
		objects->named[objects->program_count++] = program;
	return program;
}

/* In place of the one that is under way. */
static void begin_search(struct objects *objects, struct program *program, const struct program_clue *clue)
{
	struct program_search *before = program->search;

	program->search = programs_search(objects->programs, objects->boot, clue);
	if (before) {
		programs_leave(before);
		return;
	}
	program->next = NULL;
	*objects->last = program;
	objects->last = &program->next;
}

/*
 * Searches for the object's file, again if it had none or not all of it. NULL: there is nowhere to look, and no copy
 * can be given.
 */
static struct program *search(struct objects *objects, const struct object *object,
	const struct mapping *mapping, const char *const *folders)
{
	const struct program_clue clue = {
		.name = object->name, .shown = mapping->name, .build_id = mapping->build_id,
		.folders = folders, .debug = objects->folders, .copy = -1,
	};
	bool somewhere = objects->folders.sysroot || (folders && *folders);
	struct program *program = (somewhere || object->contents) && object->name.size &&
		object->name.size < PATH_MOST ? have_program(objects, object, &mapping->build_id) : NULL;

	if (program && somewhere && (!program->image || program->starved) && !program->search)
		begin_search(objects, program, &clue);
	return program;
}

enum file_state objects_file_state(const struct objects *objects, const struct object *object)
{
	const struct program *program = find_program(objects, object, &(struct build_id) { .size = 0 });

	if (!program || program->image || program->given)
		return FILE_SETTLED;
	return program->search && !program->missed ? FILE_SOUGHT : FILE_MISSING;
}

void objects_give_file(struct objects *objects, const struct object *object, int fd)
{
	struct program *program = find_program(objects, object, &(struct build_id) { .size = 0 });
	const struct program_clue clue = {
		.name = object->name, .shown = objects_name(objects, object->name), .debug = objects->folders,
		.copy = fd,
	};

	if (!program || program->image) {
		close(fd);
		return;
	}
	program->given = true;
	begin_search(objects, program, &clue);
}

/* Keeps the image, or returns the one that the boot already has of the same file. NULL: there are too many. */
static struct image *keep(struct objects *objects, struct image *image)
{
	struct image *same = NULL;

	for (size_t i = 0; i < objects->image_count; i++)
		if (objects->images[i]->table == image->table)
			same = objects->images[i];
	if (!same && objects->image_count < PROGRAMS_MAX)
		return objects->images[objects->image_count++] = image;
	if (!same)
		note_limit(objects, "more than %u programs: functions of later ones have no names",
			PROGRAMS_MAX);
	image_free(image);
	return same;
}

/* Notes how many programs have no names; and why the last one has none, if that is still known. */
static void note_nameless(struct objects *objects)
{
	const struct program *noted = objects->noted;
	const char *plural = util_plural(objects->nameless);

	if (objects->nameless && objects->why)
		note(objects, "the functions of %u program%s have no names; the last one: %s",
			objects->nameless, plural, objects->why);
	else if (objects->nameless)
		note(objects, "the functions of %u program%s have no names", objects->nameless,
			plural);
	else
		note(objects, "%s", "");
	objects->noted = noted;
}

/* The program has its file now: remarks about it end. */
static void settle(struct objects *objects, struct program *program)
{
	bool counted = program->nameless && objects->why;

	objects->nameless -= program->nameless;
	program->nameless = false;
	if (objects->noted == program) {
		objects->noted = NULL;
		free(objects->why);
		objects->why = NULL;
		note_nameless(objects);
	} else if (counted) {
		note_nameless(objects);
	}
}

/* Takes over both texts, which may be NULL. */
static void note_program(struct objects *objects, struct program *program, char *refused,
	char *remark)
{
	if (!refused && !remark)
		return;
	objects->nameless += refused && !program->nameless;
	program->nameless = program->nameless || refused;
	free(objects->why);
	objects->why = remark ? NULL : refused;
	objects->told++;
	if (remark)
		note(objects, "%s", remark);
	else
		note_nameless(objects);
	objects->noted = program;
	if (remark)
		free(refused);
	free(remark);
}

/* True: the program has another image now. It keeps the old one if none was found. */
static bool take(struct objects *objects, struct program *program, struct program_found *found,
	bool *starved)
{
	struct image *before = program->image, *image =
		found->image ? keep(objects, found->image) : NULL;

	program->search = NULL;
	program->missed = !image;
	program->starved = found->starved;
	if (program->rules)		/* of the same file: only a starved one is searched for again */
		sym_cfi_close(found->rules);
	else
		program->rules = found->rules;
	if (image)
		program->image = image;
	if (image && !found->starved)
		settle(objects, program);
	note_program(objects, program, found->refused, found->note);
	*starved |= found->starved;
	return program->image != before;
}

bool objects_step(struct objects *objects, bool *starved)
{
	struct program **at = &objects->searched, *program;
	struct program_found found;
	bool news = false;

	while ((program = *at)) {
		if (!programs_done(program->search, &found)) {
			at = &program->next;
			continue;
		}
		*at = program->next;
		news |= take(objects, program, &found, starved);
	}
	objects->last = at;
	return news;
}

bool objects_reading(const struct objects *objects)
{
	return objects->searched;
}

/* ---- mappings ---- */

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias &&
		a->by_offset == b->by_offset && a->contents == b->contents && a->name == b->name &&
		a->build_id.size == b->build_id.size &&
		memcmp(a->build_id.bytes, b->build_id.bytes, sizeof(a->build_id.bytes)) == 0;
}

static uint64_t content_hash(const struct objects *objects, const struct mapping *mapping)
{
	const struct hash *hash = &objects->by_content;
	uint64_t value = hash_pair(hash, mapping->start, mapping->end);

	value = hash_pair(hash, value + mapping->bias, (uintptr_t)mapping->name + mapping->contents);
	return hash_bytes(hash, value, mapping->build_id.bytes, mapping->build_id.size);
}

/* Is there room for one more mapping? Makes it if need be. */
static bool have_room(struct objects *objects)
{
	struct mapping *mappings = budget_array(objects->budget, objects->mappings, objects->count,
		&objects->room, sizeof(*mappings));

	if (mappings)
		objects->mappings = mappings;
	return mappings && objects->count < OBJECTS_MAX;
}

/* Where a module's lines are looked for. NULL: its build is unknown, or there is no memory. */
static struct debug_object *debug_of(const struct objects *objects, const struct mapping *mapping)
{
	struct debug_object *debug = build_id_known(&mapping->build_id) ?
		budget_resize(objects->budget, NULL, 0, sizeof(*debug)) : NULL;

	if (debug)
		*debug = (struct debug_object) {
			.kind = DEBUG_MODULE, .fd = -1, .name = mapping->name,
			.version = objects->version, .build_id = mapping->build_id,
		};
	return debug;
}

/* The mapping's id; makes it if it is new. OBJECTS_NONE: there is no room. */
static uint32_t have_mapping(struct objects *objects, const struct mapping *mapping)
{
	uint64_t hash = content_hash(objects, mapping);
	uint32_t at = 0, id;

	while ((id = hash_next(&objects->by_content, hash, &at)) != HASH_NONE)
		if (is_same(&objects->mappings[id], mapping))
			return id;
	if (!have_room(objects) || !hash_add(&objects->by_content, hash, objects->count)) {
		note_limit(objects, "more than %u mapped files: functions in later ones have no names",
			objects->count);
		return OBJECTS_NONE;
	}
	objects->mappings[objects->count] = *mapping;
	return objects->count++;
}

uint32_t objects_map(struct objects *objects, const struct object *object,
	const char *const *folders, bool *found)
{
	struct mapping mapping = {
		.start = object->start, .end = object->end, .bias = object->bias, .by_offset = object->by_offset,
		.contents = object->contents,
	};
	struct mapping *known;
	uint32_t id;

	*found = false;
	if (object->start >= object->end)
		return OBJECTS_NONE;
	mapping.name = objects_name(objects, object->name);
	build_id_set(&mapping.build_id, object->build_id.bytes, object->build_id.size);
	id = have_mapping(objects, &mapping);
	if (id == OBJECTS_NONE)
		return OBJECTS_NONE;
	known = &objects->mappings[id];
	if (object->process == EVENT_KERNEL && !known->debug)
		known->debug = debug_of(objects, &mapping);
	if (!objects_image(known) || known->program->starved) {
		const struct image *before = objects_image(known);

		known->program = search(objects, object, &mapping, folders);
		*found = objects_image(known) != before;
	}
	return id;
}

const struct mapping *objects_get(const struct objects *objects, uint32_t mapping)
{
	return &objects->mappings[mapping];
}

/* ---- firmware ---- */

enum {
	PAGE = 4096, MIB = 1 << 20,
	WINDOW = 16,			/* pages that are asked for at a time */
	SIGN_MOST = 16,
};

/* Where QEMU's boards have their firmware: hw/i386/pc.c, hw/arm/virt.c, hw/riscv/virt.c. */
struct board {
	/* What EDK II has there. */
	uint64_t sign_at;
	const char *sign;
	size_t sign_size;
	uint64_t uboot;			/* where U-Boot is loaded; NONE: not known */
};

#define NONE UINT64_MAX
/* EDK II, MdePkg/Include/Pi/PiFirmwareVolume.h: a volume's signature, behind 16 zero bytes, a GUID and a length. */
#define VOLUME "_FVH"
enum { VOLUME_AT = 40 };
/* EDK II, OvmfPkg/ResetVector: the GUID of the table that ends 32 bytes below 4 GiB. */
#define TABLE "\xde\x82\xb5\x96\xb2\x1f\xf7\x45\xba\xea\xa3\x66\xc5\x5a\x08\x2d"

static const struct board firmware_boards[ARCHS] = {
	[ARCH_X86_64] = { 0xffffffd0, TABLE, sizeof(TABLE) - 1, NONE },
	[ARCH_I386] = { 0xffffffd0, TABLE, sizeof(TABLE) - 1, NONE },
	[ARCH_AARCH64] = { VOLUME_AT, VOLUME, sizeof(VOLUME) - 1, 0 },
	[ARCH_RISCV64] = { 0x20000000 + VOLUME_AT, VOLUME, sizeof(VOLUME) - 1, 0x80200000 },
};

static const char banner[] = "U-Boot 20";	/* and the rest of the year */

/* False: it may come later. `there`: it was read. */
static bool read_bytes(const struct memory_reader *physical, uint64_t address, void *to, size_t size, bool *there)
{
	uint64_t awaited = memory_reader_awaited(physical);

	*there = physical->read(physical->context, address, to, size);
	return *there || memory_reader_awaited(physical) == awaited;
}

static void look_for_uefi(struct firmware_search *search, const struct board *board,
	const struct memory_reader *physical)
{
	char bytes[SIGN_MOST];
	bool there;

	if (!read_bytes(physical, board->sign_at, bytes, board->sign_size, &there))
		return;
	if (there && memcmp(bytes, board->sign, board->sign_size) == 0)
		search->found = FIRMWARE_UEFI;
	search->stage = search->found || board->uboot == NONE ? FIRMWARE_DONE : FIRMWARE_SEARCHES;
}

/* A page, and as much of the next one as a banner needs. False: it may come later. */
static bool look_for_banner(struct firmware_search *search, uint64_t address, const struct memory_reader *physical)
{
	char bytes[PAGE + sizeof(banner)];
	bool there;

	if (!read_bytes(physical, address, bytes, sizeof(bytes), &there))
		return false;
	if (there && memmem(bytes, sizeof(bytes), banner, strlen(banner)))
		search->found = FIRMWARE_UBOOT;
	return true;
}

static void look_for_uboot(struct firmware_search *search, const struct board *board,
	const struct memory_reader *physical)
{
	char byte;
	bool there;

	while (search->searched < MIB && !search->found &&
			look_for_banner(search, board->uboot + search->searched, physical))
		search->searched += PAGE;
	if (search->searched == MIB || search->found)
		search->stage = FIRMWARE_DONE;
	for (uint64_t i = 1; search->stage != FIRMWARE_DONE && i < WINDOW && search->searched + i * PAGE < MIB; i++)
		read_bytes(physical, board->uboot + search->searched + i * PAGE, &byte, 1, &there);
}

void firmware_search(struct firmware_search *search, enum arch_id arch, const struct memory_reader *physical)
{
	const struct board *board = &firmware_boards[arch];

	if (!board->sign) {
		search->stage = FIRMWARE_DONE;
		return;
	}
	if (search->stage == FIRMWARE_BEGINS)
		look_for_uefi(search, board, physical);
	if (search->stage == FIRMWARE_SEARCHES)
		look_for_uboot(search, board, physical);
}

/* ---- regions ---- */

#define LOADER "boot loader"
#define REGIONS_MIB (UINT64_C(1) << 20)

const struct region region_moved = { .name = "[firmware]", .object = REGION_FIRMWARE };

static const struct region pc[] = {
	{ 0x500, 0xa0000, "[real-mode code]", LOADER },		/* boot sectors, the setup code of a bzImage */
	{ 0xa0000, 0xc0000, "[SMM]", REGION_FIRMWARE },		/* elsewhere it is the screen's memory: no code */
	{ 0xc0000, 0xe0000, "[option ROM]", REGION_FIRMWARE },
	{ 0xe0000, 0x100000, "[BIOS]", REGION_FIRMWARE },
	{ 0xffc00000, 0x100000000, "[flash ROM]", REGION_FIRMWARE },
	{ 0 },
};
static const struct region arm_virt[] = {
	{ 0, 0x08000000, "[flash ROM]", REGION_FIRMWARE },
	{ 0 },
};
static const struct region riscv_virt[] = {
	{ 0x1000, 0x10000, "[reset ROM]", REGION_FIRMWARE },
	{ 0x20000000, 0x24000000, "[flash ROM]", REGION_FIRMWARE },
	{ 0x80000000, 0x80200000, "[OpenSBI]", REGION_FIRMWARE },
	{ 0 },
};

static const struct { const struct region *regions; unsigned bits; } boards[ARCHS] = {
	[ARCH_X86_64] = { pc, 64 }, [ARCH_I386] = { pc, 32 }, [ARCH_RISCV64] = { riscv_virt, 64 },
	[ARCH_AARCH64] = { arm_virt, 64 },
};

/*
 * Linux itself runs in the upper half of its addresses. What runs below, in the kernel's mode, is its decompressor,
 * within the room that its header tells, or firmware that has moved to memory. A BIOS has the decompressor begin at
 * 1 MiB, where UEFI has code of its own.
 */
static const struct region *below_kernel(const struct linux_kernel *linux, enum firmware firmware, uint64_t address)
{
	static const struct region decompressor = { .name = "[decompressor]", .object = "boot image" };
	static const struct region uefi = { .name = "[UEFI]", .object = REGION_FIRMWARE };
	static const struct region uboot = { .name = "[U-Boot]", .object = LOADER };
	uint64_t start = linux && firmware == FIRMWARE_UEFI ? linux->room_start : REGIONS_MIB;

	if (linux && address >= start && address < linux->room)
		return &decompressor;
	return firmware == FIRMWARE_UEFI ? &uefi : firmware == FIRMWARE_UBOOT ? &uboot : linux ? &region_moved : NULL;
}

const struct region *region_find(enum arch_id arch, const struct linux_kernel *linux, enum firmware firmware,
	uint64_t address)
{
	const struct region *region = boards[arch].regions;

	if (!region)
		return NULL;
	for (; region->name; region++)
		if (address >= region->start && address < region->end)
			return region;
	return address >> (boards[arch].bits - 1) == 0 ? below_kernel(linux, firmware, address) : NULL;
}
