/* SPDX-License-Identifier: MIT */
/* The paths of source files as DWARF tells them: any bytes. */
#ifndef SOURCE_PATH_H
#define SOURCE_PATH_H

#include <stddef.h>

/* Takes out "//", "/./" and "x/../", by the text alone. Shortens the path where it is. */
void source_path_clean(char *path);

/* How many bytes of the path are its folder, without the slash behind it; 0: it has none. */
size_t source_path_folder(const char *path);

#endif
