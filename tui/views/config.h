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

#endif
