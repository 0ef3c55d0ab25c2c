#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "image.h"
#include "objects.h"
#include "util.h"

enum { NAME_MAX_SHOWN = 64 };		/* bytes of an object's name */

struct objects {
	struct mapping *mappings;	/* sorted by space, then start; never overlapping */
	size_t count, room;
	uint64_t mapped;
	struct image *files[OBJECTS_FILES_MAX];
	size_t file_count;
	char *names[OBJECTS_NAMES_MAX];
	size_t name_count;
	char note[160];
};

struct objects *objects_new(void)
{
	return util_alloc(sizeof(struct objects));
}

void objects_free(struct objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->file_count; i++)
		image_free(objects->files[i]);
	for (size_t i = 0; i < objects->name_count; i++)
		free(objects->names[i]);
	free(objects->mappings);
	free(objects);
}

const char *objects_note(const struct objects *objects)
{
	return objects->note;
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

	for (size_t i = 0; i < objects->name_count; i++) {
		if (strcmp(objects->names[i], name) == 0) {
			free(name);
			return objects->names[i];
		}
	}
	if (objects->name_count == OBJECTS_NAMES_MAX) {
		free(name);
		return "";
	}
	return objects->names[objects->name_count++] = name;
}

/* The index of the first mapping that ends behind the address, or belongs to a later space. */
static size_t position(const struct objects *objects, uint32_t space, uint64_t address)
{
	size_t low = 0, high = objects->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mapping *mapping = &objects->mappings[middle];

		if (mapping->space < space || (mapping->space == space && mapping->end <= address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct mapping *objects_find(const struct objects *objects, uint32_t space, uint64_t address)
{
	size_t at = position(objects, space, address);
	const struct mapping *mapping;

	if (at == objects->count)
		return NULL;
	mapping = &objects->mappings[at];
	return mapping->space == space && mapping->start <= address ? mapping : NULL;
}

/* A new file is read; one that was read before is shared. NULL: not there, or no ELF file. */
static struct image *open_file(struct objects *objects, const char *path)
{
	struct image *image;

	for (size_t i = 0; i < objects->file_count; i++) {
		if (strcmp(objects->files[i]->path, path) == 0)
			return objects->files[i];
	}
	if (access(path, R_OK) != 0)
		return NULL;
	if (objects->file_count == OBJECTS_FILES_MAX) {
		snprintf(objects->note, sizeof(objects->note),
			"more than %d programs: the names of later ones are unknown",
			OBJECTS_FILES_MAX);
		return NULL;
	}
	image = image_load(path, IMAGE_ELF, NULL);
	if (image)
		objects->files[objects->file_count++] = image;
	return image;
}

/* The base name comes from the guest: it must not lead out of the folder. */
static bool is_file_name(struct text base)
{
	return base.size > 0 && base.size < 256 && !memchr(base.bytes, '\0', base.size)
		&& !(base.size <= 2 && memcmp(base.bytes, "..", base.size) == 0);
}

static struct image *find_file(struct objects *objects, const struct object *object,
	const struct mapping *mapping, const char *const *folders)
{
	struct text base = base_name(object->name);

	if (!is_file_name(base))
		return NULL;
	for (; folders && *folders; folders++) {
		char *path = util_format("%s/%.*s", *folders, (int)base.size, base.bytes);
		struct image *image = open_file(objects, path);

		free(path);
		if (image && !build_id_contradicts(&image->build_id, &mapping->build_id))
			return image;
		if (image)
			snprintf(objects->note, sizeof(objects->note),
				"%s in the guest is another build than the file: no names",
				mapping->name);
	}
	return NULL;
}

static bool is_same(const struct mapping *a, const struct mapping *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias && a->name == b->name
		&& a->build_id.size == b->build_id.size
		&& memcmp(a->build_id.bytes, b->build_id.bytes, sizeof(a->build_id.bytes)) == 0;
}

/* Puts the mapping in the place of the mappings [first, last). */
static void replace(struct objects *objects, size_t first, size_t last,
	const struct mapping *mapping)
{
	if (objects->count == objects->room) {
		objects->room = objects->room ? 2 * objects->room : 64;
		objects->mappings =
			util_grow(objects->mappings, objects->room, sizeof(*objects->mappings));
	}
	memmove(&objects->mappings[first + 1], &objects->mappings[last],
		(objects->count - last) * sizeof(*objects->mappings));
	objects->mappings[first] = *mapping;
	objects->mappings[first].age = objects->mapped++;
	objects->count += 1 - (last - first);
}

/* Processes end without a word, so that what was mapped long ago has to make room. */
static void drop_oldest(struct objects *objects)
{
	size_t oldest = 0;

	for (size_t i = 1; i < objects->count; i++) {
		if (objects->mappings[i].age < objects->mappings[oldest].age)
			oldest = i;
	}
	objects->count--;
	memmove(&objects->mappings[oldest], &objects->mappings[oldest + 1],
		(objects->count - oldest) * sizeof(*objects->mappings));
	snprintf(objects->note, sizeof(objects->note),
		"more than %d mapped objects: the oldest are forgotten", OBJECTS_MAX);
}

bool objects_map(struct objects *objects, const struct object *object, const char *const *folders)
{
	size_t first = position(objects, object->process, object->start), last = first;
	struct mapping mapping = {
		.space = object->process,
		.start = object->start,
		.end = object->end,
		.bias = object->bias,
		.name = objects_name(objects, object->name),
	};
	bool same;

	if (object->start >= object->end)
		return false;
	build_id_set(&mapping.build_id, object->build_id.bytes, object->build_id.size);
	while (last < objects->count && objects->mappings[last].space == mapping.space
		&& objects->mappings[last].start < mapping.end)
		last++;
	same = last == first + 1 && is_same(&objects->mappings[first], &mapping);
	if (same && objects->mappings[first].image)
		return false;
	mapping.image = find_file(objects, object, &mapping, folders);
	if (same && !mapping.image)
		return false;
	replace(objects, first, last, &mapping);
	if (objects->count > OBJECTS_MAX)
		drop_oldest(objects);
	return true;
}
