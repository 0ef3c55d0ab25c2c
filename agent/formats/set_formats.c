/* SPDX-License-Identifier: MIT */
/* A new format needs a file of its own, a name in set_format.h, and a row here. */
#include <stdio.h>
#include <string.h>

#include "set_format.h"

enum { ENDING = 64 };			/* bytes of the longest one, and more */

const struct set_format *const set_formats[] = {
	&format_callgrind,
	&format_chrome,
	&format_csv_stacks,
	&format_csv_times,
	&format_firefox,
	&format_html,
	&format_json_stacks,
	&format_json_times,
	&format_perf_script,
	&format_pprof,
	&format_speedscope,
	&format_svg,
	NULL,
};

const struct set_format *set_format_named(const char *name)
{
	const struct set_format *const *format = set_formats;

	while (*format && strcmp((*format)->name, name) != 0)
		format++;
	return *format;
}

static bool ends_with(const char *path, const char *ending)
{
	size_t size = strlen(path), length = strlen(ending);

	return size > length && strcmp(path + size - length, ending) == 0;
}

/* The format's name stands for the first part of its ending, or for all of it. */
static bool ends_in_name(const char *path, const struct set_format *format)
{
	char ending[ENDING];

	snprintf(ending, sizeof(ending), ".%s", format->name);
	if (ends_with(path, ending))
		return true;
	snprintf(ending, sizeof(ending), ".%s%s", format->name, strrchr(format->ending, '.'));
	return ends_with(path, ending);
}

const struct set_format *set_format_of_file(const char *path)
{
	const struct set_format *found = NULL;

	for (const struct set_format *const *format = set_formats; *format; format++)
		if (ends_with(path, (*format)->ending) && (!found || strlen((*format)->ending) > strlen(found->ending)))
			found = *format;
	for (const struct set_format *const *format = set_formats; *format && !found; format++)
		if (ends_in_name(path, *format))
			found = *format;
	return found;
}
