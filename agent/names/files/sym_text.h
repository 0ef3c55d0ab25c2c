/* SPDX-License-Identifier: MIT */
/*
 * Lists of symbols as text: nm, nm -CS, System.map, and /proc/kallsyms with its [module] column.
 * A line is `address [size] type name [TAB [module]]`, address and size in hexadecimal, the type
 * one letter as in nm(1): only code (T, t, W, w, i) is taken. Other lines are refused.
 */
#ifndef SYM_TEXT_H
#define SYM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct symbol_table;

/* False with `error` set when it is no such list, or holds no code. `path` is for the error. */
bool sym_text_read(const char *text, size_t size, const char *path, struct symbol_table *table,
	char **error);

#endif
