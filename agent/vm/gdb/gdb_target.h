/* SPDX-License-Identifier: MIT */
/*
 * Which registers a machine has, by its target description ("Target Descriptions" in GDB's manual). The description is
 * a number of XML files; the first one names the others. Registers are numbered in the order in which they are
 * listed, unless a register says its number.
 */
#ifndef GDB_TARGET_H
#define GDB_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GDB_NUMBERS = 512, GDB_FILES = 16, GDB_NAME = 64 };

/* Registers that are asked for by name: of aarch64; of riscv64, its mode, and its page tables. */
enum gdb_named { GDB_SP_EL0, GDB_TCR_EL1, GDB_TTBR1_EL1, GDB_PRIV, GDB_SATP, GDB_NAMED };

struct gdb_target {			/* starts zeroed */
	char architecture[GDB_NAME];	/* as GDB calls it; "": not told */
	char files[GDB_FILES][GDB_NAME];	/* the names of the other files */
	size_t file_count;
	uint32_t next;			/* the number of the next register, if it does not say one */
	uint8_t sizes[GDB_NUMBERS];	/* bytes of each; 0: there is none of this number */
	uint32_t named[GDB_NAMED];	/* the number of each; 0: there is none */
};

/* Reads one more file, and writes to `text` while it does. Skips what makes no sense. */
void gdb_target_read(struct gdb_target *target, char *text);

/* QEMU's name of the architecture, for target_find(). NULL: it is not known here. */
const char *gdb_target_name(const struct gdb_target *target);

/* The offset of a register's bytes in the answer to `g`, which has all registers. -1: there is no such register. */
long gdb_target_offset(const struct gdb_target *target, unsigned number);

#endif
