/* SPDX-License-Identifier: MIT */
/* The names of a Linux kernel out of the image that a boot loader is given, by its own table of symbols. */
#ifndef SYM_LINUX_H
#define SYM_LINUX_H

#include <stdbool.h>

struct budget;
struct build_id;
struct linux_kernel;
struct symbol_table;

/* False with `error` set when it cannot be read; `path` is for the error. */
bool sym_linux_read(int fd, const char *path, struct symbol_table *table, struct build_id *id,
	struct linux_kernel **kernel, struct budget *budget, char **error);

#endif
