/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/memory_reader.h"
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

static bool take_module(void *context, const struct kernel_module *module)
{
	for (uint32_t i = 0; i < module->count; i++)
		map(context, module->parts[i].address, module->parts[i].size, module->name);
	return true;
}

static bool take_symbol(void *context, const struct module_symbol *symbol)
{
	uint32_t size = symbol->size < FUNCTION_MAX ? (uint32_t)symbol->size : FUNCTION_MAX;

	if (size)
		symbols_tell(context, symbol->address, size, text_of(symbol->name));
	return true;
}

static bool take_bpf(void *context, const struct module_symbol *symbol)
{
	map(context, symbol->address, symbol->size, "[bpf]");
	return take_symbol(context, symbol);
}

static bool take_trampoline(void *context, const struct module_symbol *symbol)
{
	map(context, symbol->address, symbol->size, "[trampoline]");
	symbols_tell(context, symbol->address, (uint32_t)symbol->size, text_of("[trampoline]"));
	return true;
}

static void read_made_code(struct symbols *symbols, const struct linux_kernel *kernel,
	const struct memory_reader *memory)
{
	const struct module_visitor bpf = { .symbol = take_bpf, .context = symbols };
	const struct module_visitor trampolines = { .symbol = take_trampoline, .context = symbols };
	uint64_t slide = symbols_kernel_slide(symbols), head;

	if (linux_kernel_landmark(kernel, LANDMARK_BPF, &head))
		code_list_visit(&kernel->layout.bpf, head + slide, memory, &bpf);
	if (linux_kernel_landmark(kernel, LANDMARK_TRAMPOLINES, &head))
		code_list_visit(&kernel->layout.trampolines, head + slide, memory, &trampolines);
}

bool running_kernel_read_modules(struct symbols *symbols, const struct memory_reader *memory)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	const struct module_visitor visitor = { .module = take_module, .symbol = take_symbol, .context = symbols };
	bool read;

	if (!kernel || !symbols_kernel_is_placed(symbols))
		return false;
	read = module_tables_read(symbols_modules(symbols), kernel, symbols_kernel_slide(symbols), memory, &visitor);
	read_made_code(symbols, kernel, memory);
	symbols_tell(symbols, 0, 0, (struct text) { .size = 0 });	/* that is all */
	return read;
}
