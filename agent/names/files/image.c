/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/names/linux/boot_image.h"
#include "agent/names/linux/kallsyms.h"
#include "agent/names/linux/kernel_bytes.h"
#include "agent/names/linux/linux_kernel.h"
#include "image.h"
#include "sym_elf.h"
#include "symbol_table.h"

enum {
	TEXT_MAX = 512 << 20,		/* bytes of a list of symbols at most */
	FUNCTION_MAX = 1 << 20,		/* of a kernel's last function, which has no symbol behind it */
};

#define BANNER "Linux version "

void image_free(struct image *image)
{
	if (!image)
		return;
	if (image->fd >= 0)
		close(image->fd);
	if (image->functions)
		budget_free(image->budget, image->functions,
			symbol_table_count(image->table) * sizeof(*image->functions));
	symbol_table_free(image->table);
	symbol_table_free(image->variables);
	linux_kernel_free(image->kernel);
	sym_elf_code_free(image->code);
	free(image->path);
	free(image);
}

/* ---- a Linux kernel: its own table of names, its ORC tables, its layout ---- */

#define CODE "TtWwi"			/* types of symbols, as in nm(1) */
#define VARIABLES "DdBb"

/* A symbol ends where any other one begins, be it code or data. */
static uint64_t kernel_symbol_end(const struct kallsyms *kallsyms, struct kallsyms_cursor *ahead, uint64_t address)
{
	while (ahead->address <= address || ahead->absolute) {
		if (!kallsyms_next(kallsyms, ahead))
			return address < UINT64_MAX - FUNCTION_MAX ? address + FUNCTION_MAX : UINT64_MAX;
	}
	return ahead->address;
}

/* False: the table is full. */
static bool add_kernel_symbols(const struct kallsyms *kallsyms, const char *types, struct symbol_table *table)
{
	struct kallsyms_cursor symbol = { .index = 0 }, ahead = { .index = 0 };
	uint64_t before = UINT64_MAX;

	while (kallsyms_next(kallsyms, &symbol)) {
		struct symbol_entry entry = {
			.address = symbol.address, .name = symbol.name, .name_size = symbol.size,
			.alias = symbol.address == before,
		};

		if (symbol.absolute || !symbol.type || !strchr(types, symbol.type))
			continue;
		before = symbol.address;
		entry.limit = kernel_symbol_end(kallsyms, &ahead, symbol.address);
		if (!symbol_table_add(table, &entry))
			return false;
	}
	return true;
}

/* Its variables are less than its code: they are there as far as there is memory. */
static bool take_kernel(struct image *image, struct kernel_bytes *bytes, const char **why)
{
	struct kallsyms kallsyms;

	*why = "no table of symbols was found in it (a kernel without CONFIG_KALLSYMS, or no Linux)";
	if (!bytes || !kallsyms_find(bytes, &kallsyms))
		return false;
	*why = "it does not say where it was linked";
	image->kernel = linux_kernel_new(bytes, &kallsyms, image->budget);
	if (!image->kernel)
		return false;
	*why = "there is no memory for its symbols (--memory gives more)";
	if (symbol_table_count(image->table) || add_kernel_symbols(&kallsyms, CODE, image->table)) {
		add_kernel_symbols(&kallsyms, VARIABLES, image->variables);
		return true;
	}
	linux_kernel_free(image->kernel);
	image->kernel = NULL;
	return false;
}

static bool read_kernel(struct image *image, const struct unpacked *unpacked, const char **why)
{
	struct kernel_bytes bytes;
	bool known = kernel_bytes_set(&bytes, unpacked->bytes, unpacked->size);

	return take_kernel(image, known ? &bytes : NULL, why);
}

/*
 * Reads what was read of the memory of a kernel that runs, at its run addresses; its code need not be there. False: its
 * table of symbols is not there as a whole.
 */
static bool read_kernel_memory(struct image *image, struct kernel_bytes *memory)
{
	const char *why;

	if (!take_kernel(image, memory, &why))
		return false;
	build_id_set(&image->build_id, image->kernel->build_id, image->kernel->build_id_size);
	return true;
}

/* Reads the image that a boot loader loads. False with `error` set: it cannot be read. */
static bool read_boot_image(struct image *image, char **error)
{
	struct unpacked unpacked;
	const char *why;
	bool read;

	if (!boot_image_read(image->fd, image->path, image->budget, &unpacked, error))
		return false;
	read = read_kernel(image, &unpacked, &why);
	if (!read && !memmem(unpacked.bytes, unpacked.size, BANNER, strlen(BANNER)))
		why = unpacked.size > 4 && memcmp(unpacked.bytes, "\177ELF", 4) == 0 ?
			"it is a packed ELF file of no Linux kernel; unpack it" :
			"what is packed in it is no Linux kernel";
	unpack_free(&unpacked, image->budget);
	if (!read)
		return util_fail(error, "cannot load symbols of %s: %s; give vmlinux by --kernel, or System.map by "
			"--symbols", image->path, why);
	build_id_set(&image->build_id, image->kernel->build_id, image->kernel->build_id_size);
	image->kernel->room = boot_image_room(image->fd, &image->kernel->room_start);
	return true;
}

/*
 * Reads a vmlinux, an ELF file. It may have gigabytes of lines behind what it loads; those are not read. If its table
 * is empty, because the file is stripped, the kernel's own names fill it. Nothing changes where it is no Linux kernel,
 * or cannot be read as one.
 */
static void read_vmlinux(struct image *image)
{
	struct unpacked file;
	const char *why;

	if (boot_image_read_elf(image->fd, image->budget, &file, &why) &&
			memmem(file.bytes, file.size, BANNER, strlen(BANNER)))
		read_kernel(image, &file, &why);
	unpack_free(&file, image->budget);
}

/* ---- files ---- */

struct text_file {
	char *bytes;
	size_t size, room;
	const char *why;		/* why it could not be read */
};

/* Reads to the end, for a file in /proc has no size. */
static bool read_all(struct image *image, struct text_file *file)
{
	struct stat facts;
	ssize_t got;

	file->why = "it is larger than 512 MB";
	if (fstat(image->fd, &facts) == 0 && facts.st_size > TEXT_MAX)
		return false;
	do {
		if (file->size == file->room) {
			size_t room = file->room ? 2 * file->room : 1 << 20;
			char *more = budget_resize(image->budget, file->bytes, file->room, room);

			file->why = "there is no memory for it (--memory gives more)";
			if (!more)
				return false;
			file->bytes = more;
			file->room = room;
		}
		got = read(image->fd, file->bytes + file->size, file->room - file->size);
		if (got == 0)
			return true;
		file->size += got > 0 ? (size_t)got : 0;
	} while ((got > 0 || errno == EINTR) && file->size <= TEXT_MAX);
	file->why = file->size > TEXT_MAX ? "it is larger than 512 MB" : strerror(errno);
	return false;
}

static bool read_text(struct image *image, char **error)
{
	struct text_file file = { 0 };
	bool done;

	if (read_all(image, &file))
		done = sym_text_read(file.bytes, file.size, image->path, image->table, error);
	else
		done = util_fail(error, "cannot read %s: %s; give another file of symbols",
			image->path, file.why);
	budget_free(image->budget, file.bytes, file.room);
	return done;
}

/* Closes a file without lines, so that nobody looks for lines in it. Returns `read`. */
static bool close_after(struct image *image, bool read)
{
	close(image->fd);
	image->fd = -1;
	return read;
}

static bool open_image(struct image *image, char **error)
{
	const char *why = NULL;

	image->fd = util_file_read(AT_FDCWD, image->path, 0, &why);
	if (image->fd >= 0 && fstat(image->fd, &image->file) != 0)
		why = strerror(errno);
	if (why)
		return util_fail(error, "cannot open %s: %s; %s", image->path, why,
			util_open_remedy(errno, "give the kernel's ELF file, or the output of nm"));
	return true;
}

static bool read_elf(struct image *image, enum image_kinds kinds, char **error)
{
	if (!sym_elf_read(image->fd, image->path, image->table, &image->build_id, image->budget, error))
		return false;
	image->code = sym_elf_code_read(image->fd, image->budget);
	if (kinds == IMAGE_ELF)
		sym_elf_add_stubs(image->fd, image->table, image->budget);
	if (kinds == IMAGE_ELF_OR_TEXT)
		read_vmlinux(image);
	if (kinds == IMAGE_ELF_OR_TEXT && !image->kernel)
		sym_elf_add_bare(image->fd, image->path, false, image->table, image->budget);
	return true;
}

static bool read_image(struct image *image, enum image_kinds kinds, char **error)
{
	const char *why;

	if (kinds == IMAGE_ELF || sym_elf_is(image->fd))
		return read_elf(image, kinds, error);
	if (boot_image_is(image->fd))
		return close_after(image, read_boot_image(image, error));
	why = unpack_told(image->fd, NULL);
	if (why)
		return close_after(image, util_fail(error, "cannot open %s: %s; give the kernel's ELF file, or the "
			"output of nm", image->path, why));
	return close_after(image, read_text(image, error));
}

static void set_debug(struct image *image)
{
	image->debug = (struct debug_object) {
		.fd = image->fd, .path = image->path, .build_id = image->build_id,
	};
}

void image_forget_file(struct image *image)
{
	close(image->fd);
	image->fd = -1;
	image->path[0] = '\0';
	set_debug(image);
}

static struct image *new_image(int fd, const char *path, struct budget *budget)
{
	struct image *image = util_alloc(sizeof(*image));

	image->fd = fd;
	image->path = util_copy(path, strlen(path));
	image->budget = budget;
	image->table = symbol_table_new(budget);
	image->variables = symbol_table_new(budget);
	return image;
}

/* Makes the image ready. NULL: it could not be read. */
static struct image *finish(struct image *image, bool read)
{
	if (!read) {
		image_free(image);
		return NULL;
	}
	symbol_table_sort(image->table);
	symbol_table_sort(image->variables);
	set_debug(image);
	return image;
}

struct image *image_load(const char *path, enum image_kinds kinds, struct budget *budget,
	char **error)
{
	struct image *image = new_image(-1, path, budget);

	return finish(image, open_image(image, error) && read_image(image, kinds, error));
}

struct image *image_of_memory(struct kernel_bytes *memory, struct budget *budget)
{
	struct image *image = new_image(-1, "guest-memory", budget);

	return finish(image, read_kernel_memory(image, memory));
}

struct image *image_read(int fd, const char *path, struct budget *budget, char **error)
{
	struct image *image = new_image(fd, path, budget);

	if (fstat(fd, &image->file) != 0)
		image->file = (struct stat) { 0 };
	sym_elf_segments(fd, &image->segments);
	return finish(image, read_image(image, IMAGE_ELF, error));
}

void image_add_bare(struct image *image)
{
	sym_elf_add_bare(image->fd, image->path, true, image->table, image->budget);
	symbol_table_sort(image->table);
}

bool image_is_current(const char *path, const struct stat *then)
{
	struct stat now;

	return stat(path, &now) == 0 && now.st_dev == then->st_dev &&
		now.st_ino == then->st_ino && now.st_size == then->st_size &&
		now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

struct image *image_share(const struct image *image)
{
	int fd = image->fd < 0 ? -1 : fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	struct image *other;

	if (image->fd >= 0 && fd < 0)
		return NULL;
	other = util_alloc(sizeof(*other));
	*other = *image;
	other->fd = fd;
	other->path = util_copy(image->path, strlen(image->path));
	other->table = symbol_table_hold(image->table);
	other->variables = symbol_table_hold(image->variables);
	other->kernel = linux_kernel_hold(image->kernel);
	other->code = sym_elf_code_hold(image->code);
	other->functions = NULL;
	set_debug(other);
	return other;
}
