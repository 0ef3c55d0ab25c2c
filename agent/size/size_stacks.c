/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "code_sizes.h"
#include "name_space.h"
#include "size_rows.h"
#include "size_stacks.h"

struct frames {
	char *list[SIZE_FRAMES_MAX];	/* fresh memory */
	uint32_t count;
};

static void push(struct frames *frames, const char *text, size_t size)
{
	frames->list[frames->count++] = util_copy(text, size);
}

/* One frame for each part of a path, while there is room for two more: the rest of the path, and the function. */
static void push_path(struct frames *frames, const char *path)
{
	size_t size = strcspn(path, "/");

	if (path[0] == '/')
		size = 1 + strcspn(path + 1, "/");
	while (path[size] && frames->count < SIZE_FRAMES_MAX - 2) {
		push(frames, path, size);
		path += size + 1;
		size = strcspn(path, "/");
	}
	push(frames, path, strlen(path));
}

static void push_namespace(struct frames *frames, const char *name)
{
	size_t size, at = 0;
	const char *space = name_space(name, &size);

	while (at < size && frames->count < SIZE_FRAMES_MAX - 1) {
		at = name_space_part(space, size, at);
		push(frames, space, at);
	}
}

static void push_row(struct frames *frames, const struct code_sizes *sizes, enum size_by by, const struct size_row *row)
{
	const char *name = code_sizes_told(sizes, row->name), *file = code_sizes_told(sizes, row->file);
	const char *object = code_sizes_told(sizes, row->object);

	push(frames, object, strlen(object));
	if (by == SIZE_BY_FILE || by == SIZE_BY_FOLDER)
		push_path(frames, name);
	else if (by == SIZE_BY_FUNCTION)
		push_path(frames, file[0] ? file : SIZE_NO_SOURCE);
	else if (by == SIZE_BY_NAMESPACE)
		push_namespace(frames, name);
	if (by == SIZE_BY_FUNCTION || by == SIZE_BY_NAMESPACE)
		push(frames, name, strlen(name));
}

bool size_stacks_visit(struct code_sizes *sizes, const struct size_asked *asked, size_stacks_take *take, void *context)
{
	struct size_asked leaves = *asked;
	struct size_rows rows;
	bool made;

	leaves.stacks = true;
	made = size_rows_make(sizes, &leaves, &rows);
	for (size_t i = 0; made && i < rows.count; i++) {
		struct frames frames = { .count = 0 };

		push_row(&frames, sizes, asked->by, &rows.rows[i]);
		take(context, frames.list, frames.count, rows.rows[i].bytes);
		for (uint32_t k = 0; k < frames.count; k++)
			free(frames.list[k]);
	}
	size_rows_clear(&rows, sizes);
	return made;
}
