/* SPDX-License-Identifier: MIT */
/* Return addresses that cannot be any, by the code that stands there. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/files/image.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/objects/objects.h"
#include "agent/wire/event.h"
#include "function.h"
#include "kernel_image.h"
#include "symbols_state.h"

enum {
	KEPT = 1 << 14,			/* addresses whose code was read; a power of two */
	STEPS = 96,			/* instructions from a call to the end of an interrupt, at most */
	PIECE = 256,			/* bytes of code that are read at a time, to follow it */
	PROLOGUE = 1024,		/* bytes of a function in which its frame is looked for */
};

/* What a file has before an address, or in its function. It never changes. */
struct return_code {
	uint64_t key;			/* of file, address and question; 0: nothing is kept here */
	enum { CODE_NOT_READ, CODE_OUTSIDE, CODE_NOT_CALLED, CODE_CALLED } code;
	enum calls_frame frame;
	uint64_t target;		/* the link address that the call names; 0: none */
};

/* A file that is at hand, and how far from its link addresses it runs. */
struct placed {
	const struct image *image;
	uint64_t bias;
};

static bool find_file(struct symbols *symbols, uint32_t space, uint64_t address, struct placed *placed)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, space, address);

	*placed = (struct placed) { .image = mapping ? objects_image(mapping) : NULL };
	if (placed->image)
		placed->bias = objects_bias(mapping);
	else if (space == EVENT_KERNEL && kernel_image_is_placed(symbols->kernel))
		*placed = (struct placed) {
			.image = kernel_image_file(symbols->kernel), .bias = kernel_image_slide(symbols->kernel),
		};
	return placed->image && placed->image->fd >= 0;
}

/* ---- a file's code ---- */

/* The holes of a copy are zeros. */
static bool is_hole(const uint8_t *bytes, size_t size)
{
	uint8_t any = 0;

	for (size_t i = 0; i < size; i++)
		any |= bytes[i];
	return !any;
}

static void read_code(const struct image *image, uint64_t link, struct return_code *found)
{
	uint8_t bytes[CALLS_BEFORE + CALLS_BEHIND];
	size_t before = CALLS_BEFORE, size = 0;

	for (; before && (link < before || !(size = sym_elf_code_bytes(image->code, image->fd, link - before, bytes,
			before + CALLS_BEHIND))); before--)
		;
	if (!image->code) {
		found->code = CODE_NOT_READ;
	} else if (!before || size < before) {
		enum elf_place place = sym_elf_code_place(image->code, link - 1);

		found->code = place == ELF_PLACE_OUTSIDE ? CODE_OUTSIDE :
			place == ELF_PLACE_DATA ? CODE_NOT_CALLED : CODE_NOT_READ;
	} else if (is_hole(bytes, before)) {
		found->code = CODE_NOT_READ;
	} else {
		bool called = calls_return(image->code->arch, bytes, before, size, link, &found->target) &&
			(!found->target || sym_elf_code_place(image->code, found->target) >= ELF_PLACE_BARE);

		found->code = called ? CODE_CALLED : CODE_NOT_CALLED;
	}
}

/* What is kept of an address. True: it is new, and to be filled in. */
static bool keep(struct symbols *symbols, const struct image *image, uint64_t link, bool frame,
	struct return_code **kept)
{
	const struct stat *file = &image->file;
	uint64_t build = hash_mix((uint64_t)file->st_ino + 1, (uint64_t)file->st_dev + 1) ^
		(uint64_t)file->st_mtim.tv_sec << 20 ^ (uint64_t)file->st_mtim.tv_nsec;
	uint64_t key = hash_mix(build ^ frame, link) | 1;

	if (!symbols->returns)
		symbols->returns = util_alloc(KEPT * sizeof(*symbols->returns));
	*kept = &symbols->returns[key >> 1 & (KEPT - 1)];
	if ((*kept)->key == key)
		return false;
	**kept = (struct return_code) { .key = key };
	return true;
}

static const struct return_code *code_before(struct symbols *symbols, const struct image *image, uint64_t link)
{
	struct return_code *kept;

	if (keep(symbols, image, link, false, &kept))
		read_code(image, link, kept);
	return kept;
}

/* Does the code that goes on here leave an interrupt? Then it was not called by what its frame has above it. */
static bool leaves_interrupt(const struct image *image, uint64_t link)
{
	uint8_t bytes[PIECE];
	uint64_t begin = 0, at = link, next;
	size_t size = 0;

	for (int i = 0; image->code && i < STEPS && at; i++, at = next) {
		if (at < begin || at - begin + CALLS_BEHIND > size) {
			begin = at;
			size = sym_elf_code_bytes(image->code, image->fd, at, bytes, sizeof(bytes));
		}
		if (calls_leave_interrupt(image->code->arch, bytes + (at - begin), size - (size_t)(at - begin), at,
				&next))
			return true;
	}
	return false;
}

/* ---- an address ---- */

/* A label of assembly, which may be behind a call, has no size. */
static bool starts_function(const struct image *image, uint64_t link)
{
	uint32_t index = symbol_table_find(image->table, link);
	struct symbol symbol = { .sized = false };

	if (index != SYMBOL_NONE)
		symbol = symbol_table_get(image->table, index);
	return symbol.sized && symbol.address == link;
}

/* Is this the function that has the callee's address? */
static bool is_callees(struct symbols *symbols, uint32_t space, uint64_t callee, uint64_t target)
{
	struct placed placed;
	uint32_t index = find_file(symbols, space, callee, &placed) ?
		symbol_table_find(placed.image->table, callee - placed.bias) : SYMBOL_NONE;

	return index != SYMBOL_NONE && symbol_table_get(placed.image->table, index).address == target;
}

static bool was_interrupted(struct symbols *symbols, uint32_t space, uint64_t callee)
{
	struct placed placed;

	return space == EVENT_KERNEL && find_file(symbols, space, callee, &placed) &&
		leaves_interrupt(placed.image, callee + 1 - placed.bias);
}

/* The inner frame has a name, and nobody knows what the outer one is. */
static bool leads_nowhere(struct symbols *symbols, uint32_t space, uint64_t address, uint64_t callee)
{
	return !layouts_find(symbols->layouts, space, address) &&
		strcmp(symbols_get(symbols, symbols_function(symbols, space, address))->name, UNKNOWN_NAME) == 0 &&
		symbols_get(symbols, symbols_function(symbols, space, callee))->known;
}

/* Go lays a frame below each goroutine's first function, as if this one had called it (runtime/proc.go, newproc1). */
static bool is_goroutines_end(const struct image *image, uint64_t link)
{
	static const char name[] = "runtime.goexit";
	uint32_t index = symbol_table_find(image->table, link);

	return index != SYMBOL_NONE && strncmp(symbol_table_get(image->table, index).name, name, strlen(name)) == 0;
}

/* Linux writes other instructions into its code and its modules', calls among them, as the CPU has need. */
static bool is_patched(struct symbols *symbols, uint64_t address, const struct placed *placed)
{
	return placed->image->kernel || layouts_find(symbols->layouts, EVENT_KERNEL, address);
}

/*
 * A function that ends with a call which does not return has the next function's first byte behind it. That is told
 * from a pointer to that function by what the call names.
 */
enum returning symbols_returning(struct symbols *symbols, uint32_t space, uint64_t address, uint64_t callee,
	bool returns)
{
	const struct return_code *code = NULL;
	struct placed placed;
	uint64_t link;

	if (find_file(symbols, space, address, &placed)) {
		link = address + 1 - placed.bias;
		code = code_before(symbols, placed.image, link);
	}
	if (code && space == EVENT_KERNEL && is_patched(symbols, address, &placed))
		return RETURNING_MAYBE;
	if (!code || code->code == CODE_OUTSIDE)
		return leads_nowhere(symbols, space, address, callee) ? RETURNING_NOWHERE : RETURNING_MAYBE;
	if (code->code == CODE_NOT_READ || (code->code == CODE_CALLED && (!starts_function(placed.image, link) ||
			(code->target && is_callees(symbols, space, callee, code->target)))))
		return RETURNING_MAYBE;
	if (is_goroutines_end(placed.image, link))
		return RETURNING_MAYBE;
	return returns && was_interrupted(symbols, space, callee) ? RETURNING_MAYBE : RETURNING_NEVER;
}

bool symbols_calls(struct symbols *symbols, uint32_t space, uint64_t address, uint64_t callee)
{
	struct placed placed;
	uint64_t target;

	/* Most words are no code at all: it is not looked for in the file. */
	if (!find_file(symbols, space, address, &placed) ||
			symbol_table_find(placed.image->table, address - placed.bias) == SYMBOL_NONE)
		return false;
	target = code_before(symbols, placed.image, address + 1 - placed.bias)->target;
	return target && is_callees(symbols, space, callee, target);
}

/* The compiler puts rare parts of a function elsewhere: the frame is then laid in another symbol. */
static enum calls_frame read_frame(const struct image *image, uint64_t link)
{
	uint32_t index = symbol_table_find(image->table, link);
	uint8_t bytes[PROLOGUE];
	struct symbol symbol;
	size_t size;

	if (index == SYMBOL_NONE || !image->code)
		return CALLS_FRAME_UNKNOWN;
	symbol = symbol_table_get(image->table, index);
	if (link - symbol.address >= PROLOGUE || strstr(symbol.name, ".cold"))
		return CALLS_FRAME_UNKNOWN;
	size = sym_elf_code_bytes(image->code, image->fd, symbol.address, bytes, sizeof(bytes));
	if (is_hole(bytes, size))
		return CALLS_FRAME_UNKNOWN;
	return calls_frame(image->code->arch, bytes, size, link - symbol.address);
}

enum calls_frame symbols_frame(struct symbols *symbols, uint32_t space, uint64_t address)
{
	struct return_code *kept;
	struct placed placed;

	if (!find_file(symbols, space, address, &placed))
		return CALLS_FRAME_UNKNOWN;
	if (keep(symbols, placed.image, address - placed.bias, true, &kept))
		kept->frame = read_frame(placed.image, address - placed.bias);
	return kept->frame;
}
