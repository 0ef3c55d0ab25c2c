/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/linux/boot_image.h"
#include "agent/names/linux/kallsyms.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/unpack.h"
#include "sym_elf.h"
#include "sym_linux.h"
#include "symbol_table.h"

/* The most bytes of the last function, which has no symbol behind it. */
enum { FUNCTION_MAX = 1 << 20 };

#define BANNER "Linux version "

/* A function ends where any other symbol begins, even one of data. */
static uint64_t end_of(const struct kallsyms *kallsyms, struct kallsyms_cursor *ahead, uint64_t address)
{
	while (ahead->address <= address || ahead->absolute) {
		if (!kallsyms_next(kallsyms, ahead))
			return address < UINT64_MAX - FUNCTION_MAX ? address + FUNCTION_MAX : UINT64_MAX;
	}
	return ahead->address;
}

static bool is_code(const struct kallsyms_cursor *symbol)
{
	return !symbol->absolute && symbol->type && strchr("TtWwi", symbol->type);
}

/* False: the table is full. */
static bool add_symbols(const struct kallsyms *kallsyms, struct symbol_table *table)
{
	struct kallsyms_cursor symbol = { .index = 0 }, ahead = { .index = 0 };
	uint64_t before = UINT64_MAX;

	while (kallsyms_next(kallsyms, &symbol)) {
		struct symbol_entry entry = {
			.address = symbol.address, .name = symbol.name, .name_size = symbol.size,
			.alias = symbol.address == before,
		};

		if (!is_code(&symbol))
			continue;
		before = symbol.address;
		entry.limit = end_of(kallsyms, &ahead, symbol.address);
		if (!symbol_table_add(table, &entry))
			return false;
	}
	return true;
}

static bool take_kernel(struct kernel_bytes *bytes, struct symbol_table *table, struct linux_kernel **kernel,
	struct budget *budget, const char **why)
{
	struct kallsyms kallsyms;

	*why = "no table of symbols was found in it (a kernel without CONFIG_KALLSYMS, or no Linux)";
	if (!bytes || !kallsyms_find(bytes, &kallsyms))
		return false;
	*why = "it does not say where it was linked";
	*kernel = linux_kernel_new(bytes, &kallsyms, budget);
	if (!*kernel)
		return false;
	*why = "there is no memory for its symbols (--memory gives more)";
	if (symbol_table_count(table) || add_symbols(&kallsyms, table))
		return true;
	linux_kernel_free(*kernel);
	*kernel = NULL;
	return false;
}

static bool read_kernel(const struct unpacked *image, struct symbol_table *table, struct linux_kernel **kernel,
	struct budget *budget, const char **why)
{
	struct kernel_bytes bytes;
	bool known = kernel_bytes_set(&bytes, image->bytes, image->size);

	return take_kernel(known ? &bytes : NULL, table, kernel, budget, why);
}

bool sym_linux_read_memory(struct kernel_bytes *memory, struct symbol_table *table, struct build_id *id,
	struct linux_kernel **kernel, struct budget *budget)
{
	const char *why;

	if (!take_kernel(memory, table, kernel, budget, &why))
		return false;
	build_id_set(id, (*kernel)->build_id, (*kernel)->build_id_size);
	return true;
}

bool sym_linux_read(int fd, const char *path, struct symbol_table *table, struct build_id *id,
	struct linux_kernel **kernel, struct budget *budget, char **error)
{
	struct unpacked image;
	const char *why;
	bool read;

	if (!boot_image_read(fd, path, budget, &image, error))
		return false;
	read = read_kernel(&image, table, kernel, budget, &why);
	if (!read && !memmem(image.bytes, image.size, BANNER, strlen(BANNER)))
		why = image.size > 4 && memcmp(image.bytes, "\177ELF", 4) == 0 ?
			"it is a packed ELF file of no Linux kernel; unpack it" :
			"what is packed in it is no Linux kernel";
	unpack_free(&image, budget);
	if (!read)
		return util_fail(error, "cannot load symbols of %s: %s; give vmlinux by --kernel, or System.map by "
			"--symbols", path, why);
	build_id_set(id, (*kernel)->build_id, (*kernel)->build_id_size);
	(*kernel)->room = boot_image_room(fd, &(*kernel)->room_start);
	return true;
}

/* A vmlinux may have gigabytes of lines behind what it loads; those are not read. */
struct linux_kernel *sym_linux_read_elf(int fd, struct symbol_table *table, struct budget *budget)
{
	struct linux_kernel *kernel = NULL;
	struct unpacked file;
	const char *why;

	if (boot_image_read_elf(fd, budget, &file, &why) && memmem(file.bytes, file.size, BANNER, strlen(BANNER)))
		read_kernel(&file, table, &kernel, budget, &why);
	unpack_free(&file, budget);
	return kernel;
}
