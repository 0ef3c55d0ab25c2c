/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/bytes.h"
#include "agent/base/memory_reader.h"
#include "agent/base/quota.h"
#include "agent/base/util.h"
#include "agent/names/files/sym_elf_segments.h"
#include "agent/names/linux/call_sites.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/module_tables.h"
#include "agent/names/linux/slide.h"
#include "agent/wire/event.h"
#include "running_kernel.h"
#include "symbols.h"

enum { FUNCTION_MAX = 1 << 20 };	/* bytes: no function is larger */
#define UPTIME_MOST (NS_PER_SECOND * 3600 * 24 * 36525)	/* a hundred years: more is no time */

bool running_kernel_place(struct symbols *symbols, const struct memory_reader *memory, uint64_t code)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t slide, awaited = memory_reader_awaited(memory);

	/* The last way reads many places, so it waits for the others. */
	if (!kernel || !(slide_by_gate(kernel, memory, &slide) ||
			(code && slide_by_base(kernel, memory, code, &slide)) ||
			(awaited == memory_reader_awaited(memory) && slide_by_banner(kernel, memory, &slide))))
		return false;
	symbols_set_slide(symbols, slide);
	return true;
}

bool running_kernel_place_physically(struct symbols *symbols, const struct memory_reader *physical, uint64_t start)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t slide;

	if (!kernel || !slide_by_physical_base(kernel, physical, start, &slide))
		return false;
	symbols_set_slide(symbols, slide);
	return true;
}

bool running_kernel_place_by_returns(struct symbols *symbols, const uint64_t *returns, size_t count)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t slide;

	if (!kernel || !kernel->calls || !call_sites_slide(kernel->calls, returns, count, SLIDE_STEP, &slide))
		return false;
	symbols_set_slide(symbols, slide);
	return true;
}

bool running_kernel_uptime(struct symbols *symbols, const struct memory_reader *memory, uint64_t *place, uint64_t *ns)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	const struct clock_layout *layout = kernel ? &kernel->layout.clock : NULL;
	uint8_t base[8], fraction[8], shift[4];
	uint64_t clock;

	if (!kernel || !layout->known || !symbols_kernel_is_placed(symbols) ||
			!linux_kernel_landmark(kernel, LANDMARK_CLOCK, &clock))
		return false;
	clock += symbols_kernel_slide(symbols);
	if (!memory->read(memory->context, clock + layout->base, base, sizeof(base)) ||
			!memory->read(memory->context, clock + layout->fraction, fraction, sizeof(fraction)) ||
			!memory->read(memory->context, clock + layout->shift, shift, sizeof(shift)) ||
			bytes_64(base) > UPTIME_MOST || bytes_32(shift) > 63 ||
			bytes_64(fraction) >> bytes_32(shift) > 2 * NS_PER_SECOND)
		return false;
	*place = clock + layout->base;
	*ns = bytes_64(base) + (bytes_64(fraction) >> bytes_32(shift));
	return *ns;
}

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

static void map(struct symbols *symbols, uint64_t start, uint64_t size, const char *name)
{
	static const char *const folders[] = { NULL };

	symbols_map(symbols, &(struct object) {
		.process = EVENT_KERNEL, .start = start, .end = start + size, .bias = start, .name = text_of(name),
	}, folders);
}

struct telling {			/* a visitor's context */
	struct symbols *symbols;
	struct quota *quota;		/* for generated code: module_tables.c spends what modules cost */
};

static bool take_module(void *context, const struct kernel_module *module)
{
	const struct telling *telling = context;

	for (uint32_t i = 0; i < module->count; i++)
		map(telling->symbols, module->parts[i].address, module->parts[i].size, module->name);
	return true;
}

static bool take_symbol(void *context, const struct module_symbol *symbol)
{
	const struct telling *telling = context;
	uint32_t size = symbol->size < FUNCTION_MAX ? (uint32_t)symbol->size : FUNCTION_MAX;

	if (size)
		symbols_tell(telling->symbols, symbol->address, size, text_of(symbol->name));
	return true;
}

static bool take_bpf(void *context, const struct module_symbol *symbol)
{
	const struct telling *telling = context;

	quota_spend(telling->quota, WALK_MAP_COST + WALK_TELL_COST);
	map(telling->symbols, symbol->address, symbol->size, "[bpf]");
	return take_symbol(context, symbol);
}

static bool take_trampoline(void *context, const struct module_symbol *symbol)
{
	const struct telling *telling = context;

	quota_spend(telling->quota, WALK_MAP_COST + WALK_TELL_COST);
	map(telling->symbols, symbol->address, symbol->size, "[trampoline]");
	symbols_tell(telling->symbols, symbol->address, (uint32_t)symbol->size, text_of("[trampoline]"));
	return true;
}

static enum walk read_code(const struct linux_kernel *kernel, const struct walked_memory *memory,
	struct running_kernel_look *look, struct telling *telling)
{
	bool bpf = look->stage == RUNNING_KERNEL_BPF;
	const struct module_visitor visitor = { .symbol = bpf ? take_bpf : take_trampoline, .context = telling };
	uint64_t head;

	if (!linux_kernel_landmark(kernel, bpf ? LANDMARK_BPF : LANDMARK_TRAMPOLINES, &head))
		return WALK_FAILED;
	return modules_code_visit(bpf ? &kernel->layout.bpf : &kernel->layout.trampolines,
		head + symbols_kernel_slide(telling->symbols), memory, &look->place, &visitor);
}

static enum walk read_stage(const struct linux_kernel *kernel, const struct walked_memory *memory,
	struct running_kernel_look *look, struct telling *telling)
{
	const struct module_visitor visitor = { .module = take_module, .symbol = take_symbol, .context = telling };

	if (look->stage != RUNNING_KERNEL_MODULES)
		return read_code(kernel, memory, look, telling);
	return module_tables_read(symbols_modules(telling->symbols), kernel, symbols_kernel_slide(telling->symbols),
		memory, &look->place, &visitor);
}

enum walk running_kernel_read_modules(struct symbols *symbols, const struct walked_memory *memory,
	struct running_kernel_look *look)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	struct telling telling = { .symbols = symbols, .quota = memory->quota };

	if (!kernel || !symbols_kernel_is_placed(symbols))
		return WALK_FAILED;
	while (look->stage != RUNNING_KERNEL_DONE) {
		enum walk walk = read_stage(kernel, memory, look, &telling);

		if (walk == WALK_PAUSED)
			return walk;
		look->whole = look->whole || (look->stage == RUNNING_KERNEL_MODULES && walk == WALK_ENDED);
		look->place = (struct list_place) { .next = 0 };
		look->stage++;
	}
	symbols_tell(symbols, 0, 0, (struct text) { .size = 0 });	/* that is all */
	return look->whole ? WALK_ENDED : WALK_FAILED;
}

/* ---- where a kernel runs that is no Linux ---- */

enum {
	PAGE = 4096,
	CODE_MOST = 32 << 20,		/* bytes of a file's code */
	NEW_SAMPLES = 64,		/* after so many, what lies outside is looked at again */
	LEAST = 16,			/* so many lie outside, and most of the kernel's, before anything is read */
	TRIED = 8,			/* places in code that are tried at a time */
	WINDOW = 24, MATCHES = 64,	/* bytes that are looked for; places of the file that are tried */
	COMPARED = 64,			/* bytes of the page around it that the file must have */
	SURE = 80,			/* percent of them that are equal: a loader may change addresses */
};

struct kernel_place {
	struct symbols *symbols;
	struct budget *budget;
	int file;			/* the descriptor whose code is kept; -1: none */
	struct elf_segments segments;
	uint8_t *code;			/* of all segments, one behind the other */
	size_t size;
	uint64_t looked;		/* symbols_sampled at the last look */
	bool news;			/* pages have come since */
};

struct kernel_place *kernel_place_new(struct symbols *symbols, struct budget *budget)
{
	struct kernel_place *place = util_alloc(sizeof(*place));

	*place = (struct kernel_place) { .symbols = symbols, .budget = budget, .file = -1 };
	return place;
}

static void forget(struct kernel_place *place)
{
	budget_free(place->budget, place->code, place->size);
	place->code = NULL;
	place->size = 0;
	place->file = -1;
}

void kernel_place_free(struct kernel_place *place)
{
	if (!place)
		return;
	forget(place);
	free(place);
}

void kernel_place_wake(struct kernel_place *place)
{
	place->news = true;
}

static bool read_segments(struct kernel_place *place, int fd)
{
	size_t at = 0;

	for (uint32_t i = 0; i < place->segments.count; i++) {
		const struct elf_segment *segment = &place->segments.list[i];

		for (uint64_t done = 0; done < segment->size;) {
			ssize_t got = pread(fd, place->code + at, segment->size - done,
				(off_t)(segment->offset + done));

			if (got <= 0)
				return false;
			at += (size_t)got;
			done += (uint64_t)got;
		}
	}
	return true;
}

/* Reads the code of the kernel's file, once for each file. False: it has none that is of use. */
static bool have_code(struct kernel_place *place, int fd)
{
	uint64_t size = 0;

	if (fd == place->file)
		return place->code;
	forget(place);
	place->file = fd;
	sym_elf_segments(fd, &place->segments);
	for (uint32_t i = 0; i < place->segments.count; i++) {
		if (place->segments.list[i].size > CODE_MOST - size)
			return false;
		size += place->segments.list[i].size;
	}
	place->code = size ? budget_resize(place->budget, NULL, 0, size) : NULL;
	place->size = place->code ? size : 0;
	if (place->code && !read_segments(place, fd)) {
		forget(place);
		place->file = fd;
	}
	return place->code;
}

/* Where a byte of the code is linked. */
static uint64_t link_of(const struct kernel_place *place, size_t at)
{
	uint32_t i = 0;

	for (; at >= place->segments.list[i].size; i++)
		at -= place->segments.list[i].size;
	return place->segments.list[i].address + at;
}

/* The byte that is linked at an address. NULL: none is. */
static const uint8_t *code_at(const struct kernel_place *place, uint64_t link)
{
	const uint8_t *code = place->code;

	for (uint32_t i = 0; i < place->segments.count; i++) {
		const struct elf_segment *segment = &place->segments.list[i];

		if (link - segment->address < segment->size)
			return code + (link - segment->address);
		code += segment->size;
	}
	return NULL;
}

/* The next place in the code that has these bytes. NULL: there is none. */
static const uint8_t *find_next(const struct kernel_place *place, const uint8_t *from, const uint8_t *window)
{
	return memmem(from, place->size - (size_t)(from - place->code), window, WINDOW);
}

/* How many bytes of the page are the same in the file, where the file has it. 0: too few. */
static size_t equal_bytes(const struct kernel_place *place, const uint8_t *page, uint64_t link)
{
	size_t compared = 0, equal = 0;

	for (size_t i = 0; i < PAGE; i++) {
		const uint8_t *byte = code_at(place, link + i);

		compared += byte != NULL;
		equal += byte && *byte == page[i];
	}
	return (compared >= COMPARED || compared == place->size) && equal * 100 >= compared * SURE ? equal : 0;
}

/*
 * By the code that ran at this address: wherever the file has it, all of the page is compared. Of several places that
 * fit, one has to fit best.
 */
static bool find_slide(struct kernel_place *place, const struct memory_reader *memory, uint64_t address,
	uint64_t *slide)
{
	uint64_t start = address / PAGE * PAGE;
	size_t at = (size_t)(address - start) < PAGE - WINDOW ? (size_t)(address - start) : PAGE - WINDOW;
	const uint8_t *found = place->code;
	size_t best = 0, second = 0;
	uint8_t page[PAGE];

	*slide = 0;
	if (!memory->read(memory->context, start, page, PAGE))
		return false;
	for (uint32_t i = 0; i < MATCHES && (found = find_next(place, found, page + at)); i++, found++) {
		uint64_t tried = start + at - link_of(place, (size_t)(found - place->code));
		size_t equal = equal_bytes(place, page, start - tried);

		second = equal > best ? best : equal > second ? equal : second;
		if (equal <= best)
			continue;
		best = equal;
		*slide = tried;
	}
	return best > second && *slide != symbols_kernel_slide(place->symbols);
}

void kernel_place_step(struct kernel_place *place, const struct memory_reader *memory)
{
	uint64_t addresses[SYMBOLS_RECENT], sampled = symbols_sampled(place->symbols), slide;
	int fd = symbols_kernel_descriptor(place->symbols);
	uint32_t count, kernel;

	if (fd < 0 || symbols_linux_kernel(place->symbols) ||
			(!place->news && sampled - place->looked < NEW_SAMPLES))
		return;
	place->news = false;
	place->looked = sampled;
	count = symbols_outside(place->symbols, addresses, &kernel);
	if (count < LEAST || 2 * count <= kernel || !have_code(place, fd))
		return;
	for (uint32_t i = 0; i < TRIED; i++)
		if (find_slide(place, memory, addresses[i * count / TRIED], &slide)) {
			symbols_set_slide(place->symbols, slide);
			return;
		}
}
