#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "budget.h"
#include "debug_file.h"
#include "event.h"
#include "hash.h"
#include "image.h"
#include "objects.h"
#include "symbol_table.h"
#include "sysroot.h"
#include "util.h"

enum { NAME_MAX_SHOWN = 64 };		/* bytes of an object's name */

struct file {				/* that was read, or refused as it is */
	char *path;
	bool tried;
	struct timespec written;	/* when it was tried */
	struct image *image;		/* NULL: refused */
};

struct objects {
	struct budget *budget;
	struct mapping *mappings;
	uint32_t count, room;
	struct hash by_content;		/* of mappings */
	struct file files[OBJECTS_FILES_MAX];
	size_t file_count;
	uint32_t refused;
	char *names[OBJECTS_NAMES_MAX];
	uint32_t name_count;
	struct hash by_name;		/* of names; as bounded as they are */
	struct debug_folders folders;
	char *version;			/* of the kernel; NULL: not told */
	char note[256];
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
	hash_init(&objects->by_content, budget);
	hash_init(&objects->by_name, NULL);
	return objects;
}

void objects_free(struct objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->file_count; i++) {
		image_free(objects->files[i].image);
		free(objects->files[i].path);
	}
	for (size_t i = 0; i < objects->name_count; i++)
		free(objects->names[i]);
	for (uint32_t i = 0; i < objects->count; i++)
		budget_free(objects->budget, objects->mappings[i].debug,
			objects->mappings[i].debug ? sizeof(struct debug_object) : 0);
	free(objects->version);
	hash_clear(&objects->by_content);
	hash_clear(&objects->by_name);
	budget_free(objects->budget, objects->mappings,
		objects->room * sizeof(*objects->mappings));
	free(objects);
}

const char *objects_note(const struct objects *objects)
{
	return objects->note;
}

uint64_t objects_left_out(const struct objects *objects)
{
	uint64_t count = 0;

	for (size_t i = 0; i < objects->file_count; i++)
		if (objects->files[i].image)
			count += symbol_table_refused(objects->files[i].image->table);
	return count;
}

void objects_retry(struct objects *objects)
{
	for (size_t i = 0; i < objects->file_count; i++)
		objects->files[i].tried = objects->files[i].image != NULL;
}

static struct text base_name(struct text name)
{
	for (size_t i = name.size; i > 0; i--) {
		if (name.bytes[i - 1] == '/')
			return (struct text){ .bytes = name.bytes + i, .size = name.size - i };
	}
	return name;
}

const char *objects_name(struct objects *objects, struct text text)
{
	struct text base = base_name(text);
	char *name =
		util_printable(base.bytes, base.size < NAME_MAX_SHOWN ? base.size : NAME_MAX_SHOWN);

	uint64_t hash = hash_text(&objects->by_name, name);
	uint32_t at = 0, position;

	while ((position = hash_next(&objects->by_name, hash, &at)) != HASH_NONE) {
		if (strcmp(objects->names[position], name) == 0) {
			free(name);
			return objects->names[position];
		}
	}
	if (objects->name_count == OBJECTS_NAMES_MAX
			|| !hash_add(&objects->by_name, hash, objects->name_count)) {
		free(name);
		return "";
	}
	return objects->names[objects->name_count++] = name;
}

/* What is told is harmless: names and paths in it are the guest's. */
__attribute__((format(printf, 2, 3)))
static void note(struct objects *objects, const char *format, ...)
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
}

/* The file's place, made when it is new; NULL when there are too many. */
static struct file *have_file(struct objects *objects, const char *path)
{
	struct file *file = objects->files;

	for (; file < objects->files + objects->file_count; file++)
		if (strcmp(file->path, path) == 0)
			return file;
	if (objects->file_count == OBJECTS_FILES_MAX) {
		note(objects, "more than %d programs: the names of later ones are unknown",
			OBJECTS_FILES_MAX);
		return NULL;
	}
	objects->file_count++;
	*file = (struct file){ .path = util_copy(path, strlen(path)) };
	return file;
}

static void refuse(struct objects *objects, const char *why)
{
	note(objects, "the functions of %u programs have no names; of the last: %s",
		++objects->refused, why);
}

/* Of a stripped program the debug file has the symbols, too: as many, or more. */
static void add_symbols(struct objects *objects, struct image *image)
{
	int fd = debug_file_open(&objects->folders, &image->debug, objects->budget, objects->note,
		sizeof(objects->note));
	struct image *debug = fd < 0 ? NULL :
		image_read(fd, "its debug file", objects->budget, NULL);

	if (debug && symbol_table_count(debug->table) > symbol_table_count(image->table)) {
		struct symbol_table *table = image->table;

		image->table = debug->table;
		debug->table = table;
	}
	image_free(debug);
}

static struct image *load(struct objects *objects, int fd, const char *path)
{
	char *error = NULL;
	struct image *image = image_read(fd, path, objects->budget, &error);

	if (image)
		add_symbols(objects, image);

	if (image && symbol_table_count(image->table) == 0)
		util_fail(&error, "%s: it has no symbols; give the unstripped file", path);
	if (error)
		refuse(objects, error);
	free(error);
	return image;
}

/*
 * A new file is read; one that was read before is shared; one that was refused is read again when
 * somebody has written it. Takes the descriptor. NULL: refused.
 */
static struct image *open_file(struct objects *objects, int fd, const char *path)
{
	struct file *file = have_file(objects, path);
	struct stat is = { 0 };

	if (file && fstat(fd, &is) == 0 && (!file->tried || (!file->image
			&& (is.st_mtim.tv_sec != file->written.tv_sec
			|| is.st_mtim.tv_nsec != file->written.tv_nsec)))) {
		file->tried = true;
		file->written = is.st_mtim;
		file->image = load(objects, fd, path);
	} else {
		close(fd);
	}
	return file ? file->image : NULL;
}

/* The base name comes from the guest: it must not lead out of the folder. */
static bool is_file_name(struct text base)
{
	return base.size > 0 && base.size < 256 && !memchr(base.bytes, '\0', base.size)
		&& !(base.size <= 2 && memcmp(base.bytes, "..", base.size) == 0);
}

/* The file, when there is one and it is no other build than the guest's; takes both. */
static struct image *try_file(struct objects *objects, const struct mapping *mapping, int fd,
	char *path)
{
	struct image *image = fd < 0 ? NULL : open_file(objects, fd, path);

	if (image && build_id_contradicts(&image->build_id, &mapping->build_id)) {
		note(objects, "%s in the guest is another build than %s: that is not used",
			mapping->name, path);
		image = NULL;
	}
	free(path);
	return image;
}

static struct image *find_file(struct objects *objects, const struct object *object,
	const struct mapping *mapping, const char *const *folders)
{
	struct text name = object->name, base = base_name(name);
	struct image *image = NULL;
	char *path;
	int fd;

	if (objects->folders.sysroot) {
		fd = sysroot_open(objects->folders.sysroot, name.bytes, name.size, &path);
		image = try_file(objects, mapping, fd, path);
	}
	for (; !image && is_file_name(base) && folders && *folders; folders++) {
		path = util_format("%s/%.*s", *folders, (int)base.size, base.bytes);
		image = try_file(objects, mapping, debug_file_regular(path), path);
	}
	return image;
}

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias && a->name == b->name
		&& a->build_id.size == b->build_id.size
		&& memcmp(a->build_id.bytes, b->build_id.bytes, sizeof(a->build_id.bytes)) == 0;
}

static uint64_t content_hash(const struct objects *objects, const struct mapping *mapping)
{
	const struct hash *hash = &objects->by_content;
	uint64_t value = hash_pair(hash, mapping->start, mapping->end);

	value = hash_pair(hash, value + mapping->bias, (uintptr_t)mapping->name);
	for (size_t i = 0; i < mapping->build_id.size; i++)
		value = hash_pair(hash, value, value + mapping->build_id.bytes[i]);
	return value;
}

/* Room for one mapping more? */
static bool have_room(struct objects *objects)
{
	struct mapping *mappings = budget_array(objects->budget, objects->mappings, objects->count,
		&objects->room, sizeof(*mappings));

	if (mappings)
		objects->mappings = mappings;
	return mappings && objects->count < OBJECTS_MAX;
}

/* Where the lines of a module may be; NULL: nobody can know, or no memory. */
static struct debug_object *debug_of(const struct objects *objects, const struct mapping *mapping)
{
	struct debug_object *debug = build_id_known(&mapping->build_id) ?
		budget_resize(objects->budget, NULL, 0, sizeof(*debug)) : NULL;

	if (debug)
		*debug = (struct debug_object){
			.kind = DEBUG_MODULE, .fd = -1, .name = mapping->name,
			.version = objects->version, .build_id = mapping->build_id,
		};
	return debug;
}

/* Its id, made when there is none; OBJECTS_NONE when there is no more room. */
static uint32_t have_mapping(struct objects *objects, const struct mapping *mapping)
{
	uint64_t hash = content_hash(objects, mapping);
	uint32_t at = 0, id;

	while ((id = hash_next(&objects->by_content, hash, &at)) != HASH_NONE)
		if (is_same(&objects->mappings[id], mapping))
			return id;
	if (!have_room(objects) || !hash_add(&objects->by_content, hash, objects->count)) {
		note(objects, "more than %u mapped objects: the names of later ones are unknown",
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
		.start = object->start,
		.end = object->end,
		.bias = object->bias,
	};
	struct image **image;
	uint32_t id;

	*found = false;
	if (object->start >= object->end)
		return OBJECTS_NONE;
	mapping.name = objects_name(objects, object->name);
	build_id_set(&mapping.build_id, object->build_id.bytes, object->build_id.size);
	id = have_mapping(objects, &mapping);
	if (id == OBJECTS_NONE)
		return OBJECTS_NONE;
	if (object->process == EVENT_KERNEL && !objects->mappings[id].debug)
		objects->mappings[id].debug = debug_of(objects, &mapping);
	image = &objects->mappings[id].image;
	if (!*image) {
		*image = find_file(objects, object, &mapping, folders);
		*found = *image != NULL;
	}
	return id;
}

const struct mapping *objects_get(const struct objects *objects, uint32_t mapping)
{
	return &objects->mappings[mapping];
}
