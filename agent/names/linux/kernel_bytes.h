/* SPDX-License-Identifier: MIT */
/*
 * A Linux kernel's bytes, and which addresses they have: of its image, by the program headers of ELF;
 * of one that is only bytes, or was read out of memory, from one address on. Nothing is owned.
 */
#ifndef KERNEL_BYTES_H
#define KERNEL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KERNEL_PARTS = 16 };

enum kernel_machine { KERNEL_OTHER, KERNEL_X86_64, KERNEL_I386, KERNEL_ARM64, KERNEL_RISCV64 };

struct kernel_part {
	uint64_t address;
	size_t offset, size;
};

struct kernel_bytes {
	const uint8_t *bytes;
	size_t size;
	enum kernel_machine machine;
	bool elf;
	size_t count;
	struct kernel_part parts[KERNEL_PARTS];
};

/* By what the bytes are. False: neither ELF, little-endian, nor an Image. */
bool kernel_bytes_set(struct kernel_bytes *kernel, const uint8_t *bytes, size_t size);

/* One that is only bytes: where the first one lies. */
void kernel_bytes_place(struct kernel_bytes *kernel, uint64_t address);

size_t kernel_bytes_word(const struct kernel_bytes *kernel);	/* of an address: 4 or 8 */

/* The bytes at an address; NULL: not all of them are there. */
const uint8_t *kernel_bytes_at(const struct kernel_bytes *kernel, uint64_t address, size_t size);

/* Of some of the bytes: their address. False: they have none. */
bool kernel_bytes_address(const struct kernel_bytes *kernel, size_t offset, uint64_t *address);

/* A section of an ELF file that lies in it as it is. False: there is none of that name. */
bool kernel_bytes_section(const struct kernel_bytes *kernel, const char *name, struct kernel_part *section);

#endif
