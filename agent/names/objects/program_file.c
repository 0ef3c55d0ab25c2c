/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
#include "program_file.h"

enum { NOTE_BYTES = 256 };

void program_file_clear(struct program_file *file)
{
	image_free(file->image);
	free(file->note);
	free(file->refused);
	*file = (struct program_file) { 0 };
}

/* A stripped program's debug file has its symbols, too: takes that table if it has more. False: memory was short. */
static bool add_symbols(const struct debug_folders *folders, struct image *image, char *note)
{
	uint64_t refused = budget_refused(image->budget);
	int fd = debug_file_open(folders, &image->debug, image->budget, note, NOTE_BYTES);
	struct image *debug = fd < 0 ? NULL :
		image_read(fd, "its debug file", image->budget, NULL);

	if (debug && symbol_table_count(debug->table) > symbol_table_count(image->table)) {
		struct symbol_table *table = image->table;

		image->table = debug->table;
		debug->table = table;
	}
	if (!debug)
		image_add_bare(image);
	image_free(debug);
	return debug || budget_refused(image->budget) == refused;
}

static struct program_file read_file(int fd, const char *path, bool copy, const struct debug_folders *folders,
	struct budget *budget)
{
	uint64_t refused = budget_refused(budget);
	char note[NOTE_BYTES] = "";
	struct program_file file = { 0 };

	file.image = image_read(fd, path, budget, &file.refused);
	if (file.image && copy)
		file.image->debug.fd = -1;
	file.starved = file.image ? !add_symbols(folders, file.image, note) :
		budget_refused(budget) != refused;
	if (file.image && file.starved) {
		util_fail(&file.refused, "%s: its debug file is not read: memory is full; give more by "
			"--memory", path);
	} else if (file.image && symbol_table_count(file.image->table) == 0) {
		util_fail(&file.refused, "%s: it has no symbols; give the unstripped file", path);
		image_free(file.image);
		file.image = NULL;
	}
	file.note = note[0] ? util_copy(note, strlen(note)) : NULL;
	return file;
}

struct program_file program_file_read(int fd, const char *path, const struct debug_folders *folders,
	struct budget *budget)
{
	return read_file(fd, path, false, folders, budget);
}

struct program_file program_file_read_copy(int fd, const char *name, const struct debug_folders *folders,
	struct budget *budget)
{
	return read_file(fd, name, true, folders, budget);
}
