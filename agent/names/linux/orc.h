/* SPDX-License-Identifier: MIT */
/*
 * Linux's ORC tables. For each address of x86-64 code they tell where the caller's stack pointer and frame
 * pointer are (linux/Documentation/arch/x86/orc-unwinder.rst). The formats of 5.x to 6.12 are all read into
 * the same entries. Made once, then only read, by any thread.
 */
#ifndef ORC_H
#define ORC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct orc;

/* Numbers as in the tables. */
enum orc_register {
	ORC_UNDEFINED = 0,		/* as `sp`: the caller cannot be found; as `bp`: it is unchanged */
	ORC_PREV_SP = 1,		/* the caller's stack pointer, as just computed */
	ORC_DX = 2, ORC_DI = 3, ORC_BP = 4, ORC_SP = 5, ORC_R10 = 6, ORC_R13 = 7,
	ORC_BP_INDIRECT = 8,		/* only as `sp`: see struct orc_entry */
	ORC_SP_INDIRECT = 9,		/* likewise */
};

enum orc_type {
	ORC_TYPE_UNDEFINED,		/* the caller is not known: a stub, or padding */
	ORC_TYPE_END,			/* nothing has called this: the stack ends here */
	ORC_TYPE_CALL,			/* the return address lies below the caller's stack pointer */
	ORC_TYPE_REGS,			/* at the computed stack pointer lies a pt_regs */
	ORC_TYPE_REGS_PARTIAL,		/* the same, but only the part that the CPU pushed is there */
};

/*
 * ORC_BP_INDIRECT as `sp`: the word at BP + sp_offset. ORC_SP_INDIRECT: the word at SP, plus sp_offset.
 * As `bp`: ORC_PREV_SP: the word at the caller's SP + bp_offset; ORC_BP: the word at BP + bp_offset.
 */
struct orc_entry {
	enum orc_register sp, bp;
	int16_t sp_offset, bp_offset;
	enum orc_type type;
	bool signal;			/* the frame was interrupted here: the address is no return address */
};

/* The two tables, from an image or from memory. `address`: where `ips` lies in the running kernel. */
struct orc_tables {
	const uint8_t *ips, *entries;	/* .orc_unwind_ip: int32 each; .orc_unwind: 6 bytes each */
	size_t ips_size, entries_size;
	uint64_t address;
	bool sorted;			/* the kernel has sorted them: in another order they make no sense */
};

/* How `entries` are packed. Linux changed that twice. */
enum orc_format { ORC_5_X, ORC_6_3, ORC_6_4 };

/* Finds the format from the contents of a whole kernel's table. A module's format is that of its kernel. */
enum orc_format orc_format_of(const struct orc_tables *kernel);

/* Makes a sorted copy. NULL: there is no memory, or the tables make no sense. */
struct orc *orc_new(const struct orc_tables *tables, enum orc_format format, struct budget *budget);
void orc_free(struct orc *orc);

enum orc_format orc_format(const struct orc *orc);

/*
 * The entry that covers the address. False: the address lies below all entries. The last entry covers everything
 * above it, so the caller must know where the code ends, and not ask beyond.
 */
bool orc_find(const struct orc *orc, uint64_t address, struct orc_entry *entry);

/*
 * The entry of a place in __x86_indirect_thunk_array, by its distance from there: Linux's own tables say nothing of
 * that code. False: it is not in there, or at an instruction where no block of code begins.
 */
bool orc_of_thunk(uint64_t distance, struct orc_entry *entry);

#endif
