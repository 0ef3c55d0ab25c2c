/* SPDX-License-Identifier: MIT */
/* The file in which a person keeps settings. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <stdbool.h>

struct config;

/*
 * The standard configuration, and over it the settings of $XDG_CONFIG_HOME/ktop/config, or without
 * that, of $HOME/.config/ktop/config: it need not be there. False with "PATH:LINE: NAME: why; what
 * to do" in `error`.
 */
bool config_file_load(struct config *config, char **error);

#endif
