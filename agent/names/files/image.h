/* SPDX-License-Identifier: MIT */
/* A file of the host with symbols, once it is read: an ELF file, a Linux boot image, or a list of symbols. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "agent/base/arch_id.h"
#include "debug_file.h"
#include "sym_elf.h"

struct budget;
struct sym_elf_code;
struct kernel_bytes;
struct linux_kernel;

struct image {
	struct budget *budget;
	char *path;
	int fd;				/* for its lines; -1: it is no ELF file, so it has none */
	struct stat file;		/* as it was when it was read */
	struct build_id build_id;
	struct sym_elf_code *code;	/* where its code is; NULL: it is no ELF file */
	struct symbol_table *table;
	struct symbol_table *variables;	/* of a Linux kernel, by its own table of names; of all else it is empty */
	struct linux_kernel *kernel;	/* of a Linux boot image or vmlinux; NULL: it is neither */
	struct elf_segments segments;	/* of a program's file */
	struct debug_object debug;	/* for this very ELF file */
	uint32_t *functions;		/* ids by symbol, set by symbols.c; FUNCTION_NONE: not made yet */
};

enum image_kinds { IMAGE_ELF, IMAGE_ELF_OR_TEXT };

/*
 * Reads a file; its content decides what it is. NULL with `error` set. An ELF file may be without symbols,
 * a list may not.
 */
struct image *image_load(const char *path, enum image_kinds kinds, struct budget *budget,
	char **error);
void image_free(struct image *image);

/* A Linux kernel that runs, out of its memory (sym_linux_read_memory). NULL: its symbols are not there. */
struct image *image_of_memory(struct kernel_bytes *memory, struct budget *budget);

/* Reads an ELF file that is open already. Takes over the descriptor, and closes it on failure. */
struct image *image_read(int fd, const char *path, struct budget *budget, char **error);

/* For a stripped program that has no debug file: adds what sym_elf_add_bare finds. Before the image is shared. */
void image_add_bare(struct image *image);

/* The file was a copy for this alone: it has no path, and no lines and no code are read from it. */
void image_forget_file(struct image *image);

/* Is the file at that path still the one that was read? May wait for a disk. */
bool image_is_current(const char *path, const struct stat *then);

/* Another image of the same file, for another owner; they share the table. NULL: no descriptor is left. */
struct image *image_share(const struct image *image);

#endif
