/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/dwarf/sym_cfi.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
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
