/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>

#include "agent/base/util.h"
#include "kernel_bytes.h"

enum { IMAGE_MAGIC = 0x38, SECTIONS_MAX = 4096 };

/* The offsets of fields in ELF32 and ELF64 (ELF gABI 4.1, chapters 4 and 5). */
struct shape {
	size_t header, phoff, shoff, phentsize;		/* phnum, shentsize, shnum, shstrndx follow that */
	size_t program, p_offset, p_vaddr, p_filesz;
	size_t section, sh_addr, sh_offset, sh_size;	/* sh_name, sh_type: 0 and 4 in both */
};

static const struct shape shapes[] = {
	{
		.header = sizeof(Elf32_Ehdr), .phoff = offsetof(Elf32_Ehdr, e_phoff),
		.shoff = offsetof(Elf32_Ehdr, e_shoff), .phentsize = offsetof(Elf32_Ehdr, e_phentsize),
		.program = sizeof(Elf32_Phdr), .p_offset = offsetof(Elf32_Phdr, p_offset),
		.p_vaddr = offsetof(Elf32_Phdr, p_vaddr), .p_filesz = offsetof(Elf32_Phdr, p_filesz),
		.section = sizeof(Elf32_Shdr), .sh_addr = offsetof(Elf32_Shdr, sh_addr),
		.sh_offset = offsetof(Elf32_Shdr, sh_offset), .sh_size = offsetof(Elf32_Shdr, sh_size),
	}, {
		.header = sizeof(Elf64_Ehdr), .phoff = offsetof(Elf64_Ehdr, e_phoff),
		.shoff = offsetof(Elf64_Ehdr, e_shoff), .phentsize = offsetof(Elf64_Ehdr, e_phentsize),
		.program = sizeof(Elf64_Phdr), .p_offset = offsetof(Elf64_Phdr, p_offset),
		.p_vaddr = offsetof(Elf64_Phdr, p_vaddr), .p_filesz = offsetof(Elf64_Phdr, p_filesz),
		.section = sizeof(Elf64_Shdr), .sh_addr = offsetof(Elf64_Shdr, sh_addr),
		.sh_offset = offsetof(Elf64_Shdr, sh_offset), .sh_size = offsetof(Elf64_Shdr, sh_size),
	},
};

static const struct shape *shape_of(const struct kernel_bytes *kernel)
{
	return &shapes[kernel->bytes[EI_CLASS] == ELFCLASS64];
}

static uint64_t word_at(const struct kernel_bytes *kernel, size_t at)
{
	return kernel->bytes[EI_CLASS] == ELFCLASS64 ? bytes_64(kernel->bytes + at) : bytes_32(kernel->bytes + at);
}

/* The offset of row `index` in a table of headers. SIZE_MAX: it lies beyond the end. */
static size_t row_at(const struct kernel_bytes *kernel, size_t table, size_t row, size_t index)
{
	uint64_t start = word_at(kernel, table), at = start + index * row;

	return start <= kernel->size && at <= kernel->size && row <= kernel->size - at ? (size_t)at : SIZE_MAX;
}

/* Sets the part to what the file has of it. False: it has nothing. */
static bool hold(const struct kernel_bytes *kernel, struct kernel_part *part, uint64_t offset, uint64_t size)
{
	if (offset >= kernel->size || !size)
		return false;
	part->offset = (size_t)offset;
	part->size = size < kernel->size - offset ? (size_t)size : kernel->size - (size_t)offset;
	return part->address + part->size > part->address;
}

static bool is_elf(const struct kernel_bytes *kernel)
{
	const uint8_t *bytes = kernel->bytes;

	return kernel->size > EI_DATA && memcmp(bytes, ELFMAG, SELFMAG) == 0 &&
		kernel->size >= shape_of(kernel)->header && bytes[EI_DATA] == ELFDATA2LSB;
}

/* The offset of the first program header of a segment, from `*index` on; moves that behind it. SIZE_MAX: none. */
static size_t next_segment(const struct kernel_bytes *kernel, size_t *index)
{
	const struct shape *shape = shape_of(kernel);
	size_t count = bytes_16(kernel->bytes + shape->phentsize + 2);

	while (*index < count) {
		size_t at = row_at(kernel, shape->phoff, shape->program, (*index)++);

		if (at != SIZE_MAX && bytes_32(kernel->bytes + at) == PT_LOAD)
			return at;
	}
	return SIZE_MAX;
}

uint64_t kernel_bytes_loaded(const uint8_t *head, size_t size)
{
	const struct kernel_bytes kernel = { .bytes = head, .size = size };
	const struct shape *shape;
	uint64_t most = 0;
	size_t index = 0, at;

	if (!is_elf(&kernel))
		return 0;
	shape = shape_of(&kernel);
	while ((at = next_segment(&kernel, &index)) != SIZE_MAX) {
		uint64_t begin = word_at(&kernel, at + shape->p_offset), end;

		end = begin + word_at(&kernel, at + shape->p_filesz);
		if (end >= begin && end > most)
			most = end;
	}
	return most;
}

static void set_elf(struct kernel_bytes *kernel)
{
	const uint8_t *bytes = kernel->bytes;
	const struct shape *shape = shape_of(kernel);
	size_t index = 0, at;

	kernel->elf = true;
	kernel->arch = arch_id_elf(bytes_16(bytes + offsetof(Elf64_Ehdr, e_machine)));
	while (kernel->count < KERNEL_PARTS && (at = next_segment(kernel, &index)) != SIZE_MAX) {
		struct kernel_part *part = &kernel->parts[kernel->count];

		part->address = word_at(kernel, at + shape->p_vaddr);
		kernel->count += hold(kernel, part, word_at(kernel, at + shape->p_offset),
			word_at(kernel, at + shape->p_filesz));
	}
}

static bool set_image(struct kernel_bytes *kernel)
{
	const uint8_t *magic = kernel->bytes + IMAGE_MAGIC;

	if (kernel->size < IMAGE_MAGIC + 4)
		return false;
	kernel->arch = memcmp(magic, "ARM\x64", 4) == 0 ? ARCH_AARCH64 :
		memcmp(magic, "RSC\x05", 4) == 0 ? ARCH_RISCV64 : ARCH_OTHER;
	return kernel->arch != ARCH_OTHER;
}

bool kernel_bytes_set(struct kernel_bytes *kernel, const uint8_t *bytes, size_t size)
{
	*kernel = (struct kernel_bytes) { .bytes = bytes, .size = size };
	if (!is_elf(kernel))
		return set_image(kernel);
	set_elf(kernel);
	return true;
}

void kernel_bytes_place(struct kernel_bytes *kernel, uint64_t address)
{
	kernel->count = 1;
	kernel->parts[0] = (struct kernel_part) { .address = address, .size = kernel->size };
}

size_t kernel_bytes_word(const struct kernel_bytes *kernel)
{
	return kernel->arch == ARCH_I386 ? 4 : 8;
}

const uint8_t *kernel_bytes_at(const struct kernel_bytes *kernel, uint64_t address, size_t size)
{
	for (size_t i = 0; i < kernel->count; i++) {
		const struct kernel_part *part = &kernel->parts[i];

		if (address >= part->address && address - part->address <= part->size &&
				size <= part->size - (address - part->address))
			return kernel->bytes + part->offset + (address - part->address);
	}
	return NULL;
}

bool kernel_bytes_address(const struct kernel_bytes *kernel, size_t offset, uint64_t *address)
{
	for (size_t i = 0; i < kernel->count; i++) {
		const struct kernel_part *part = &kernel->parts[i];

		if (offset >= part->offset && offset - part->offset < part->size) {
			*address = part->address + (offset - part->offset);
			return true;
		}
	}
	return false;
}

static bool has_name(const struct kernel_bytes *kernel, const struct kernel_part *names, uint32_t at,
	const char *name)
{
	size_t size = strlen(name) + 1;

	return at < names->size && size <= names->size - at &&
		memcmp(kernel->bytes + names->offset + at, name, size) == 0;
}

static bool read_section(const struct kernel_bytes *kernel, size_t index, struct kernel_part *section,
	uint32_t *name)
{
	const struct shape *shape = shape_of(kernel);
	size_t at = row_at(kernel, shape->shoff, shape->section, index);

	if (at == SIZE_MAX || bytes_32(kernel->bytes + at + 4) == SHT_NOBITS)
		return false;
	*name = bytes_32(kernel->bytes + at);
	section->address = word_at(kernel, at + shape->sh_addr);
	return hold(kernel, section, word_at(kernel, at + shape->sh_offset),
		word_at(kernel, at + shape->sh_size));
}

bool kernel_bytes_section(const struct kernel_bytes *kernel, const char *name, struct kernel_part *section)
{
	const uint8_t *counts = kernel->bytes + (kernel->elf ? shape_of(kernel)->phentsize : 0);
	struct kernel_part names;
	uint32_t at;

	if (!kernel->elf || !read_section(kernel, bytes_16(counts + 8), &names, &at))
		return false;
	for (size_t i = 1; i < bytes_16(counts + 6) && i < SECTIONS_MAX; i++) {
		if (read_section(kernel, i, section, &at) && has_name(kernel, &names, at, name))
			return true;
	}
	return false;
}
