/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/files/debug_file.h"
#include "agent/names/files/image.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/modules.h"
#include "agent/names/linux/orc.h"
#include "agent/names/objects/objects.h"
#include "agent/wire/event.h"
#include "guest_symbols.h"
#include "symbols_state.h"

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

/* Loads the file, in place of an earlier one. False with `error` set: nothing has changed. */
static bool kernel_image_load(struct kernel_image *kernel, const char *path, struct budget *budget,
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

/* The same out of the memory of the kernel that runs, which tells run addresses. False: its symbols are not there. */
static bool kernel_image_read(struct kernel_image *kernel, struct kernel_bytes *memory, struct budget *budget)
{
	struct image *image = image_of_memory(memory, budget);

	if (image)
		set_file(kernel, image);
	return image;
}

/* Takes over the file of `others` and shares their table. False: they have none. */
static bool kernel_image_share(struct kernel_image *kernel, const struct kernel_image *others)
{
	struct image *file = others->file ? image_share(others->file) : NULL;

	if (file)
		set_file(kernel, file);
	return file;
}

/* From now on there is no file. */
static void kernel_image_drop(struct kernel_image *kernel)
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

/* False: the file has no such symbol, or there is no file yet. */
static bool kernel_image_set_anchor(struct kernel_image *kernel, const char *name, uint64_t address)
{
	free(kernel->anchor);
	kernel->anchor = util_copy(name, strlen(name));
	kernel->anchor_address = address;
	find_anchor(kernel);
	return kernel->anchor_known;
}

/* Sets the bias of the kernel's object: the slide, unless an anchor gives it. */
static void kernel_image_set_bias(struct kernel_image *kernel, uint64_t bias)
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

/*
 * Pages of the kernel's code were compared with the file at its place: so many are equal, and so many others, the last
 * one at `other`, are not. True: that is news. kernel_image_other: such a page, until another place or file is known,
 * or all are equal that are compared where most were not. False: there is none.
 */
static bool kernel_image_compared(struct kernel_image *kernel, uint32_t equal, uint32_t others, uint64_t other)
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

/* True if the guest's architecture is known, and the file is of another one. */
static bool kernel_image_is_foreign(const struct kernel_image *kernel, enum arch_id arch)
{
	return kernel->file && kernel->file->code && arch_id_contradicts(kernel->file->code->arch, arch);
}

/* True if the guest's build-id is known, and the file is of another build. */
static bool kernel_image_contradicts(const struct kernel_image *kernel, const void *build_id, size_t size)
{
	struct build_id guest;

	build_id_set(&guest, build_id, size);
	return kernel->file && build_id_contradicts(&kernel->file->build_id, &guest);
}

/*
 * Sets the build-id and version of the guest's kernel, once. Returns a copy of the version, valid until
 * kernel_image_free; NULL: it was set before, or `version` is NULL.
 */
static const char *kernel_image_set_build(struct kernel_image *kernel, const void *build_id, size_t size,
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

/* ---- the kernel's symbols ---- */

/* The kernel's part of symbols: its file, where it runs, what its tables say of its code. */

enum { ANCHORS_MAX = 64 };		/* that are tried: each is searched in all names */

struct place {				/* where the kernel runs */
	uint64_t slide;
	bool known;
};

static struct place place_of(const struct symbols *symbols)
{
	return (struct place) {
		.slide = kernel_image_slide(symbols->kernel), .known = kernel_image_is_placed(symbols->kernel),
	};
}

static void renew_if_moved(struct symbols *symbols, struct place before)
{
	struct place now = place_of(symbols);

	if (now.slide != before.slide || now.known != before.known)
		symbols_renew(symbols);
}

bool symbols_load_kernel(struct symbols *symbols, const char *path, char **error)
{
	bool loaded = kernel_image_load(symbols->kernel, path, symbols->budget, error);

	if (loaded) {
		symbols->anchors_tried = 0;
		symbols_renew(symbols);
	}
	return loaded;
}

bool symbols_read_kernel(struct symbols *symbols, struct kernel_bytes *memory)
{
	bool read = kernel_image_read(symbols->kernel, memory, symbols->budget);

	if (read)
		symbols_renew(symbols);
	return read;
}

bool symbols_share_kernel(struct symbols *symbols, const struct symbols *others)
{
	bool shared = kernel_image_share(symbols->kernel, others->kernel);

	if (shared) {
		symbols->anchors_tried = 0;
		symbols_renew(symbols);
	}
	return shared;
}

const struct stat *symbols_kernel_file(const struct symbols *symbols)
{
	const struct image *file = kernel_image_file(symbols->kernel);

	return file ? &file->file : NULL;
}

void symbols_drop_kernel(struct symbols *symbols)
{
	kernel_image_drop(symbols->kernel);
	symbols_renew(symbols);
}

bool symbols_kernel_function(const struct symbols *symbols, uint64_t address, uint64_t *start)
{
	const struct image *file = kernel_image_file(symbols->kernel);
	uint64_t slide = kernel_image_slide(symbols->kernel);
	uint32_t index = kernel_image_is_placed(symbols->kernel) ?
		symbol_table_find(file->table, address - slide) : SYMBOL_NONE;
	const struct guest_symbol *told;

	if (index != SYMBOL_NONE) {
		*start = symbol_table_get(file->table, index).address + slide;
		return true;
	}
	told = guest_symbols_find(symbols->told, address);
	*start = told ? told->address : 0;
	return told;
}

const char *symbols_kernel_variable(const struct symbols *symbols, uint64_t address, uint64_t *offset)
{
	const struct image *file = kernel_image_file(symbols->kernel);
	uint64_t link = address - kernel_image_slide(symbols->kernel);
	uint32_t index = kernel_image_is_placed(symbols->kernel) ? symbol_table_find(file->variables, link) :
		SYMBOL_NONE;
	struct symbol variable;

	if (index == SYMBOL_NONE)
		return NULL;
	variable = symbol_table_get(file->variables, index);
	*offset = link - variable.address;
	return variable.name;
}

uint32_t symbols_kernel_named(const struct symbols *symbols, const char *name, struct symbol *found, uint32_t most)
{
	const struct image *file = kernel_image_file(symbols->kernel);
	uint64_t slide = kernel_image_slide(symbols->kernel);
	uint32_t count = kernel_image_is_placed(symbols->kernel) ?
		symbol_table_named(file->table, name, found, most) : 0;

	for (uint32_t i = 0; i < count && i < most; i++) {
		found[i].address += slide;
		found[i].end += slide;
	}
	return count;
}

bool symbols_kernel_at(const struct symbols *symbols, uint64_t link_address, struct symbol *found)
{
	const struct image *file = kernel_image_file(symbols->kernel);
	uint64_t slide = kernel_image_slide(symbols->kernel);
	uint32_t index = kernel_image_is_placed(symbols->kernel) ? symbol_table_find(file->table, link_address) :
		SYMBOL_NONE;

	if (index == SYMBOL_NONE)
		return false;
	*found = symbol_table_get(file->table, index);
	if (found->address != link_address)
		return false;
	found->address += slide;
	found->end += slide;
	return true;
}

uint64_t symbols_kernel_slide(const struct symbols *symbols)
{
	return kernel_image_slide(symbols->kernel);
}

bool symbols_kernel_orc(const struct symbols *symbols, uint64_t address, struct orc_entry *entry)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t link = address - kernel_image_slide(symbols->kernel);

	if (module_tables_find(symbols->modules, address, entry))
		return true;
	return kernel && kernel_image_is_placed(symbols->kernel) &&
		symbol_table_find(kernel_image_file(symbols->kernel)->table, link) != SYMBOL_NONE &&
		linux_kernel_orc(kernel, link, entry);
}

struct module_tables *symbols_modules(const struct symbols *symbols)
{
	return symbols->modules;
}

const struct linux_kernel *symbols_linux_kernel(const struct symbols *symbols)
{
	const struct image *file = kernel_image_file(symbols->kernel);

	return file ? file->kernel : NULL;
}

/* linux/arch/arm64/include/asm/fixmap.h: above all other code, in the fixmap; lower down up to 6.8. */
bool symbols_is_trampoline(const struct symbols *symbols, uint64_t address)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);

	return kernel && kernel->arch == ARCH_AARCH64 && address >= UINT64_C(0xfffffbfff0000000);
}

void symbols_set_board(struct symbols *symbols, enum arch_id arch)
{
	if (symbols->board == arch)
		return;
	symbols->board = arch;
	symbols_renew(symbols);
}

static bool is_early(const struct symbols *symbols, uint64_t address)
{
	for (uint32_t i = 0; i < symbols->early_count; i++)
		if (symbols->early[i] == address >> EARLY_BITS)
			return true;
	return false;
}

const struct region *symbols_region(const struct symbols *symbols, uint64_t address)
{
	const struct linux_kernel *linux = symbols_linux_kernel(symbols);
	bool other = kernel_image_file(symbols->kernel) && !linux;
	enum firmware firmware = other ? FIRMWARE_UNKNOWN : symbols->firmware;
	const struct region *region;

	region = region_find(symbols->board, linux, firmware, address);
	return !region && symbols->early_ended && is_early(symbols, address) ? &region_moved : region;
}

void symbols_early(struct symbols *symbols, uint64_t address)
{
	if (!is_early(symbols, address) && symbols->early_count < EARLY_PAGES)
		symbols->early[symbols->early_count++] = address >> EARLY_BITS;
}

void symbols_early_ends(struct symbols *symbols)
{
	symbols->early_ended = true;
	symbols_renew(symbols);
}

enum arch_id symbols_board(const struct symbols *symbols)
{
	return symbols->board;
}

void symbols_set_firmware(struct symbols *symbols, enum firmware firmware)
{
	if (symbols->firmware == firmware)
		return;
	symbols->firmware = firmware;
	symbols_renew(symbols);
}

bool symbols_kernel_is_placed(const struct symbols *symbols)
{
	return kernel_image_is_placed(symbols->kernel);
}

int symbols_kernel_descriptor(const struct symbols *symbols)
{
	const struct image *file = kernel_image_file(symbols->kernel);

	return file ? file->fd : -1;
}

bool symbols_set_anchor(struct symbols *symbols, const char *name, uint64_t address)
{
	struct place before = place_of(symbols);
	bool known = kernel_image_set_anchor(symbols->kernel, name, address);

	renew_if_moved(symbols, before);
	return known;
}

bool symbols_wrong_arch(const struct symbols *symbols, enum arch_id arch)
{
	return kernel_image_is_foreign(symbols->kernel, arch);
}

bool symbols_wrong_build(const struct symbols *symbols, const void *build_id, size_t size)
{
	return kernel_image_contradicts(symbols->kernel, build_id, size);
}

void symbols_set_build(struct symbols *symbols, const void *build_id, size_t size,
	const char *version)
{
	const char *copied = kernel_image_set_build(symbols->kernel, build_id, size, version);

	if (copied)
		objects_set_version(symbols->objects, copied);
}

void symbols_set_slide(struct symbols *symbols, uint64_t slide)
{
	struct place before = place_of(symbols);

	kernel_image_set_bias(symbols->kernel, slide);
	renew_if_moved(symbols, before);
}

bool symbols_kernel_compared(struct symbols *symbols, uint32_t equal, uint32_t others, uint64_t other)
{
	struct place before = place_of(symbols);
	bool news = kernel_image_compared(symbols->kernel, equal, others, other);

	renew_if_moved(symbols, before);
	return news;
}

/*
 * While a Linux boot image has no slide, the first functions that the guest tells are tried as the anchor. KASLR moves
 * a kernel by large steps: an anchor that lies at another distance is of another kernel.
 */
static void place_by(struct symbols *symbols, uint64_t address, struct text name)
{
	uint64_t link;
	char *anchor;

	if (!symbols_linux_kernel(symbols) || kernel_image_is_placed(symbols->kernel) || !name.size ||
			symbols->anchors_tried == ANCHORS_MAX)
		return;
	symbols->anchors_tried++;
	anchor = util_copy(name.bytes, name.size);
	if (symbol_table_address(kernel_image_file(symbols->kernel)->table, anchor, &link) &&
			(address - link) % SLIDE_STEP == 0)
		symbols_set_anchor(symbols, anchor, address);
	free(anchor);
}

void symbols_tell(struct symbols *symbols, uint64_t address, uint32_t size, struct text name)
{
	symbols->being_told = size != 0;
	place_by(symbols, address, name);
	if (guest_symbols_add(symbols->told, address, size, name))
		symbols_renew(symbols);
}
