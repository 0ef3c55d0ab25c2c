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

/* May KVM run the guest? `certainly`: and nothing else. */
static bool is_kvm(char *const *words, size_t count, bool certainly)
{
	static const char *const options[] = { "-accel", "-machine", "-M" };

	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], "-enable-kvm") == 0 || strcmp(words[i], "--enable-kvm") == 0)
			return true;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *value = value_of(words, count, options[i]);

		if (value && strstr(value, "kvm") && !(certainly && strstr(value, "tcg")))
			return true;
	}
	return false;
}

bool launch_has_hook(char *const *words, size_t count)
{
	return hook_is_in(value_of(words, count, "-kernel")) || hook_is_in(value_of(words, count, "-initrd"));
}

static bool is_wanted(char *const *words, size_t count)
{
	return !value_of(words, count, "-plugin") && !is_kvm(words, count, false) && !launch_has_hook(words, count);
}

char *launch_plugin(char *const *words, size_t count, enum link_choice choice, char **error)
{
	char *path;

	if (choice == LINK_PLUGIN && is_kvm(words, count, true)) {
		util_fail(error, "--source plugin: KVM runs this guest, and QEMU's plugins see TCG alone; give "
			"--source gdb, or put the hook into the guest");
		return NULL;
	}
	if (choice == LINK_HOOK || choice == LINK_GDB || (choice == LINK_AUTO && !is_wanted(words, count)))
		return NULL;
	path = find_file();
	if (!path && choice == LINK_PLUGIN)
		util_fail(error, "ktop-plugin.so: not found: it is neither beside ktop nor in ../lib/ktop; "
			"build it by `make`");
	return path;
}
