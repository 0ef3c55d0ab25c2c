/* SPDX-License-Identifier: MIT */
/* The text of source files, at the paths that DWARF tells, or where the user has them. */
#ifndef SOURCE_FILE_H
#define SOURCE_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * `map`: "FROM=TO": a path that begins with FROM begins with TO here; NULL: paths are as they are. Reads the lines
 * first, first + 1, ... of the file, `count` of them. Each of `lines` is set to its text, in fresh memory: printable,
 * tabs as blanks; NULL: the file has no such line. Returns how many it has read; 0: the file is not there. May wait
 * for a disk.
 */
size_t source_file_read(const char *path, const char *map, uint32_t first, size_t count, char **lines);

#endif
