/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/module_tables.h"
#include "agent/names/linux/slide.h"
#include "agent/wire/event.h"
#include "running_kernel.h"
#include "symbols.h"

enum { FUNCTION_MAX = 1 << 16 };	/* bytes: no function of a module is larger */

bool running_kernel_place(struct symbols *symbols, const struct memory_reader *memory, uint64_t code)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	uint64_t slide;

	if (!kernel || !(slide_by_gate(kernel, memory, &slide) ||
			(code && slide_by_base(kernel, memory, code, &slide)) || slide_by_banner(kernel, memory, &slide)))
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

static struct text text_of(const char *text)
{
	return (struct text) { .bytes = text, .size = strlen(text) };
}

static bool take_module(void *context, const struct kernel_module *module)
{
	static const char *const folders[] = { NULL };

	for (uint32_t i = 0; i < module->count; i++) {
		const struct object object = {
			.process = EVENT_KERNEL,
			.start = module->parts[i].address, .end = module->parts[i].address + module->parts[i].size,
			.bias = module->parts[i].address, .name = text_of(module->name),
		};

		symbols_map(context, &object, folders);
	}
	return true;
}

static bool take_symbol(void *context, const struct module_symbol *symbol)
{
	uint32_t size = symbol->size < FUNCTION_MAX ? (uint32_t)symbol->size : FUNCTION_MAX;

	if (size)
		symbols_tell(context, symbol->address, size, text_of(symbol->name));
	return true;
}

bool running_kernel_read_modules(struct symbols *symbols, const struct memory_reader *memory)
{
	const struct linux_kernel *kernel = symbols_linux_kernel(symbols);
	const struct module_visitor visitor = { .module = take_module, .symbol = take_symbol, .context = symbols };
	bool read = kernel && symbols_kernel_is_placed(symbols) &&
		module_tables_read(symbols_modules(symbols), kernel, symbols_kernel_slide(symbols), memory, &visitor);

	symbols_tell(symbols, 0, 0, (struct text) { .size = 0 });	/* that is all */
	return read;
}
