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
#include "tui/frame/scope.h"
#include "config.h"

enum { WORDS = 16 };			/* in a value, at most */

static const char config_blanks[] = " \t\r\n";

void config_init(struct config *config)
{
	*config = (struct config) {
		.theme = theme_standard,
		.keys = keys_standard,
		.columns = columns_standard,
		.sort = COLUMN_SELF,
		.window_ns = SCOPE_SECONDS * NS_PER_SECOND,
	};
}

static bool set_window(struct config *config, char *const *words, char **error)
{
	if (words[1] || !scope_window_named(words[0], &config->window_ns))
		return util_fail(error, "no such window; give 1s, 10s, 60s or all");
	return true;
}

static bool set_format(struct config *config, char *const *words, char **error)
{
	if (words[1] || !save_format_named(words[0], &config->format))
		return util_fail(error, "no such format of snapshots; `ktop config` lists them");
	return true;
}

static bool set_sort(struct config *config, char *const *words, char **error)
{
	int column = column_named(words[0]);

	if (words[1] || column == COLUMNS || column_sort(column) == TABLE_COLUMNS)
		return util_fail(error, "no such column to sort by; give self, total, hits, cpu, "
			"function, object or source");
	config->sort = column_sort(column);
	return true;
}

static bool has(const struct columns *columns, int column)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->order[i] == column)
			return true;
	return false;
}

static bool set_columns(struct config *config, char *const *words, char **error)
{
	struct columns columns = { .count = 0 };

	for (; *words; words++) {
		int column = column_named(*words);

		if (column == COLUMNS)
			return util_fail(error, "%.40s: no such column; give self, total, hits, "
				"trend, cpu, function, object, source", *words);
		if (has(&columns, column))
			return util_fail(error, "%s: is given twice; give it once", *words);
		columns.order[columns.count++] = column;
	}
	if (!has(&columns, column_named("function")))
		return util_fail(error, "the column function is missing; give it, too");
	config->columns = columns;
	return true;
}

/* The rest of the name behind a prefix such as "key."; NULL: it has another beginning. */
static const char *behind(const char *name, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(name, prefix, size) == 0 ? name + size : NULL;
}

/* Sets one setting to these words, which end with NULL. False with "why; what to do" in `error`. */
static bool set(struct config *config, const char *name, char *const *words, char **error)
{
	if (!words[0])
		return util_fail(error, "no value; give one, or leave the line out");
	if (strcmp(name, "window") == 0)
		return set_window(config, words, error);
	if (strcmp(name, "sort") == 0)
		return set_sort(config, words, error);
	if (strcmp(name, "snapshot") == 0)
		return set_format(config, words, error);
	if (strcmp(name, "columns") == 0)
		return set_columns(config, words, error);
	if (behind(name, "key."))
		return keys_set(&config->keys, behind(name, "key."), words, error);
	if (behind(name, "colour."))
		return theme_set(&config->theme, behind(name, "colour."), words, error);
	return util_fail(error, "no such setting; `ktop config` lists them");
}

/* Cuts the text into words, which end with NULL. False: there are too many. */
static bool cut(char *text, char *words[WORDS + 1])
{
	int count = 0;
	char *rest, *word;

	for (word = strtok_r(text, config_blanks, &rest); word && count < WORDS;
			word = strtok_r(NULL, config_blanks, &rest))
		words[count++] = word;
	words[count] = NULL;
	return !word;
}

bool config_set(struct config *config, char *line, char **error)
{
	char *words[WORDS + 1], *why = NULL, *rest, *name;
	char *value = strchr(line, '=');

	line += strspn(line, config_blanks);
	if (*line == '\0' || *line == '#')
		return true;
	if (value)
		*value++ = '\0';
	name = strtok_r(line, config_blanks, &rest);
	if (!value || !name || strtok_r(NULL, config_blanks, &rest))
		return util_fail(error, "%.40s: not a setting; write NAME = VALUE", name ? name : "=");
	if (cut(value, words) ? set(config, name, words, &why) :
			util_fail(&why, "too many words; give fewer"))
		return true;
	util_fail(error, "%.40s: %s", name, why);
	free(why);
	return false;
}

void config_write(const struct config *config, FILE *to)
{
	const struct scope scope = { .window_ns = config->window_ns };
	char window[SCOPE_WINDOW];

	fprintf(to, "# The window: 1s, 10s, 60s or all.\nwindow = %s\n",
		scope_window(&scope, window));
	fputs("\n# The columns from left to right, and the one that the table is sorted by.\ncolumns =", to);
	for (size_t i = 0; i < config->columns.count; i++)
		fprintf(to, " %s", column_name(config->columns.order[i]));
	for (int i = 0; i < COLUMNS; i++)
		if (column_sort(i) == config->sort)
			fprintf(to, "\nsort = %s\n", column_name(i));
	fputs("\n# The format of snapshots: what was chosen last on the screen. One of\n#", to);
	for (size_t i = 0; save_format_at(i).name; i++)
		fprintf(to, " %s", save_format_at(i).name);
	fprintf(to, ".\nsnapshot = %s\n", save_format_at(config->format).name);
	fputs("\n# Up to four keys for each action, or none; the key bar shows the first.\n", to);
	for (int i = 0; i < KEYS_ROWS; i++) {
		fprintf(to, "key.%s =", config->keys.rows[i].name);
		keys_write(&config->keys.rows[i], to);
		fputs("\n", to);
	}
	fputs("\n# COLOUR on COLOUR, and any of bold, dim, underline, reverse: first for terminals with\n"
		"# 256 colours, then, after a /, for those with fewer.\n"
		"# A colour is default; black, red, green, yellow, blue, magenta, cyan, white;\n"
		"# bright-black and so on; or 0 to 255.\n", to);
	for (int i = 0; i < STYLES; i++) {
		fprintf(to, "colour.%s =", config->theme.entries[i].name);
		theme_write(&config->theme.entries[i], to);
		fputs("\n", to);
	}
}

/* ---- its file ---- */

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
