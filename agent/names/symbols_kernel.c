/* SPDX-License-Identifier: MIT */
/* The kernel's part of symbols: its file, where it runs, what its tables say of its code. */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/files/image.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/modules.h"
#include "agent/names/linux/orc.h"
#include "agent/names/objects/objects.h"
#include "agent/wire/event.h"
#include "guest_symbols.h"
#include "kernel_image.h"
#include "symbols_state.h"

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
