/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "gdb_target.h"

enum { BITS = 8, BITS_MAX = 8 * 255 };

/* Overwrites comments with blanks: a register in a comment does not count. */
static void blank_comments(char *text)
{
	static const char begin[] = "<!--", end[] = "-->";
	char *from = text;

	while ((from = strstr(from, begin))) {
		char *to = strstr(from + strlen(begin), end);
		size_t size = to ? (size_t)(to + strlen(end) - from) : strlen(from);

		memset(from, ' ', size);
		from += size;
	}
}

/* Finds an attribute of the tag [at, end). False: it has none of this name, or the value is too long. */
static bool attribute(const char *at, const char *end, const char *name, char to[GDB_NAME])
{
	size_t size = strlen(name);

	for (; at + size + 2 < end; at++) {
		const char *value = at + size + 2, *close;

		if (strchr(" \t\r\n", *at) == NULL || strncmp(at + 1, name, size) != 0 || at[size + 1] != '=')
			continue;
		if (*value != '"' && *value != '\'')
			return false;
		close = memchr(value + 1, *value, (size_t)(end - value - 1));
		if (close == NULL || close - value - 1 >= GDB_NAME)
			return false;
		memcpy(to, value + 1, (size_t)(close - value - 1));
		to[close - value - 1] = '\0';
		return true;
	}
	return false;
}

static bool number_of(const char *at, const char *end, const char *name, unsigned long most, unsigned long *number)
{
	char text[GDB_NAME], *rest;

	if (!attribute(at, end, name, text) || text[0] < '0' || text[0] > '9')
		return false;
	*number = strtoul(text, &rest, 10);
	return *rest == '\0' && *number <= most;
}

static void take_register(struct gdb_target *target, const char *at, const char *end)
{
	static const char *const names[GDB_NAMED] = {
		[GDB_SP_EL0] = "SP_EL0", [GDB_TCR_EL1] = "TCR_EL1", [GDB_TTBR1_EL1] = "TTBR1_EL1",
		[GDB_PRIV] = "priv", [GDB_SATP] = "satp",
	};
	unsigned long bits = 0, number;
	char name[GDB_NAME];

	if (number_of(at, end, "regnum", UINT32_MAX, &number))
		target->next = (uint32_t)(number < GDB_NUMBERS ? number : GDB_NUMBERS);
	if (target->next >= GDB_NUMBERS)
		return;
	for (unsigned i = 0; i < GDB_NAMED && attribute(at, end, "name", name); i++)
		if (strcmp(name, names[i]) == 0)
			target->named[i] = target->next;
	number_of(at, end, "bitsize", BITS_MAX, &bits);
	target->sizes[target->next++] = bits <= BITS_MAX ? (uint8_t)(bits / BITS) : 0;
}

static void take_file(struct gdb_target *target, const char *at, const char *end)
{
	if (target->file_count < GDB_FILES && attribute(at, end, "href", target->files[target->file_count]))
		target->file_count++;
}

static void take_architecture(struct gdb_target *target, const char *at)
{
	size_t size = strcspn(at, "<");

	if (size < GDB_NAME) {
		memcpy(target->architecture, at, size);
		target->architecture[size] = '\0';
	}
}

static bool is_tag(const char *at, const char *name)
{
	size_t size = strlen(name);

	return strncmp(at, name, size) == 0 && at[size] && strchr(" \t\r\n/>", at[size]);
}

void gdb_target_read(struct gdb_target *target, char *text)
{
	const char *at = text;

	blank_comments(text);
	while ((at = strchr(at, '<'))) {
		const char *end = strchr(++at, '>');

		if (end == NULL)
			return;
		if (is_tag(at, "reg"))
			take_register(target, at, end);
		else if (is_tag(at, "xi:include"))
			take_file(target, at, end);
		else if (is_tag(at, "architecture"))
			take_architecture(target, end + 1);
		at = end;
	}
}

const char *gdb_target_name(const struct gdb_target *target)
{
	static const struct { const char *architecture, *name; } known[] = {
		{ "i386:x86-64", "x86_64" }, { "i386", "i386" }, { "riscv:rv64", "riscv64" },
		{ "aarch64", "aarch64" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(target->architecture, known[i].architecture) == 0)
			return known[i].name;
	return NULL;
}

long gdb_target_offset(const struct gdb_target *target, unsigned number)
{
	long offset = 0;

	if (number >= GDB_NUMBERS || target->sizes[number] == 0)
		return -1;
	for (unsigned i = 0; i < number; i++)
		offset += target->sizes[i];
	return offset;
}
