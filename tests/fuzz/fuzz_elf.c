/* SPDX-License-Identifier: MIT */
/* Takes any bytes as an ELF file, and reads its symbols, its build-id, and the sizes of its code. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "agent/size/code_sizes.h"
#include "agent/size/size_request.h"
#include "agent/size/size_rows.h"
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

/* Whatever the rows are, they have all bytes of the code. */
static void tell_sizes(struct code_sizes *sizes, FILE *out)
{
	for (int by = 0; by < SIZE_BYS; by++) {
		struct size_asked asked = { .by = (enum size_by)by };
		const char *nothing = NULL;
		struct size_rows rows;

		if (size_rows_make(sizes, &asked, &rows))
			require(rows.bytes[SIZE_BEFORE] == sizes->objects[0].bytes);
		size_rows_clear(&rows, sizes);
		size_text.write(sizes, &asked, 0, out, &nothing);
		size_json.write(sizes, &asked, 0, out, &nothing);
		size_folded.write(sizes, &asked, 0, out, &nothing);
	}
}

static void measure(int fd)
{
	struct code_sizes *sizes = code_sizes_new(NULL);
	char *path = util_format("/proc/self/fd/%d", fd), *error = NULL;
	FILE *out = fopen("/dev/null", "w");

	if (!code_sizes_add(sizes, path, NULL, &error))
		require(error);
	else if (out)
		tell_sizes(sizes, out);
	if (out)
		fclose(out);
	free(error);
	free(path);
	code_sizes_free(sizes);
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
	sym_elf_add_bare(fd, "a file", true, table, NULL);
	symbol_table_sort(table);
	look_up(table);
	symbol_table_free(table);
	free(error);
	measure(fd);
	close(fd);
	return 0;
}
