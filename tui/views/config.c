/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "tui/frame/scope.h"
#include "config.h"

enum { WORDS = 16 };			/* in a value, at most */

static const char blanks[] = " \t\r\n";

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

	for (word = strtok_r(text, blanks, &rest); word && count < WORDS;
			word = strtok_r(NULL, blanks, &rest))
		words[count++] = word;
	words[count] = NULL;
	return !word;
}

bool config_set(struct config *config, char *line, char **error)
{
	char *words[WORDS + 1], *why = NULL, *rest, *name;
	char *value = strchr(line, '=');

	line += strspn(line, blanks);
	if (*line == '\0' || *line == '#')
		return true;
	if (value)
		*value++ = '\0';
	name = strtok_r(line, blanks, &rest);
	if (!value || !name || strtok_r(NULL, blanks, &rest))
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
