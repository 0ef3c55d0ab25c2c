/* SPDX-License-Identifier: MIT */
/* The names of a Linux kernel, from its own table of symbols in the image that a boot loader loads. */
#ifndef SYM_LINUX_H
#define SYM_LINUX_H

#include <stdbool.h>

struct budget;
struct build_id;
struct linux_kernel;
struct symbol_table;

/*
 * False with `error` set: the image cannot be read. `path` is for the error. The caller frees `*kernel`
 * by linux_kernel_free.
 */
bool sym_linux_read(int fd, const char *path, struct symbol_table *table, struct build_id *id,
	struct linux_kernel **kernel, struct budget *budget, char **error);

#endif
