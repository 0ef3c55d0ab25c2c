/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "code_lines.h"

struct code_lines *code_lines_new(void)
{
	struct code_lines *lines = util_alloc(sizeof(*lines));

	lines->file = CODE_NO_FILE;
	return lines;
}

void code_lines_free(struct code_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->file_count; i++)
		free(lines->files[i]);
	for (size_t i = 0; i < lines->inline_count; i++)
		free(lines->inlines[i].name);
	free(lines->folder);
	free(lines->fetched);
	free(lines->files);
	free(lines->rows);
	free(lines->inlines);
	free(lines);
}

uint16_t code_lines_own(const struct code_lines *lines)
{
	uint16_t file = lines->file;

	for (size_t i = 0; file == CODE_NO_FILE && i < lines->row_count; i++)
		file = lines->rows[i].file;
	return file;
}
