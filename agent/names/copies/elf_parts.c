/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/bytes.h"
#include "elf_parts.h"

enum {
	SEGMENTS_MAX = 64, SECTIONS_MAX = 512,
	NOTES_MAX = 4096,		/* bytes of one section; a build-id is in a short one */
};

struct section {
	uint32_t name, type, link;
	uint64_t offset, size;
};

static bool read_bytes(int fd, void *bytes, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* False: there is no room for it. */
static bool add(struct elf_ranges *ranges, uint64_t offset, uint64_t size)
{
	if (ranges->count == ELF_RANGES_MAX)
		return false;
	ranges->list[ranges->count].offset = offset;
	ranges->list[ranges->count++].size = size;
	return true;
}

static bool read_head(int fd, uint8_t head[sizeof(Elf64_Ehdr)])
{
	return read_bytes(fd, head, sizeof(Elf64_Ehdr), 0) && memcmp(head, ELFMAG, SELFMAG) == 0 &&
		head[EI_CLASS] == ELFCLASS64 && head[EI_DATA] == ELFDATA2LSB;
}

static uint16_t sections_of(const uint8_t *head)
{
	return bytes_16(head + offsetof(Elf64_Ehdr, e_shnum));
}

static bool find_tables(const uint8_t *head, struct elf_ranges *ranges)
{
	uint16_t segments = bytes_16(head + offsetof(Elf64_Ehdr, e_phnum)), sections = sections_of(head);

	return segments && segments <= SEGMENTS_MAX && sections && sections <= SECTIONS_MAX &&
		bytes_16(head + offsetof(Elf64_Ehdr, e_phentsize)) == sizeof(Elf64_Phdr) &&
		bytes_16(head + offsetof(Elf64_Ehdr, e_shentsize)) == sizeof(Elf64_Shdr) &&
		add(ranges, bytes_64(head + offsetof(Elf64_Ehdr, e_phoff)), segments * sizeof(Elf64_Phdr)) &&
		add(ranges, bytes_64(head + offsetof(Elf64_Ehdr, e_shoff)), sections * sizeof(Elf64_Shdr));
}

static bool read_section(int fd, const uint8_t *head, uint32_t index, struct section *section)
{
	uint8_t bytes[sizeof(Elf64_Shdr)];

	if (index >= sections_of(head) || !read_bytes(fd, bytes, sizeof(bytes),
			bytes_64(head + offsetof(Elf64_Ehdr, e_shoff)) + index * sizeof(bytes)))
		return false;
	*section = (struct section) {
		.name = bytes_32(bytes + offsetof(Elf64_Shdr, sh_name)),
		.type = bytes_32(bytes + offsetof(Elf64_Shdr, sh_type)),
		.link = bytes_32(bytes + offsetof(Elf64_Shdr, sh_link)),
		.offset = bytes_64(bytes + offsetof(Elf64_Shdr, sh_offset)),
		.size = bytes_64(bytes + offsetof(Elf64_Shdr, sh_size)),
	};
	return true;
}

static bool read_names(int fd, const uint8_t *head, struct section *names)
{
	return read_section(fd, head, bytes_16(head + offsetof(Elf64_Ehdr, e_shstrndx)), names) &&
		names->type == SHT_STRTAB;
}

/* Has the section the call frame information, or the index of it? */
static bool is_frames(int fd, const struct section *names, const struct section *section)
{
	static const char frames[] = ".eh_frame", index[] = ".eh_frame_hdr";
	char name[sizeof(index)] = "";

	if (section->type == SHT_NOBITS || section->name >= names->size ||
			!read_bytes(fd, name, sizeof(frames), names->offset + section->name))
		return false;
	if (memcmp(name, frames, sizeof(frames)) == 0)
		return true;
	return read_bytes(fd, name, sizeof(index), names->offset + section->name) &&
		memcmp(name, index, sizeof(index)) == 0;
}

static bool find_contents(int fd, const uint8_t *head, struct elf_ranges *ranges)
{
	struct section names, section, linked;
	bool good = read_names(fd, head, &names);

	for (uint32_t i = 1; good && i < sections_of(head); i++) {
		if (!read_section(fd, head, i, &section))
			return false;
		if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
			good = read_section(fd, head, section.link, &linked) &&
				add(ranges, section.offset, section.size) && add(ranges, linked.offset, linked.size);
		else if ((section.type == SHT_NOTE && section.size <= NOTES_MAX) || is_frames(fd, &names, &section))
			good = add(ranges, section.offset, section.size);
	}
	return good;
}

/* The segments that are loaded. A file with .symtab needs them not. */
static bool find_loaded(int fd, const uint8_t *head, struct elf_ranges *ranges)
{
	uint64_t table = bytes_64(head + offsetof(Elf64_Ehdr, e_phoff));
	struct section section;
	bool good = true;

	for (uint32_t i = 1; i < sections_of(head); i++)
		if (read_section(fd, head, i, &section) && section.type == SHT_SYMTAB)
			return true;
	for (uint16_t i = 0; good && i < bytes_16(head + offsetof(Elf64_Ehdr, e_phnum)); i++) {
		uint8_t bytes[sizeof(Elf64_Phdr)];

		good = read_bytes(fd, bytes, sizeof(bytes), table + i * sizeof(bytes));
		if (good && bytes_32(bytes + offsetof(Elf64_Phdr, p_type)) == PT_LOAD)
			good = add(ranges, bytes_64(bytes + offsetof(Elf64_Phdr, p_offset)),
				bytes_64(bytes + offsetof(Elf64_Phdr, p_filesz)));
	}
	return good;
}

bool elf_parts_find(int fd, enum elf_part part, struct elf_ranges *ranges)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	struct section names;

	*ranges = (struct elf_ranges) { .count = 0 };
	if (part == ELF_PART_HEAD)
		return add(ranges, 0, sizeof(head));
	if (!read_head(fd, head))
		return false;
	if (part == ELF_PART_TABLES)
		return find_tables(head, ranges);
	if (part == ELF_PART_CONTENTS)
		return find_contents(fd, head, ranges);
	if (part == ELF_PART_LOADED)
		return find_loaded(fd, head, ranges);
	return read_names(fd, head, &names) && add(ranges, names.offset, names.size);
}
