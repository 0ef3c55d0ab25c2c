/* SPDX-License-Identifier: MIT */
/*
 * Lists of symbols as text: nm, nm -CS, System.map, and /proc/kallsyms with its [module] column. A line is
 * `address [size] type name [TAB [module]]`; address and size are hexadecimal, the type is one letter as in
 * nm(1), with one blank behind it. Only code is taken (T, t, W, w, i). A line of another form is refused and counted:
 * so are those of objdump, readelf, nm -f posix or sysv, and of linkers' maps.
 */
#ifndef SYM_TEXT_H
#define SYM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct symbol_table;

/* False with `error` set: it is no such list, or names no code. `path` is for the error. */
bool sym_text_read(const char *text, size_t size, const char *path, struct symbol_table *table,
	char **error);

#endif
