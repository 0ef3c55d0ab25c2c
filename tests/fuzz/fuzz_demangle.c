/* SPDX-License-Identifier: MIT */
/* Any name: to what a person wrote, and to what a terminal may see. */
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/files/demangle.h"
#include "fuzz.h"

/* No control character, and nothing that a second look would change. */
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
