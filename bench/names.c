/* SPDX-License-Identifier: MIT */
/*
 * `names COUNT nm|elf FILE` writes the symbols of a made-up kernel. Symbol i is function i of the world (world.h).
 * Names are as long as those of Linux.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "world.h"

enum { SYMBOLS = 1, STRINGS, TEXT, SECTIONS, NAME = 32 };

static const char section_names[] = "\0.text";

static char *name_of(uint32_t number, char *name)
{
	static const char *const things[] = { "inode", "page", "slab", "queue", "timer", "socket" };
	static const char *const verbs[] = { "lookup", "insert", "release", "wait", "wakeup" };

	snprintf(name, NAME, "kern_%s_%s_%u", things[number % 6], verbs[number / 6 % 5], number);
	return name;
}

static void write_nm(FILE *file, uint32_t count)
{
	char name[NAME];

	fprintf(file, "%016lx T _text\n", (unsigned long)WORLD_TEXT);	/* perf asks for it */
	for (uint32_t i = 0; i < count; i++)
		fprintf(file, "%016lx T %s\n",
			(unsigned long)(WORLD_TEXT + (uint64_t)i * WORLD_FUNCTION), name_of(i, name));
}

/* Writes the names one after the other, from offset 1 on, and sets each symbol's offset. */
static size_t make_strings(char *strings, Elf64_Sym *symbols, uint32_t count)
{
	size_t size = 1;

	for (uint32_t i = 0; i < count; i++) {
		symbols[i + 1] = (Elf64_Sym) {
			.st_name = (Elf64_Word)size,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = TEXT,
			.st_value = WORLD_TEXT + (uint64_t)i * WORLD_FUNCTION,
			.st_size = WORLD_FUNCTION,
		};
		size += strlen(name_of(i, strings + size)) + 1;
	}
	return size;
}

static void write_elf(FILE *file, uint32_t count)
{
	char *strings = util_alloc((size_t)count * NAME + 1);
	Elf64_Sym *symbols = util_alloc((count + 1) * sizeof(*symbols));
	size_t table = (count + 1) * sizeof(*symbols), texts = make_strings(strings, symbols, count);
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_shoff = sizeof(header), .e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS, .e_shstrndx = STRINGS,
	};
	const size_t data = sizeof(header) + SECTIONS * sizeof(Elf64_Shdr);
	const Elf64_Shdr sections[SECTIONS] = {
		[SYMBOLS] = { .sh_type = SHT_SYMTAB, .sh_offset = data, .sh_size = table,
			.sh_link = STRINGS, .sh_info = 1, .sh_entsize = sizeof(*symbols),
			.sh_addralign = 8 },
		[STRINGS] = { .sh_type = SHT_STRTAB, .sh_offset = data + table,
			.sh_size = texts + sizeof(section_names), .sh_addralign = 1 },
		[TEXT] = { .sh_name = (Elf64_Word)texts + 1, .sh_type = SHT_NOBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = WORLD_TEXT,
			.sh_size = (uint64_t)count * WORLD_FUNCTION, .sh_addralign = 16 },
	};

	fwrite(&header, sizeof(header), 1, file);
	fwrite(sections, sizeof(sections), 1, file);
	fwrite(symbols, table, 1, file);
	fwrite(strings, texts, 1, file);
	fwrite(section_names, sizeof(section_names), 1, file);
	free(symbols);
	free(strings);
}

int main(int argc, char **argv)
{
	bool elf = argc == 4 && strcmp(argv[2], "elf") == 0;
	FILE *file = argc == 4 ? fopen(argv[3], "w") : NULL;

	if (!file) {
		fprintf(stderr, "usage: %s COUNT nm|elf FILE\n", argv[0]);
		return 2;
	}
	(elf ? write_elf : write_nm)(file, (uint32_t)strtoul(argv[1], NULL, 10));
	return fclose(file) == 0 ? 0 : 1;
}
