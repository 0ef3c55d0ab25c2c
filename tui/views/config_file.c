/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/export/save_format.h"
#include "config.h"
#include "config_file.h"

enum { FILE_MOST = 1 << 20 };		/* bytes of settings: more are none */

/* The path in fresh memory; NULL: neither variable is an absolute path. */
static char *own_path(void)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (folder && folder[0] == '/')
		return util_format("%s/ktop/config", folder);
	return home && home[0] == '/' ? util_format("%s/.config/ktop/config", home) : NULL;
}

/* Without a key to quit, the screen could not be left. */
static bool has_quit(const struct config *config)
{
	for (int i = 0; i < KEYS_ROWS; i++)
		if (config->keys.rows[i].action == ACTION_QUIT)
			return config->keys.rows[i].codes[0] != 0;
	return false;
}

/* Takes each line as a setting, up to the first bad one. False with `error` set: a bad line, or no key quits ktop. */
static bool read_lines(struct config *config, FILE *from, const char *path, char **error)
{
	char *line = NULL, *why = NULL;
	size_t room = 0, number = 0;

	while (!why && getline(&line, &room, from) >= 0) {
		number++;
		config_set(config, line, &why);
	}
	free(line);
	if (why)
		util_fail(error, "%s:%zu: %s", path, number, why);
	else if (!feof(from))
		util_fail(error, "%s: not read: %s; put a file there", path, strerror(errno));
	else if (!has_quit(config))
		util_fail(error, "%s: key.quit: no key is left for it; give one", path);
	else
		return true;
	free(why);
	return false;
}

static bool fail_to_read(const char *path, const char *why, char **error)
{
	return util_fail(error, "%s: not read: %s; make it readable, or remove it", path, why);
}

/* NULL: *why says why it cannot be read; NULL there: there is no such file. */
static FILE *open_lines(const char *path, const char **why)
{
	int fd = util_file_read(AT_FDCWD, path, 0, why);
	FILE *from = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat is;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		*why = NULL;
	if (from && fstat(fd, &is) == 0 && is.st_size <= FILE_MOST)
		return from;
	if (fd >= 0)
		*why = from ? "it is larger than 1 MB" : strerror(errno);
	if (from)
		fclose(from);
	else if (fd >= 0)
		close(fd);
	return NULL;
}

bool config_file_load(struct config *config, char **error)
{
	char *path = own_path();
	const char *why;
	FILE *from = path ? open_lines(path, &why) : NULL;
	bool good = true;

	config_init(config);
	if (from) {
		good = read_lines(config, from, path, error);
		fclose(from);
	} else if (path && why) {
		good = fail_to_read(path, why, error);
	}
	free(path);
	return good;
}

/* ---- keeping ---- */

/* True: the line sets the format of snapshots. */
static bool is_format(const char *line)
{
	static const char name[] = "snapshot", blanks[] = " \t\r\n";

	line += strspn(line, blanks);
	if (strncmp(line, name, strlen(name)) != 0)
		return false;
	line += strlen(name);
	return line[strspn(line, blanks)] == '=';
}

/* Copies the lines, with this format in them. `from` NULL: there are none. False: they could not be read. */
static bool copy_lines(FILE *from, FILE *to, const char *format)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t size;
	bool kept = false, ended = true;

	while (from && (size = getline(&line, &room, from)) > 0) {
		ended = line[size - 1] == '\n';
		if (!is_format(line))
			fwrite(line, 1, (size_t)size, to);
		else if (!kept)
			fprintf(to, "snapshot = %s%s", format, ended ? "\n" : "");
		kept = kept || is_format(line);
	}
	if (!kept)
		fprintf(to, "%ssnapshot = %s\n", ended ? "" : "\n", format);
	free(line);
	return !from || feof(from);
}

/* Those that are there stay; if one cannot be made, opening the file will tell why. */
static void make_folders(const char *path)
{
	char *folder = util_copy(path, strlen(path));

	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0700);
		*slash = '/';
	}
	free(folder);
}

static bool keep(const char *path, const char *format, char **error)
{
	const char *why;
	FILE *from = open_lines(path, &why);
	struct util_file *to;

	if (!from && why)
		return fail_to_read(path, why, error);
	if (!from)
		make_folders(path);
	to = util_file_open(path, error);
	if (to && !copy_lines(from, util_file_stream(to), format)) {
		fail_to_read(path, strerror(errno), error);
		util_file_discard(to);
		to = NULL;
	}
	if (from)
		fclose(from);
	return to && util_file_commit(to, error);
}

bool config_file_keep_format(size_t format, char **error)
{
	char *path = own_path();
	bool good = path ? keep(path, save_format_at(format).name, error) :
		util_fail(error, "the format of snapshots is not kept: there is no folder for settings; set HOME");

	free(path);
	return good;
}
