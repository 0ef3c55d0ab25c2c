/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "agent/wire/event.h"
#include "kernel_image.h"

struct kernel_image {
	struct image *file;		/* NULL: none */
	struct image **retired;		/* earlier ones: functions still refer to them */
	size_t retired_count;

	char *anchor;			/* NULL: the guest has told none */
	uint64_t anchor_address;
	bool anchor_known;		/* the file has it, at this address: */
	uint64_t anchor_link;
	uint64_t bias;			/* of the kernel's object; 0: the guest has not told */
	bool bias_known;
	bool refuted;			/* most of what runs there is other code */
	bool has_other;			/* some is, on this page: */
	uint64_t other;

	char *version;			/* NULL: not told */
	struct debug_object built;	/* the running kernel, by its build-id */
};

struct kernel_image *kernel_image_new(void)
{
	return util_alloc(sizeof(struct kernel_image));
}

void kernel_image_free(struct kernel_image *kernel)
{
	if (!kernel)
		return;
	image_free(kernel->file);
	for (size_t i = 0; i < kernel->retired_count; i++)
		image_free(kernel->retired[i]);
	free(kernel->retired);
	free(kernel->anchor);
	free(kernel->version);
	free(kernel);
}

/* Finds the anchor in the file: a search over all symbols, needed for a new anchor or a new file. */
static void find_anchor(struct kernel_image *kernel)
{
	kernel->anchor_known = kernel->anchor && kernel->file &&
		symbol_table_address(kernel->file->table, kernel->anchor, &kernel->anchor_link);
}

static void retire(struct kernel_image *kernel, struct image *file)
{
	if (!file)
		return;
	kernel->retired =
		util_grow(kernel->retired, kernel->retired_count + 1, sizeof(struct image *));
	kernel->retired[kernel->retired_count++] = file;
}

/* If the file is of the same build, it has the lines of the running kernel. */
static void set_built_file(struct kernel_image *kernel)
{
	kernel->built.fd = kernel->file ? kernel->file->fd : -1;
	kernel->built.path = kernel->file ? kernel->file->path : NULL;
}

static void begin_comparing(struct kernel_image *kernel)
{
	kernel->refuted = kernel->has_other = false;
}

static void set_file(struct kernel_image *kernel, struct image *file)
{
	begin_comparing(kernel);
	retire(kernel, kernel->file);
	kernel->file = file;
	set_built_file(kernel);
	find_anchor(kernel);
}

bool kernel_image_load(struct kernel_image *kernel, const char *path, struct budget *budget,
	char **error)
{
	struct image *file = image_load(path, IMAGE_ELF_OR_TEXT, budget, error);

	if (!file)
		return false;
	if (symbol_table_count(file->table) == 0) {
		image_free(file);
		return util_fail(error, "cannot load symbols of %s: it holds none (stripped?); "
			"give the unstripped file, the output of nm by --symbols, or its code by --object FILE@ADDRESS",
			path);
	}
	set_file(kernel, file);
	return true;
}

bool kernel_image_read(struct kernel_image *kernel, struct kernel_bytes *memory, struct budget *budget)
{
	struct image *image = image_of_memory(memory, budget);

	if (image)
		set_file(kernel, image);
	return image;
}

bool kernel_image_share(struct kernel_image *kernel, const struct kernel_image *others)
{
	struct image *file = others->file ? image_share(others->file) : NULL;

	if (file)
		set_file(kernel, file);
	return file;
}

void kernel_image_drop(struct kernel_image *kernel)
{
	set_file(kernel, NULL);
}

struct image *kernel_image_file(const struct kernel_image *kernel)
{
	return kernel->file;
}

uint64_t kernel_image_slide(const struct kernel_image *kernel)
{
	return kernel->anchor_known ? kernel->anchor_address - kernel->anchor_link : kernel->bias;
}

bool kernel_image_set_anchor(struct kernel_image *kernel, const char *name, uint64_t address)
{
	free(kernel->anchor);
	kernel->anchor = util_copy(name, strlen(name));
	kernel->anchor_address = address;
	find_anchor(kernel);
	return kernel->anchor_known;
}

void kernel_image_set_bias(struct kernel_image *kernel, uint64_t bias)
{
	begin_comparing(kernel);
	kernel->bias = bias;
	kernel->bias_known = true;
}

bool kernel_image_is_placed(const struct kernel_image *kernel)
{
	return kernel->file && !kernel->refuted &&
		(!kernel->file->kernel || kernel->anchor_known || kernel->bias_known);
}

bool kernel_image_compared(struct kernel_image *kernel, uint32_t equal, uint32_t others, uint64_t other)
{
	bool refuted = others > equal, had = kernel->has_other, news = refuted != kernel->refuted;

	if (others)
		kernel->other = other;
	kernel->has_other = others || (kernel->has_other && !kernel->refuted);
	kernel->refuted = refuted;
	return news || had != kernel->has_other;
}

bool kernel_image_other(const struct kernel_image *kernel, uint64_t *page)
{
	*page = kernel->other;
	return kernel->file && kernel->has_other;
}

static bool has_build_id(const struct image *file, struct text id)
{
	return id.size && id.size == file->build_id.size &&
		memcmp(id.bytes, file->build_id.bytes, id.size) == 0;
}

bool kernel_image_is(const struct kernel_image *kernel, const struct object *object,
	const char *name)
{
	const char *base;

	if (!kernel->file)
		return false;
	if (kernel->anchor && kernel->anchor_address >= object->start &&
		kernel->anchor_address < object->end)
		return true;
	base = strrchr(kernel->file->path, '/');
	return strcmp(name, "kernel") == 0 ||
		strcmp(name, base ? base + 1 : kernel->file->path) == 0 ||
		has_build_id(kernel->file, object->build_id);
}

bool kernel_image_is_foreign(const struct kernel_image *kernel, enum arch_id arch)
{
	return kernel->file && kernel->file->code && arch_id_contradicts(kernel->file->code->arch, arch);
}

bool kernel_image_contradicts(const struct kernel_image *kernel, const void *build_id, size_t size)
{
	struct build_id guest;

	build_id_set(&guest, build_id, size);
	return kernel->file && build_id_contradicts(&kernel->file->build_id, &guest);
}

const char *kernel_image_set_build(struct kernel_image *kernel, const void *build_id, size_t size,
	const char *version)
{
	if (kernel->version || !version)
		return NULL;
	kernel->version = util_copy(version, strlen(version));
	kernel->built = (struct debug_object) { .kind = DEBUG_KERNEL, .version = kernel->version };
	set_built_file(kernel);
	build_id_set(&kernel->built.build_id, build_id, size);
	return kernel->version;
}

const struct debug_object *kernel_image_debug(const struct kernel_image *kernel)
{
	return kernel->version ? &kernel->built : NULL;
}
