/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "config.h"
#include "config_file.h"

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
	else if (ferror(from))
		util_fail(error, "%s: not read: %s; put a file there", path, strerror(errno));
	else if (!has_quit(config))
		util_fail(error, "%s: key.quit: no key is left for it; give one", path);
	else
		return true;
	free(why);
	return false;
}

bool config_file_load(struct config *config, char **error)
{
	char *path = own_path();
	FILE *from = path ? fopen(path, "re") : NULL;
	bool good = true;

	config_init(config);
	if (from) {
		good = read_lines(config, from, path, error);
		fclose(from);
	} else if (path && errno != ENOENT && errno != ENOTDIR) {
		good = util_fail(error, "%s: not read: %s; make it readable, or remove it", path,
			strerror(errno));
	}
	free(path);
	return good;
}
