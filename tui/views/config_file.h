/* SPDX-License-Identifier: MIT */
/* The user's file of settings. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <stdbool.h>

struct config;

/*
 * Takes the standard settings, and then those of $XDG_CONFIG_HOME/ktop/config, or of $HOME/.config/ktop/config if the
 * variable is not set. The file need not exist. False with "PATH:LINE: NAME: why; what to do" in `error`.
 */
bool config_file_load(struct config *config, char **error);

#endif
