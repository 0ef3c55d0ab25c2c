/* SPDX-License-Identifier: MIT */
/* What a Linux kernel's file holds besides ELF symbols: its own table of names, its ORC tables, its layout. */
#ifndef SYM_LINUX_H
#define SYM_LINUX_H

#include <stdbool.h>

struct budget;
struct build_id;
struct kernel_bytes;
struct linux_kernel;
struct symbol_table;

/*
 * Reads the image that a boot loader loads. False with `error` set: it cannot be read. `path` is for the error. The
 * caller frees `*kernel` by linux_kernel_free.
 */
bool sym_linux_read(int fd, const char *path, struct symbol_table *table, struct build_id *id,
	struct linux_kernel **kernel, struct budget *budget, char **error);

/*
 * Reads a vmlinux, an ELF file. If `table` is empty, because the file is stripped, the kernel's own names fill it.
 * NULL: it is no Linux kernel, or cannot be read as one. The caller frees the result by linux_kernel_free.
 */
struct linux_kernel *sym_linux_read_elf(int fd, struct symbol_table *table, struct budget *budget);

/*
 * Reads what was read of the memory of a kernel that runs, at its run addresses; its code need not be there. False: its
 * table of symbols is not there as a whole. The caller frees `*kernel` by linux_kernel_free.
 */
bool sym_linux_read_memory(struct kernel_bytes *memory, struct symbol_table *table, struct build_id *id,
	struct linux_kernel **kernel, struct budget *budget);

#endif
