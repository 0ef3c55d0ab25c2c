/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "hook_search.h"
#include "launch_plugin.h"

#define FILE_NAME "ktop-plugin.so"

/* The path of the plugin's file: beside ktop, as it is built, or in ../lib/ktop, as it is installed. NULL: none. */
static char *find_file(void)
{
	static const char *const places[] = { "", "../lib/ktop/" };
	char program[PATH_MAX], *end;
	ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (size < 0)
		return NULL;
	program[size] = '\0';
	end = strrchr(program, '/');
	if (!end)
		return NULL;
	*end = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *path = util_format("%s/%s" FILE_NAME, program, places[i]);

		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* The word behind the last of these options, since it counts for QEMU. NULL: the option is not given. */
static const char *value_of(char *const *words, size_t count, const char *option)
{
	const char *value = NULL;

	for (size_t i = 0; i + 1 < count; i++)
		if (strcmp(words[i], option) == 0 || (words[i][0] == '-' && strcmp(words[i] + 1, option) == 0))
			value = words[i + 1];
	return value;
}

bool launch_has_hook(char *const *words, size_t count)
{
	return hook_is_in(value_of(words, count, "-kernel")) || hook_is_in(value_of(words, count, "-initrd"));
}

char *launch_plugin(char *const *words, size_t count, enum link_choice choice, char **error)
{
	bool wanted = !value_of(words, count, "-plugin") && !launch_has_hook(words, count);
	char *path;

	if (choice == LINK_HOOK || choice == LINK_GDB || (choice == LINK_AUTO && !wanted))
		return NULL;
	path = find_file();
	if (!path && choice == LINK_PLUGIN)
		util_fail(error, "ktop-plugin.so: not found: it is neither beside ktop nor in ../lib/ktop; "
			"build it by `make`");
	return path;
}
