/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/linux/unpack.h"
#include "agent/wire/event.h"
#include "given_objects.h"
#include "symbols.h"

struct given_object {
	char *path, *folder;
	uint64_t start, end, bias;
};

struct given_objects {
	struct given_object *list;
	size_t count;
};

/* What the file says of itself. False with `error` set. */
static bool read_place(struct given_object *object, const char *text, char **error)
{
	const char *why = "it is no ELF file that loads anything";
	int fd = util_file_read(AT_FDCWD, object->path, 0, &why);
	uint64_t low, high;
	bool good = fd >= 0 && sym_elf_extent(fd, &low, &high);

	if (fd >= 0 && !good)
		why = unpack_told(fd, why);
	if (fd >= 0)
		close(fd);
	if (!good)
		return util_fail(error, "--object %s: %s; give an ELF file as linked", text, why);
	if (high - low > UINT64_MAX - object->start)
		return util_fail(error, "--object %s: its %" PRIu64 " bytes do not fit there, at the end of all "
			"addresses; give a lower address", text, high - low);
	object->end = object->start + (high - low);
	object->bias = object->start - low;
	return true;
}

static bool read_object(struct given_object *object, const char *text, char **error)
{
	const char *at = strrchr(text, '@'), *slash;
	char *end = NULL;

	errno = 0;
	object->start = at && at > text && isdigit((unsigned char)at[1]) ? strtoull(at + 1, &end, 0) : 0;
	if (!end || end == at + 1 || *end || errno)
		return util_fail(error, "--object %s: no address; give FILE@ADDRESS, such as "
			"loader.elf@0x80000000", text);
	object->path = util_copy(text, (size_t)(at - text));
	slash = strrchr(object->path, '/');
	object->folder = slash ? util_copy(object->path, (size_t)(slash - object->path) + 1) : util_copy(".", 1);
	return read_place(object, text, error);
}

struct given_objects *given_objects_new(const char *const *texts, char **error)
{
	struct given_objects *objects = util_alloc(sizeof(*objects));

	while (texts[objects->count]) {
		objects->list = util_grow(objects->list, objects->count + 1, sizeof(*objects->list));
		objects->list[objects->count] = (struct given_object) { .path = NULL };
		if (!read_object(&objects->list[objects->count], texts[objects->count], error)) {
			objects->count++;
			given_objects_free(objects);
			return NULL;
		}
		objects->count++;
	}
	return objects;
}

void given_objects_free(struct given_objects *objects)
{
	if (!objects)
		return;
	for (size_t i = 0; i < objects->count; i++) {
		free(objects->list[i].path);
		free(objects->list[i].folder);
	}
	free(objects->list);
	free(objects);
}

/* The file is looked for by its name in its folder, and read as any other object's. */
void given_objects_map(const struct given_objects *objects, struct symbols *symbols)
{
	for (size_t i = 0; i < objects->count; i++) {
		const struct given_object *given = &objects->list[i];
		const char *const folders[] = { given->folder, NULL };

		symbols_map(symbols, &(struct object) {
			.process = EVENT_KERNEL, .start = given->start, .end = given->end, .bias = given->bias,
			.name = { .bytes = given->path, .size = strlen(given->path) },
		}, folders);
	}
}
