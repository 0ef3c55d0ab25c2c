/* SPDX-License-Identifier: MIT */
/* Takes any bytes as a list of symbols, as nm prints it. */
#include "agent/names/files/symbol_table.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct symbol_table *table = symbol_table_new(NULL);
	char *error = NULL;

	if (sym_text_read((const char *)bytes, size, "a list", table, &error))
		require(symbol_table_count(table) || !error);
	else
		require(error);
	symbol_table_sort(table);
	for (uint32_t i = 0; i < symbol_table_count(table); i++) {
		struct symbol symbol = symbol_table_get(table, i), found;
		uint32_t index = symbol_table_find(table, symbol.address);

		if (index == SYMBOL_NONE)
			continue;
		found = symbol_table_get(table, index);
		require(found.address <= symbol.address && symbol.address < found.end);
	}
	symbol_table_free(table);
	free(error);
	return 0;
}
