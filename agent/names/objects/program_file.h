/* SPDX-License-Identifier: MIT */
/* One file of a program, and what came of reading it, its debug file included. */
#ifndef PROGRAM_FILE_H
#define PROGRAM_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct budget;
struct debug_folders;
struct image;

struct program_file {			/* has been read, is being read, or was refused */
	struct stat is;			/* the file as it was when it was read */
	bool reading;
	struct image *image;		/* NULL: refused */
	char *note, *refused;		/* as in struct program_found (programs.h); NULL: nothing to say */
	bool starved;
	uint64_t boot;			/* the boot that asked for it last */
};

/*
 * Reads the file and its debug file, which may take long. Takes over the descriptor; leaves `is` and `boot` to the
 * caller. A starved image has only the few symbols of the file itself.
 */
struct program_file program_file_read(int fd, const char *path, const struct debug_folders *folders,
	struct budget *budget);

/*
 * Reads a copy with holes, which nobody can read again, of a file of that name. It lies in no folder with a debug file.
 */
struct program_file program_file_read_copy(int fd, const char *name, const struct debug_folders *folders,
	struct budget *budget);
void program_file_clear(struct program_file *file);

#endif
