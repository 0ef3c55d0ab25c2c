/* SPDX-License-Identifier: MIT */
/* The settings of the screen: colours, keys, columns, sort order, window, format of snapshots. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/query/table.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "tui/views/table/column.h"

struct config {
	struct theme theme;
	struct keys keys;
	struct columns columns;
	enum table_column sort;
	uint64_t window_ns;		/* 0: all */
	size_t format;			/* of snapshots, in the list of save_format.h */
};

/* The standard settings. */
void config_init(struct config *config);

/*
 * Takes one setting, a line "NAME = VALUE"; the line is changed. Ignores an empty line and one that begins with #.
 * False with "NAME: why; what to do" in `error`; then no setting has changed.
 */
bool config_set(struct config *config, char *line, char **error);

/* Writes all settings as such lines, with comments on what may be set. */
void config_write(const struct config *config, FILE *to);

/* ---- its file ---- */

/* The user's file of settings. */

struct config;

/*
 * Takes the standard settings, and then those of $XDG_CONFIG_HOME/ktop/config, or of $HOME/.config/ktop/config if the
 * variable is not set. The file need not exist. False with "PATH:LINE: NAME: why; what to do" in `error`.
 */
bool config_file_load(struct config *config, char **error);

/*
 * Sets the format of snapshots (save_format.h) in that file, whose other lines stay as they are. Makes the file and
 * its folders where there are none. Waits for the disk. False with "PATH: why; what to do" in `error`.
 */
bool config_file_keep_format(size_t format, char **error);

#endif
