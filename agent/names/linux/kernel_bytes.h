/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a Linux kernel, and their addresses. An ELF file tells the addresses in its program headers.
 * Bytes of an Image, or read from memory, lie one after another from a single address on. Nothing is owned.
 */
#ifndef KERNEL_BYTES_H
#define KERNEL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/arch_id.h"

enum { KERNEL_PARTS = 16 };

struct kernel_part {
	uint64_t address;
	size_t offset, size;
};

struct kernel_bytes {
	const uint8_t *bytes;
	size_t size;
	enum arch_id arch;
	bool elf;
	size_t count;
	struct kernel_part parts[KERNEL_PARTS];
};

/* Finds out what the bytes are. False: neither a little-endian ELF file nor an Image. */
bool kernel_bytes_set(struct kernel_bytes *kernel, const uint8_t *bytes, size_t size);

/*
 * How much of an ELF file its segments take, from the file's beginning on, by the program headers in the `size` bytes
 * that it begins with. 0: it is no little-endian ELF file.
 */
uint64_t kernel_bytes_loaded(const uint8_t *head, size_t size);

/* Sets the address of the first byte, if the bytes are no ELF file. */
void kernel_bytes_place(struct kernel_bytes *kernel, uint64_t address);

size_t kernel_bytes_word(const struct kernel_bytes *kernel);	/* bytes of an address: 4 or 8 */

/* The bytes at an address. NULL: some of them are missing. */
const uint8_t *kernel_bytes_at(const struct kernel_bytes *kernel, uint64_t address, size_t size);

/* The address of the byte at `offset`. False: it has none. */
bool kernel_bytes_address(const struct kernel_bytes *kernel, size_t offset, uint64_t *address);

/* A section of an ELF file that is stored in it uncompressed. False: there is none of that name. */
bool kernel_bytes_section(const struct kernel_bytes *kernel, const char *name, struct kernel_part *section);

#endif
