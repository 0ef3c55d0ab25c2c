/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/function.h"
#include "agent/names/linux/boot_image.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "code_bytes.h"

static void take_part(struct code_bytes *code, const struct unpacked *image, const struct code_file *file,
	uint64_t low, size_t size)
{
	struct kernel_bytes kernel;
	const uint8_t *bytes;

	if (!kernel_bytes_set(&kernel, image->bytes, image->size))
		return;
	if (!kernel.elf)
		kernel_bytes_place(&kernel, file->start);
	bytes = kernel_bytes_at(&kernel, low, size);
	if (!bytes)
		return;
	memcpy(code->bytes, bytes, size);
	code->size = size;
	code->arch = kernel.arch;
}

/* The image is unpacked anew each time: keeping it would take more memory than all else. */
static void read_image(struct code_bytes *code, const struct code_file *file, uint64_t low, size_t size,
	struct budget *budget)
{
	struct unpacked image;
	char *error = NULL;
	int fd = image_is_current(file->path, &file->then) ? util_file_read(AT_FDCWD, file->path, 0, NULL) : -1;

	if (fd < 0)
		return;
	if (boot_image_is(fd) && boot_image_read(fd, file->path, budget, &image, &error)) {
		take_part(code, &image, file, low, size);
		unpack_free(&image, budget);
	}
	free(error);
	close(fd);
}

void code_bytes_read(struct code_bytes *code, const struct code_file *file, uint64_t low, uint64_t high,
	struct budget *budget)
{
	size_t size = high - low < CODE_BYTES_MAX ? (size_t)(high - low) : CODE_BYTES_MAX;
	struct sym_elf_code *elf;

	code->size = 0;
	if (high <= low)
		return;
	if (file->fd < 0) {
		if (file->path)
			read_image(code, file, low, size, budget);
		return;
	}
	elf = sym_elf_code_read(file->fd, budget);
	code->arch = elf ? elf->arch : ARCH_OTHER;
	code->size = sym_elf_code_bytes(elf, file->fd, low, code->bytes, size);
	sym_elf_code_free(elf);
}

/* ---- functions by name ---- */

void named_functions_find(struct named_functions *named, const struct symbols *symbols, uint64_t name,
	const char *kernel)
{
	size_t all = symbols_functions(symbols);

	if (named->name != name || strcmp(named->kernel, kernel) != 0) {
		*named = (struct named_functions) { .name = name };
		snprintf(named->kernel, sizeof(named->kernel), "%s", kernel);
	}
	for (; named->looked_at < all && named->count < NAMED_FUNCTIONS_MAX; named->looked_at++) {
		const struct function *function = symbols_get(symbols, (uint32_t)named->looked_at);

		if (function->known && tree_name(function, kernel) == name)
			named->functions[named->count++] = (uint32_t)named->looked_at;
	}
}
