/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/base/quota.h"
#include "agent/names/linux/call_sites.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/module_tables.h"
#include "agent/names/linux/slide.h"
#include "agent/wire/event.h"
#include "running_kernel.h"
#include "symbols.h"

enum { FUNCTION_MAX = 1 << 20 };	/* bytes: no function is larger */

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
