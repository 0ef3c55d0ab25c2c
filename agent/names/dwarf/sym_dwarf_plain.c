/* SPDX-License-Identifier: MIT */
/*
 * ELF files whose sections are packed by zstd, as debug sections of kernels are: libelf and libdw know zstd from
 * version 0.189 on only. Such a file is made once more, in memory, with these sections unpacked behind its end.
 */
#include <gelf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/names/linux/unpack.h"
#include "sym_dwarf_state.h"

enum {
	ZSTD = 2,			/* ELFCOMPRESS_ZSTD, which older headers do not have */
	ALIGN = 16,
	BLOCK = 128 << 10, BLOCK_LEAST = 4,	/* bytes of zstd's largest block; and packed, of its smallest one */
};

#define IMAGE_MOST (UINT64_C(1) << 40)	/* bytes; no file is larger */

struct making {
	Elf *elf;
	GElf_Ehdr header;
	uint64_t file_size;
	uint64_t end;			/* of the image so far */
};

static bool is_packed(Elf_Scn *section, GElf_Shdr *header, GElf_Chdr *packed)
{
	return gelf_getshdr(section, header) && header->sh_flags & SHF_COMPRESSED && header->sh_type != SHT_NOBITS &&
		gelf_getchdr(section, packed) && packed->ch_type == ZSTD;
}

/* Where the section is once it is unpacked. UINT64_MAX: the image would be too large. */
static uint64_t take_place(struct making *making, const GElf_Chdr *packed)
{
	uint64_t at = (making->end + ALIGN - 1) / ALIGN * ALIGN;

	if (at > IMAGE_MOST || packed->ch_size > IMAGE_MOST - at)
		return UINT64_MAX;
	making->end = at + packed->ch_size;
	return at;
}

/* Counts the packed sections, and the bytes up to the end of the last one. False: too many, or they cannot be. */
static bool measure(struct making *making, size_t *count)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;

	*count = 0;
	making->end = making->file_size;
	while ((section = elf_nextscn(making->elf, section))) {
		if (!is_packed(section, &header, &packed))
			continue;
		if (packed.ch_size / BLOCK > header.sh_size / BLOCK_LEAST || take_place(making, &packed) == UINT64_MAX)
			return false;
		++*count;
	}
	return true;
}

/* Writes the header of a section into the image, in the file's own form. */
static bool put_header(const struct making *making, uint8_t *image, size_t index, GElf_Shdr *header)
{
	size_t size = gelf_fsize(making->elf, ELF_T_SHDR, 1, EV_CURRENT);
	uint64_t at = making->header.e_shoff + index * size;
	Elf32_Shdr narrow = {
		.sh_name = header->sh_name, .sh_type = header->sh_type, .sh_flags = (Elf32_Word)header->sh_flags,
		.sh_addr = (Elf32_Addr)header->sh_addr, .sh_offset = (Elf32_Off)header->sh_offset,
		.sh_size = (Elf32_Word)header->sh_size, .sh_link = header->sh_link, .sh_info = header->sh_info,
		.sh_addralign = (Elf32_Word)header->sh_addralign, .sh_entsize = (Elf32_Word)header->sh_entsize,
	};
	bool wide = making->header.e_ident[EI_CLASS] == ELFCLASS64;
	Elf_Data from = { .d_type = ELF_T_SHDR, .d_version = EV_CURRENT, .d_size = size }, to = from;

	if (making->header.e_shentsize != size || at < making->header.e_shoff ||
			at > making->file_size || making->file_size - at < size || (!wide && making->end > UINT32_MAX))
		return false;
	from.d_buf = wide ? (void *)header : &narrow;
	to.d_buf = image + at;
	return gelf_xlatetof(making->elf, &to, &from, making->header.e_ident[EI_DATA]);
}

static bool unpack_section(struct making *making, uint8_t *image, Elf_Scn *section, GElf_Shdr *header,
	const GElf_Chdr *packed)
{
	size_t head = gelf_fsize(making->elf, ELF_T_CHDR, 1, EV_CURRENT);
	uint64_t at = take_place(making, packed);

	if (header->sh_offset > making->file_size || header->sh_size > making->file_size - header->sh_offset ||
			header->sh_size < head || !unpack_zstd_all(image + header->sh_offset + head,
				header->sh_size - head, image + at, packed->ch_size))
		return false;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header->sh_offset = at;
	header->sh_size = packed->ch_size;
	header->sh_addralign = packed->ch_addralign;
	return put_header(making, image, elf_ndxscn(section), header);
}

static bool unpack_sections(struct making *making, uint8_t *image)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;

	making->end = making->file_size;
	while ((section = elf_nextscn(making->elf, section)))
		if (is_packed(section, &header, &packed) &&
				!unpack_section(making, image, section, &header, &packed))
			return false;
	return true;
}

static bool read_all(int fd, uint8_t *to, uint64_t size)
{
	for (uint64_t at = 0; at < size;) {
		ssize_t got = pread(fd, to + at, size - at, (off_t)at);

		if (got <= 0)
			return false;
		at += (uint64_t)got;
	}
	return true;
}

/* The file, with room behind it. NULL: there is no memory. */
static uint8_t *image_of(const struct making *making, int fd, bool map, bool *read)
{
	uint8_t *image = mmap(NULL, making->end, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*read = true;
	if (image == MAP_FAILED)
		return NULL;
	if (!map)
		*read = read_all(fd, image, making->file_size);
	else
		*read = mmap(image, making->file_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, 0) !=
			MAP_FAILED;
	return image;
}

enum elf_plain_state elf_plain_make(struct elf_plain *plain, Elf *elf, int fd, bool map, struct budget *budget)
{
	struct making making = { .elf = elf };
	struct stat facts;
	size_t count;
	bool read;

	*plain = (struct elf_plain) { .image = NULL };
	if (!gelf_getehdr(elf, &making.header) || fstat(fd, &facts) != 0 || facts.st_size <= 0)
		return ELF_PLAIN_DAMAGED;
	making.file_size = (uint64_t)facts.st_size;
	if (!measure(&making, &count))
		return ELF_PLAIN_DAMAGED;
	if (!count)
		return ELF_PLAIN_ALREADY;
	plain->size = making.end;
	plain->paid = making.end - (map ? making.file_size : 0);
	if (!budget_take(budget, plain->paid))
		return ELF_PLAIN_FULL;
	plain->image = image_of(&making, fd, map, &read);
	if (plain->image && read && unpack_sections(&making, plain->image))
		return ELF_PLAIN_MADE;
	if (!plain->image)
		budget_give(budget, plain->paid);
	read = plain->image;
	elf_plain_clear(plain, budget);
	return read ? ELF_PLAIN_DAMAGED : ELF_PLAIN_FULL;
}

void elf_plain_clear(struct elf_plain *plain, struct budget *budget)
{
	if (!plain->image)
		return;
	munmap(plain->image, plain->size);
	budget_give(budget, plain->paid);
	*plain = (struct elf_plain) { .image = NULL };
}
