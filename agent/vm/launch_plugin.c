/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
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

static bool is_kvm(char *const *words, size_t count)
{
	static const char *const options[] = { "-accel", "-machine", "-M" };

	for (size_t i = 0; i < count; i++)
		if (strcmp(words[i], "-enable-kvm") == 0 || strcmp(words[i], "--enable-kvm") == 0)
			return true;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const char *value = value_of(words, count, options[i]);

		if (value && strstr(value, "kvm"))
			return true;
	}
	return false;
}

/* A kernel with the hook and its driver contains the port's name. If the file is packed, this does not see it. */
static bool has_hook(const char *path)
{
	static const char port[] = "org.ktop.0";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat is;
	void *bytes = MAP_FAILED;
	bool found;

	if (fd >= 0 && fstat(fd, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0)
		bytes = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return false;
	found = memmem(bytes, (size_t)is.st_size, port, strlen(port)) != NULL;
	munmap(bytes, (size_t)is.st_size);
	return found;
}

static bool is_wanted(char *const *words, size_t count)
{
	return !value_of(words, count, "-plugin") && !is_kvm(words, count) &&
		!has_hook(value_of(words, count, "-kernel")) && !has_hook(value_of(words, count, "-initrd"));
}

char *launch_plugin(char *const *words, size_t count, enum link_choice choice, char **error)
{
	char *path;

	if (choice == LINK_HOOK || (choice == LINK_AUTO && !is_wanted(words, count)))
		return NULL;
	path = find_file();
	if (!path && choice == LINK_PLUGIN)
		util_fail(error, "ktop-plugin.so: not found: it is neither beside ktop nor in ../lib/ktop; "
			"build it by `make`");
	return path;
}
