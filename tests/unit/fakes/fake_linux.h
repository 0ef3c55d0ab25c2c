/* SPDX-License-Identifier: MIT */
/*
 * A Linux kernel of a few kilobytes with everything that ktop looks for in one: its table of symbols in
 * each form, ORC tables, notes, a banner. It can be ELF or an Image, and packed as a bzImage. Tests compare
 * what ktop finds with what was put in.
 */
#ifndef FAKE_LINUX_H
#define FAKE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/names/linux/kallsyms.h"

enum fake_shape { FAKE_ELF64, FAKE_ELF32, FAKE_IMAGE };
enum fake_order { FAKE_5_X, FAKE_6_2, FAKE_6_4 };	/* the order of the parts of kallsyms; 6.2: with a sequence */
enum fake_packer { FAKE_PLAIN, FAKE_GZIP, FAKE_XZ, FAKE_ZSTD, FAKE_LZ4 };

#define FAKE_BANNER "Linux version 6.1.0-fake (nobody@nowhere) #1 SMP\n"

enum { FAKE_BUILD_ID_SIZE = 20 };	/* bytes 1, 2, 3 ... */

struct fake_symbol {
	uint64_t address;		/* below FAKE_PERCPU: absolute, if the form can tell that */
	char type;
	const char *name;
};

enum { FAKE_PERCPU = 0x100000 };

struct fake_part {			/* bytes to be put into it, and where, from its start */
	size_t at;
	const void *bytes;
	size_t size;
};

struct fake_linux {
	enum fake_shape shape;
	enum fake_order order;
	enum kallsyms_addresses kind;
	uint64_t start;			/* the link address of its first byte */
	const struct fake_symbol *symbols;	/* sorted by address */
	size_t count;
	const struct fake_part *parts;
	size_t parts_count;
};

/*
 * In fresh memory of the exact size. The sections are .notes, and .orc_unwind_ip, .orc_unwind and .BTF if
 * there are such parts.
 */
uint8_t *fake_linux(const struct fake_linux *fake, size_t *size);

/* Its bytes from the start, without ELF: the memory of a kernel that runs there. */
uint8_t *fake_linux_memory(const struct fake_linux *fake, size_t *size);

/* Packs bytes, with their size behind, and frees the caller's. fake_bzimage: puts that into a bzImage. */
uint8_t *fake_pack(uint8_t *bytes, size_t *size, enum fake_packer packer);
uint8_t *fake_bzimage(uint8_t *packed, size_t *size);

#endif
