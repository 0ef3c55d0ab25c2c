/* SPDX-License-Identifier: MIT */
/* Each event's row in docs/wire.md is word for word what wire.h has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/wire.h"

static char *read_page(void)
{
	FILE *file = fopen("docs/wire.md", "r");
	assert_non_null(file);
	char *page = calloc(1, 1 << 16);
	assert_non_null(page);
	assert_true(fread(page, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return page;
}

/* Turns "u32 a;u8[] b;" into what a cell of the page has: "u32 a; u8[] b". */
static void spell(char *to, size_t size, const char *fields)
{
	size_t at = 0;
	for (; *fields && at + 3 < size; fields++) {
		to[at++] = *fields;
		if (*fields == ';')
			to[at++] = ' ';
	}
	to[at > 2 ? at - 2 : 0] = 0;
}

static void each_event_stands_in_the_page(void **state)
{
	(void)state;
	char *page = read_page();
#define CHECK(id, stream, name) { \
		char fields[512], row[640]; \
		spell(fields, sizeof(fields), KTOP_WIRE_FIELDS(name)); \
		snprintf(row, sizeof(row), "\n| %d | %d | %s | %s |\n", id, stream, #name, fields); \
		if (!strstr(page, row)) \
			fail_msg("docs/wire.md lacks the row%s", row); \
	}
	KTOP_WIRE_EVENTS(CHECK)
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_event_stands_in_the_page) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
