/* SPDX-License-Identifier: MIT */
/* A new format needs a file of its own and a row here. */
#include <stddef.h>
#include <string.h>

#include "size_format.h"

static const struct size_format *const formats[] = { &size_text, &size_json, &size_folded, &size_svg };

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct size_format *size_format_at(int index)
{
	return formats[index];
}

const struct size_format *size_format_of_file(const char *path)
{
	size_t size = strlen(path);

	for (int i = 0; i < FORMATS; i++) {
		size_t ending = strlen(formats[i]->ending);

		if (size > ending && strcmp(path + size - ending, formats[i]->ending) == 0)
			return formats[i];
	}
	return NULL;
}
