/* SPDX-License-Identifier: MIT */
/*
 * Gives a target each file of its corpus, or the files that are named, again and again, each time with another
 * allocation refused: RUNS of them, spread over the file's allocations, or each with the argument `all`. Prints TAP.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/json.h"
#include "agent/base/util.h"
#include "tests/unit/agent/scarce/scarce.h"
#include "fuzz.h"

enum { RUNS = 4 };

struct input {
	uint8_t *bytes;
	size_t size;
};

static void give(void *context)
{
	const struct input *input = context;

	LLVMFuzzerTestOneInput(input->bytes, input->size);
}

static bool read_input(struct input *input, const char *path)
{
	FILE *file = fopen(path, "r");
	long size = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0)
		return false;
	rewind(file);
	*input = (struct input) { .bytes = util_alloc((size_t)size), .size = (size_t)size };
	input->size = fread(input->bytes, 1, input->size, file);
	fclose(file);
	return true;
}

/* The files begin with different allocations, so that not only the first ones are refused. */
static bool give_scarcely(const char *path, bool all, unsigned file)
{
	struct scarce_runs runs = { .step = 1, .body = give };
	struct input input;
	uint64_t count;

	if (!read_input(&input, path))
		return false;
	runs.context = &input;
	count = scarce_count(give, &input);
	if (!all) {
		runs.step = count / RUNS + 1;
		runs.from = file % runs.step;
	}
	fprintf(stderr, "%s: %llu allocations\n", path, (unsigned long long)count);
	count = count ? scarce_run(&runs) : 0;
	free(input.bytes);
	return count;
}

static bool give_folder(const char *folder, bool all)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);
	bool well = count > 0;

	for (int i = 0; i < count; i++) {
		char *path = util_format("%s/%s", folder, entries[i]->d_name);

		if (entries[i]->d_name[0] != '.')
			well = give_scarcely(path, all, (unsigned)i) && well;
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return well;
}

int main(int count, char **arguments)
{
	const char *name = strstr(arguments[0], "scarce_");
	char *folder = util_format("tests/fuzz/corpus/fuzz_%s", name ? name + 7 : arguments[0]);
	bool all = count > 1 && strcmp(arguments[1], "all") == 0, well = true;

	json_begin();
	printf("1..1\n");
	for (int i = 1 + all; i < count; i++)
		well = give_scarcely(arguments[i], true, 0) && well;
	if (count == 1 + all)
		well = give_folder(folder, all);
	printf("%s 1 - allocations of %s refused in turn\n", well ? "ok" : "not ok", name);
	free(folder);
	return !well;
}
