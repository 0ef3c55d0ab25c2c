/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "tui/terminal/canvas.h"
#include "canvas_dump.h"
#include "golden.h"

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = util_alloc(1 << 20);

	if (!file)
		fail_msg("%s is not there; `make golden` makes it", path);
	text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void fail_at(const char *path, const char *wanted, const char *text)
{
	int line = 1;

	while (strcspn(wanted, "\n") == strcspn(text, "\n") && *text != '\0' &&
		strncmp(wanted, text, strcspn(text, "\n") + 1) == 0) {
		wanted += strcspn(wanted, "\n") + 1;
		text += strcspn(text, "\n") + 1;
		line++;
	}
	fail_msg("%s:%d: it should be\n%.*s\nand is\n%.*s", path, line,
		(int)strcspn(wanted, "\n"), wanted, (int)strcspn(text, "\n"), text);
}

void golden_check_text(const char *name, const char *text)
{
	char *path = util_format("tests/golden/%s.txt", name), *wanted;
	const char *mode = getenv("GOLDEN");

	if (mode && strcmp(mode, "write") == 0)
		write_file(path, text);
	wanted = read_file(path);
	if (strcmp(wanted, text) != 0)
		fail_at(path, wanted, text);
	free(wanted);
	free(path);
}

void golden_check(const char *name, const struct canvas *canvas)
{
	char *text = canvas_dump(canvas);

	golden_check_text(name, text);
	free(text);
}
