/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as BTF, and as the memory of a guest whose modules are read by what that says, or by a layout of our own.
 * The head of the list is the first word.
 */
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/names/linux/btf.h"
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/modules.h"
#include "fuzz.h"

#define MEMORY UINT64_C(0xffffffffc0000000)

enum { READS_MAX = 1 << 20 };

struct guest {
	const uint8_t *bytes;
	size_t size;
	unsigned reads;
	const struct kernel_layout *layout;
	unsigned modules;
};

/* Beyond its end a page is zeros, so that small inputs have pages, too. */
static bool read_guest(void *context, uint64_t address, void *to, size_t size)
{
	struct guest *guest = context;

	require(++guest->reads < READS_MAX);
	if (address < MEMORY || address - MEMORY >= guest->size)
		return false;
	memset(to, 0, size);
	if (size > guest->size - (address - MEMORY))
		size = guest->size - (address - MEMORY);
	memcpy(to, guest->bytes + (address - MEMORY), size);
	return true;
}

static bool see_symbol(void *context, const struct module_symbol *symbol)
{
	(void)context;
	require(symbol->name[0] && strlen(symbol->name) < 512);
	return true;
}

static bool see_module(void *context, const struct kernel_module *module)
{
	struct guest *guest = context;
	const struct memory_reader memory = { .read = read_guest, .context = guest };
	const struct module_visitor visitor = { see_module, see_symbol, guest };

	require(module->count && module->count <= MODULE_PARTS && module->name[0]);
	require(strlen(module->name) <= MODULE_NAME_MAX);
	if (guest->modules++ < 4) {
		module_symbols_visit(guest->layout, module, &memory, &visitor);
		orc_free(module_orc(guest->layout, module, &memory, ORC_6_4, NULL));
	}
	return true;
}

static void visit(const struct kernel_layout *layout, const uint8_t *bytes, size_t size)
{
	struct guest guest = { .bytes = bytes, .size = size, .layout = layout };
	const struct memory_reader memory = { .read = read_guest, .context = &guest };
	const struct module_visitor visitor = { see_module, see_symbol, &guest };

	modules_visit(layout, MEMORY, &memory, &visitor);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct kernel_layout own = {
		.modules = true, .module_list = 8, .module_name = 24, .module_name_size = 56,
		.parts = 96, .parts_count = 7, .part_size = 24, .part_length = 8, .kallsyms = 280,
		.symbols_count = 8, .texts = 16, .types = 24,
		.orc = true, .orc_count = 288, .orc_ips = 296, .orc_entries = 304,
	};
	struct btf *btf = btf_new(bytes, size, 8, NULL);
	struct kernel_layout layout;

	if (btf) {
		kernel_layout_set(&layout, btf);
		visit(&layout, bytes, size);
	}
	btf_free(btf);
	visit(&own, bytes, size);
	return 0;
}
