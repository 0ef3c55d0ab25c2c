/* SPDX-License-Identifier: MIT */
/* Takes any bytes as an ELF file, and reads its symbols and its build-id. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "fuzz.h"

static void look_up(const struct symbol_table *table)
{
	for (uint32_t i = 0; i < symbol_table_count(table); i++) {
		struct symbol symbol = symbol_table_get(table, i), found;
		uint32_t index = symbol_table_find(table, symbol.address);
		uint64_t address;

		require(i > 64 || symbol_table_address(table, symbol.name, &address));
		if (index == SYMBOL_NONE)
			continue;
		found = symbol_table_get(table, index);
		require(found.address <= symbol.address && symbol.address < found.end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct symbol_table *table = symbol_table_new(NULL);
	struct build_id id;
	char *error = NULL;

	require(write(fd, bytes, size) == (ssize_t)size);
	if (sym_elf_read(fd, "a file", table, &id, NULL, &error))
		require(id.size <= sizeof(id.bytes));
	else
		require(error);
	sym_elf_add_frames(fd, "a file", true, table, NULL);
	symbol_table_sort(table);
	look_up(table);
	symbol_table_free(table);
	free(error);
	close(fd);
	return 0;
}
