/* SPDX-License-Identifier: MIT */
/* Demangles any name, and makes it printable for a terminal. */
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/files/symbol_table.h"
#include "fuzz.h"

/* The text has no control character, and making it printable again does not change it. */
static void check_printable(const char *text)
{
	char *once = util_printable(text, strlen(text));
	char *twice = util_printable(once, strlen(once));

	for (const char *at = once; *at; at++)
		require((unsigned char)*at >= ' ' && *at != 127);
	require(strcmp(once, twice) == 0);
	free(once);
	free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *name = util_copy((const char *)bytes, size), *text = demangle(name);

	check_printable(name);
	if (text) {
		require(text[0] && strlen(text) <= DEMANGLE_OUT_MAX);
		check_printable(text);
	}
	free(text);
	free(name);
	return 0;
}
