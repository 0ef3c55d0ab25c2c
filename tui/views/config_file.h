/* SPDX-License-Identifier: MIT */
/* The user's file of settings. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

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
