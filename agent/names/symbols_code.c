/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/files/image.h"
#include "agent/names/files/sym_elf.h"
#include "agent/names/files/symbol_table.h"
#include "agent/names/objects/layouts.h"
#include "agent/names/objects/objects.h"
#include "agent/wire/event.h"
#include "function.h"
#include "guest_symbols.h"
#include "lines.h"
#include "symbols_state.h"

/*
 * The code of functions: where it is, which file it is of, and its source lines. Of code that nothing names, where it
 * was sampled, and how much of the kernel's its file does not have.
 */

enum {
	PAGE = 4096,
	GAP = 1 << 20,			/* bytes: code that lies farther apart is not one piece */
	LEAST = 32,			/* samples of the kernel by which a file is judged */
	TOLD_PERCENT = 20,		/* from this share on, what the file lacks is told */
	LINUX_LEAST = 1 << 13,		/* samples before it is told that a Linux kernel's file has no place */
	TEXTS_MOST = 256,		/* different ranges that are told in all: each keeps its text */
};

/* What a file's symbol says. False: the file has none at that link address. */
static bool find_symbol(const struct image *image, uint64_t link, uint64_t bias, struct symbol_code *code)
{
	uint32_t index = symbol_table_find(image->table, link);
	struct symbol symbol;

	if (index == SYMBOL_NONE)
		return false;
	symbol = symbol_table_get(image->table, index);
	*code = (struct symbol_code) {
		.low = symbol.address, .high = symbol.end, .bias = bias, .fd = image->fd, .path = image->path,
		.file = &image->file, .kernel = image->kernel,
	};
	return true;
}

static bool find_told(struct symbols *symbols, uint64_t address, uint64_t bias, struct symbol_code *code)
{
	const struct guest_symbol *symbol = guest_symbols_find(symbols->told, address);

	if (symbol)
		*code = (struct symbol_code) {
			.low = symbol->address - bias, .high = symbol->end - bias, .bias = bias, .fd = -1,
		};
	return symbol;
}

/* In the order in which symbols_function looks. */
static bool find(struct symbols *symbols, uint32_t space, uint64_t address, struct symbol_code *code)
{
	const struct mapping *mapping = layouts_find(symbols->layouts, space, address);
	const struct image *image = mapping ? objects_image(mapping) : NULL;
	uint64_t slide = kernel_image_slide(symbols->kernel);

	if (space == EVENT_KERNEL && !image) {
		if (kernel_image_is_placed(symbols->kernel) && find_symbol(kernel_image_file(symbols->kernel),
				address - slide, slide, code))
			return true;
		if (find_told(symbols, address, mapping ? objects_bias(mapping) : slide, code))
			return true;
	}
	return image && find_symbol(image, address - objects_bias(mapping), objects_bias(mapping), code);
}

bool symbols_code(struct symbols *symbols, uint32_t space, uint64_t address, struct symbol_code *code)
{
	if (!find(symbols, space, address, code))
		return false;
	code->debug = symbols_debug_of(symbols, symbols_function(symbols, space, address));
	return true;
}

bool symbols_code_lines(struct symbols *symbols, const struct symbol_code *code, struct code_lines **lines, bool *more)
{
	enum lines_state state;

	*lines = NULL;
	*more = false;
	if (!code->debug)
		return true;
	state = lines_code(symbols->lines, code->debug, code->low, code->high, lines);
	*more = state == LINES_LATER;
	return state != LINES_COMING;
}

/* ---- which file is mapped at an address ---- */

/* The offset in the file of the byte that is linked at this address. */
static uint64_t offset_of(const struct elf_segments *segments, uint64_t link)
{
	for (uint32_t i = 0; i < segments->count; i++)
		if (link - segments->list[i].address < segments->list[i].size)
			return segments->list[i].offset + (link - segments->list[i].address);
	return link;
}

static void tell_image(const struct image *image, uint64_t bias, struct symbols_mapping *mapping)
{
	mapping->path = image->path ? image->path : "";
	if (!build_id_known(&mapping->build_id))
		mapping->build_id = image->build_id;
	mapping->offset = offset_of(&image->segments, mapping->start - bias);
}

/* The kernel is where its functions are. */
static void tell_kernel(struct symbols *symbols, struct symbols_mapping *mapping)
{
	const struct image *file = kernel_image_file(symbols->kernel);
	const struct debug_object *debug = kernel_image_debug(symbols->kernel);
	uint64_t slide = kernel_image_slide(symbols->kernel);
	uint32_t count = file && kernel_image_is_placed(symbols->kernel) ? symbol_table_count(file->table) : 0;

	*mapping = (struct symbols_mapping) { .name = "kernel", .path = "" };
	if (debug)
		mapping->build_id = debug->build_id;
	if (!count)
		return;
	mapping->start = symbol_table_get(file->table, 0).address + slide;
	mapping->end = symbol_table_get(file->table, count - 1).end + slide;
	tell_image(file, slide, mapping);
}

bool symbols_mapping(struct symbols *symbols, uint32_t space, uint64_t address, struct symbols_mapping *mapping)
{
	const struct mapping *found = layouts_find(symbols->layouts, space, address);

	if (!found && space != EVENT_KERNEL)
		return false;
	if (!found) {
		tell_kernel(symbols, mapping);
		return true;
	}
	*mapping = (struct symbols_mapping) {
		.name = found->name, .path = "", .build_id = found->build_id, .start = found->start, .end = found->end,
	};
	mapping->offset = found->start - found->bias;
	if (objects_image(found))
		tell_image(objects_image(found), objects_bias(found), mapping);
	return true;
}

/* ---- what was sampled ---- */

void symbols_saw(struct symbols *symbols, uint32_t space, uint64_t address)
{
	const struct symbols_sampled sampled = { address, space };
	uint64_t count = symbols->sampled_count++, at = count;

	symbols->recent[count % SYMBOLS_RECENT] = sampled;
	if (count >= SYMBOLS_KEPT) {
		symbols->draw = symbols->draw * 6364136223846793005 + 1442695040888963407;	/* Knuth, MMIX */
		at = (uint64_t)((unsigned __int128)symbols->draw * (count + 1) >> 64);
	}
	if (at < SYMBOLS_KEPT)
		symbols->kept[at] = sampled;
}

uint64_t symbols_sampled(const struct symbols *symbols)
{
	return symbols->sampled_count;
}

static uint32_t filled(const struct symbols *symbols, uint32_t room)
{
	return symbols->sampled_count < room ? (uint32_t)symbols->sampled_count : room;
}

static bool is_unknown(const struct function *function)
{
	return !function->known && strcmp(function->name, "[unknown]") == 0;
}

/* Is the address within what the kernel's file tells of? Between its functions may be code without a name. */
static bool is_in_file(const struct symbols *symbols, uint64_t address)
{
	const struct symbol_table *table = kernel_image_file(symbols->kernel)->table;
	uint64_t link = address - kernel_image_slide(symbols->kernel);
	uint32_t count = symbol_table_count(table);

	return kernel_image_is_placed(symbols->kernel) && count && link >= symbol_table_get(table, 0).address &&
		link < symbol_table_get(table, count - 1).end;
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The pages of the piece of code that has most of these addresses, which are put in order. False: there are none. */
static bool find_piece(uint64_t *addresses, uint32_t count, struct code_piece_range *range)
{
	uint32_t best = 0;

	if (!count)
		return false;
	qsort(addresses, count, sizeof(*addresses), by_address);
	for (uint32_t first = 0, last; first < count; first = last + 1) {
		for (last = first; last + 1 < count && addresses[last + 1] - addresses[last] < GAP;)
			last++;
		if (last - first + 1 <= best)
			continue;
		best = last - first + 1;
		range->low = addresses[first] / PAGE * PAGE;
		range->high = addresses[last] / PAGE * PAGE + (PAGE - 1);
	}
	range->all = best == count;
	return true;
}

/*
 * As symbols_outside, of these samples. What a board's firmware has its place for, or ran before the kernel, is taken
 * for that; but if it is most of all, it is hardly that.
 */
static uint32_t find_outside(struct symbols *symbols, const struct symbols_sampled *sampled, uint32_t samples,
	uint64_t *addresses, uint32_t *kernel)
{
	uint32_t count = 0, early = 0;

	*kernel = 0;
	for (uint32_t i = 0; kernel_image_file(symbols->kernel) && i < samples; i++) {
		uint64_t address = sampled[i].address;

		if (sampled[i].space != EVENT_KERNEL)
			continue;
		++*kernel;
		if (is_in_file(symbols, address))
			continue;
		if (is_unknown(symbols_get(symbols, symbols_function(symbols, EVENT_KERNEL, address))))
			addresses[count++] = address;
		else if (symbols_region(symbols, address))
			addresses[samples - ++early] = address;
	}
	if (early <= *kernel / 2 || symbols_linux_kernel(symbols))
		return count;
	memmove(addresses + count, addresses + samples - early, early * sizeof(*addresses));
	return count + early;
}

uint32_t symbols_outside(struct symbols *symbols, uint64_t *addresses, uint32_t *kernel)
{
	return find_outside(symbols, symbols->recent, filled(symbols, SYMBOLS_RECENT), addresses, kernel);
}

uint32_t symbols_inside(struct symbols *symbols, uint64_t *addresses)
{
	uint32_t count = 0;

	for (uint32_t i = 0; kernel_image_file(symbols->kernel) && i < filled(symbols, SYMBOLS_RECENT); i++) {
		uint64_t address = symbols->recent[i].address;

		if (symbols->recent[i].space == EVENT_KERNEL && is_in_file(symbols, address) &&
				strcmp(symbols_get(symbols, symbols_function(symbols, EVENT_KERNEL, address))->object,
					"kernel") == 0)
			addresses[count++] = address;
	}
	return count;
}

const char *symbols_outside_note(struct symbols *symbols, const struct symbols_sampled *sampled, uint32_t samples,
	char text[SYMBOLS_OUTSIDE])
{
	const struct image *file = kernel_image_file(symbols->kernel);
	uint64_t addresses[SYMBOLS_KEPT];
	uint32_t kernel, count = sampled ? find_outside(symbols, sampled, samples, addresses, &kernel) :
		find_outside(symbols, symbols->kept, filled(symbols, SYMBOLS_KEPT), addresses, &kernel);
	struct code_piece_range range;
	const char *slash = file ? strrchr(file->path, '/') : NULL, *name = slash && slash[1] ? slash + 1 :
		file ? file->path : "";
	uint64_t other;

	*text = '\0';
	if (kernel_image_other(symbols->kernel, &other)) {
		util_print(text, SYMBOLS_OUTSIDE, "the code that runs at 0x%" PRIx64 "-0x%" PRIx64 " is not that of "
			"%s: is it the file of the kernel that runs? give that by --kernel",
			other, other + (PAGE - 1), name);
		return text;
	}
	if (!file || kernel < LEAST || count * 100 < kernel * TOLD_PERCENT ||
			(file->kernel && !kernel_image_is_placed(symbols->kernel) &&
				symbols->sampled_count < LINUX_LEAST) ||
			!find_piece(addresses, count, &range))
		return text;
	util_print(text, SYMBOLS_OUTSIDE, "%" PRIu32 " %% of the kernel's samples lie outside %s, %sat 0x%" PRIx64
		"-0x%" PRIx64 ": is it the file of the kernel that runs? give that by --kernel, or other code by "
		"--object FILE@ADDRESS",
		count * 100 / kernel, name, range.all ? "" : "most ", range.low, range.high);
	return text;
}

/* The text for a range, which lasts as long as the symbols. */
static const char *keep_range(struct symbols *symbols, const struct code_piece_range *range)
{
	char text[64];

	if (symbols->ranges_told == TEXTS_MOST)
		return "";
	symbols->ranges_told++;
	util_print(text, sizeof(text), "0x%" PRIx64 "-0x%" PRIx64 "%s", range->low, range->high,
		range->all ? "" : " and others");
	return objects_name(symbols->objects, (struct text) { .bytes = text, .size = strlen(text) });
}

const char *symbols_source(struct symbols *symbols, uint32_t function)
{
	uint64_t addresses[SYMBOLS_KEPT];
	struct told_range *told = &symbols->ranges[function % SYMBOLS_RANGES];
	struct code_piece_range range;
	uint32_t count = 0;

	if (!is_unknown(symbols_get(symbols, function)))
		return symbols_line(symbols, function);
	for (uint32_t i = 0; i < filled(symbols, SYMBOLS_KEPT); i++)
		if (symbols_function(symbols, symbols->kept[i].space, symbols->kept[i].address) == function)
			addresses[count++] = symbols->kept[i].address;
	if (!find_piece(addresses, count, &range))
		return "";
	if (!told->text || told->function != function || memcmp(&told->range, &range, sizeof(range)) != 0)
		*told = (struct told_range) {
			.function = function, .range = range, .text = keep_range(symbols, &range),
		};
	return told->text;
}

/* ---- return addresses ---- */

/* Return addresses that cannot be any, by the code that stands there. */

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
		if (space == EVENT_KERNEL && is_patched(symbols, address, &placed))
			return RETURNING_MAYBE;
		link = address + 1 - placed.bias;
		code = code_before(symbols, placed.image, link);
	}
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
