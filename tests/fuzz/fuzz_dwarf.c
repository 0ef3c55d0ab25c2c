/* SPDX-License-Identifier: MIT */
/* Takes any bytes as an ELF file with DWARF; asks for lines and code at and beside its symbols. */
#include <sys/mman.h>
#include <unistd.h>

#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "fuzz.h"

enum { SYMBOLS = 32 };

static bool full;			/* set if NULL means that memory is out; without a budget it never is */

static void look_up(struct sym_dwarf *dwarf, const struct symbol_table *table)
{
	free(sym_dwarf_line(dwarf, 0, &full));
	free(sym_dwarf_line(dwarf, UINT64_MAX, &full));
	free(sym_dwarf_inlined(dwarf, 0, &full));
	free(sym_dwarf_lines_at(dwarf, 0, &full));
	for (uint32_t i = 0; i < symbol_table_count(table) && i < SYMBOLS; i++) {
		uint64_t address = symbol_table_get(table, i).address;

		free(sym_dwarf_line(dwarf, address, &full));
		free(sym_dwarf_line(dwarf, address + 1, &full));
		free(sym_dwarf_inlined(dwarf, address + 1, &full));
		free(sym_dwarf_lines_at(dwarf, address + 1, &full));
		code_lines_free(sym_dwarf_code(dwarf, address, symbol_table_get(table, i).end, &full));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct symbol_table *table = symbol_table_new(NULL);
	struct sym_dwarf *dwarf;
	struct build_id id;

	require(write(fd, bytes, size) == (ssize_t)size);
	sym_elf_read(fd, "a file", table, &id, NULL, NULL);
	symbol_table_sort(table);
	dwarf = sym_dwarf_new(fd, NULL, NULL, &full);
	if (dwarf)
		look_up(dwarf, table);
	sym_dwarf_free(dwarf);
	symbol_table_free(table);
	close(fd);
	return 0;
}
