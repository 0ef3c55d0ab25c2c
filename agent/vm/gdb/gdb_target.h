/* SPDX-License-Identifier: MIT */
/*
 * Which registers a machine has, by its target description ("Target Descriptions" in GDB's manual): files of XML of
 * which the first names the others. Registers are numbered in the order in which they stand, unless a register says
 * its number.
 */
#ifndef GDB_TARGET_H
#define GDB_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDB_NUMBERS = 512, GDB_FILES = 16, GDB_NAME = 64 };

struct gdb_target {			/* starts zeroed */
	char architecture[GDB_NAME];	/* as GDB calls it; "": not told */
	char files[GDB_FILES][GDB_NAME];	/* those that were named */
	size_t file_count;
	uint32_t next;			/* number of the next register that says none */
	uint8_t sizes[GDB_NUMBERS];	/* bytes of each; 0: there is none of this number */
};

/* Reads one more file, which is changed. What makes no sense in it is passed over. */
void gdb_target_read(struct gdb_target *target, char *text);

/* QEMU's name of the CPU, as kernel-hook/plugin/target.h knows it; NULL: another one. */
const char *gdb_target_name(const struct gdb_target *target);

/* Where a register's bytes stand in the answer to `g`; -1: it has no such register. */
long gdb_target_offset(const struct gdb_target *target, unsigned number);

#endif
