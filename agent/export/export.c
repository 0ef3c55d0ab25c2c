/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "export.h"

struct export {
	const struct export_format *format;
	void *collected;
};

struct export_choice export_choose(const struct export_format *format, const void *options,
	size_t size)
{
	struct export_choice choice = { .format = format };

	memcpy(choice.options, options, size);
	return choice;
}

_Static_assert(sizeof(struct stack_options) <= EXPORT_OPTIONS, "they fit into a choice");

struct export_choice export_stacks(enum export_id id, struct stack_options options)
{
	return export_choose(export_formats[id], &options, sizeof(options));
}

struct export *export_new(const struct export_choice *choice, const struct export_input *input)
{
	struct export *export = util_alloc(sizeof(*export));

	export->format = choice->format;
	export->collected = choice->format->collect(input, choice->options);
	return export;
}

void export_free(struct export *export)
{
	if (!export)
		return;
	export->format->free(export->collected);
	free(export);
}

bool export_put(struct export *export, const char *name, FILE *to, struct export_result *result,
	char **error)
{
	*result = (struct export_result) { 0 };
	return export->format->write(export->collected, name, to, result, error);
}

/* Writes a temporary file, which the caller gives its name. NULL with `error` set. */
static struct util_file *write_file(struct export *export, const char *path,
	struct export_result *result, char **error)
{
	struct util_file *file = util_file_open(path, error);

	if (!file || export_put(export, path, util_file_stream(file), result, error))
		return file;
	util_file_discard(file);
	return NULL;
}

bool export_write(struct export *export, const char *path, struct export_result *result, char **error)
{
	struct util_file *file = write_file(export, path, result, error);

	return file && util_file_commit(file, error);
}

char *export_write_new(struct export *export, const char *path, struct export_result *result,
	char **error)
{
	struct util_file *file = write_file(export, path, result, error);

	return file ? util_file_commit_new(file, error) : NULL;
}
