/* SPDX-License-Identifier: MIT */
/* What a person may set about the screen: colours, keys, columns, order, window. */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/query/query.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/theme.h"
#include "column.h"

struct config {
	struct theme theme;
	struct keys keys;
	struct columns columns;
	enum table_column sort;
	uint64_t window_ns;		/* 0: all */
};

/* How it is when nobody sets anything. */
void config_init(struct config *config);

/*
 * One setting, as a line "NAME = VALUE", which is cut up. An empty line and one that begins with #
 * are none. False with "NAME: why; what to do" in `error`, and nothing changed.
 */
bool config_set(struct config *config, char *line, char **error);

/* All settings as such lines, with remarks on what may be set. */
void config_write(const struct config *config, FILE *to);

#endif
