/* SPDX-License-Identifier: MIT */
/*
 * Writes the sample world into a folder, in each format: FORMAT of it in FOLDER/FORMAT. FOLDER/folded has its stacks as
 * text. Prints what it has: samples, nanoseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/set_format.h"
#include "agent/samples/sample_set.h"
#include "tests/unit/fakes/sample_world.h"

static FILE *file_of(const char *folder, const char *name)
{
	char *path = util_format("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	free(path);
	return file;
}

int main(int count, char **words)
{
	struct sample_set *set = sample_world_new(true);
	FILE *file;

	if (count != 2)
		return 1;
	for (const struct set_format *const *format = set_formats; *format; format++) {
		struct set_writing writing = { .title = "the world" };
		char *error = NULL;

		writing.to = file = file_of(words[1], (*format)->name);
		if (!(*format)->write(set, &writing, &error)) {
			fprintf(stderr, "%s: %s\n", (*format)->name, error);
			return 1;
		}
		fclose(file);
	}
	file = file_of(words[1], "folded");
	sample_world_folded(set, file);
	fclose(file);
	printf("%" PRIu64 " %" PRIu64 "\n", set->samples, set->ns);
	sample_set_free(set);
	return 0;
}
