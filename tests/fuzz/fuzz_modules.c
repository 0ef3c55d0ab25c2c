/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as BTF, and as the memory of a guest whose modules and generated code are read by what that says, or by a
 * layout of our own. The head of each list is the first word.
 */
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/linux_kernel.h"
#include "agent/names/linux/modules.h"
#include "fuzz_memory.h"

static bool see_symbol(void *context, const struct module_symbol *symbol)
{
	(void)context;
	require(strlen(symbol->name) < 512);
	return true;
}

static bool see_module(void *context, const struct kernel_module *module)
{
	(void)context;
	require(module->count && module->count <= MODULE_PARTS && module->name[0]);
	require(strlen(module->name) <= MODULE_NAME_MAX);
	return true;
}

static const struct module_visitor visitor = { .module = see_module, .symbol = see_symbol };

static void read_modules(const struct linux_kernel *kernel, struct fuzz_memory *guest)
{
	const struct memory_reader reader = { .read = fuzz_memory_read, .context = guest };
	const struct walked_memory memory = { .reader = &reader, .quota = &guest->quota };
	struct module_tables *tables = module_tables_new(NULL);
	struct list_place place = { .next = 0 };
	enum walk walk = WALK_PAUSED;

	for (int i = 0; i < FUZZ_TURNS && walk == WALK_PAUSED; i++) {
		struct orc_entry entry;

		fuzz_memory_turn(guest);
		walk = module_tables_read(tables, kernel, 0, &memory, &place, &visitor);
		module_tables_find(tables, FUZZ_MEMORY + 0x40, &entry);
		fuzz_memory_judge(guest);
	}
	module_tables_free(tables);
}

static void read_code(const struct code_list_layout *layout, struct fuzz_memory *guest)
{
	const struct memory_reader reader = { .read = fuzz_memory_read, .context = guest };
	const struct walked_memory memory = { .reader = &reader, .quota = &guest->quota };
	struct list_place place = { .next = 0 };
	enum walk walk = WALK_PAUSED;

	for (int i = 0; i < FUZZ_TURNS && walk == WALK_PAUSED; i++) {
		fuzz_memory_turn(guest);
		walk = modules_code_visit(layout, FUZZ_MEMORY, &memory, &place, &visitor);
		fuzz_memory_judge(guest);
	}
}

static void read_all(const struct kernel_layout *layout, struct orc *orc, struct fuzz_memory *guest)
{
	struct linux_kernel kernel = {
		.arch = ARCH_X86_64, .layout = *layout, .orc = orc,
		.known = 1u << LANDMARK_MODULES, .landmarks[LANDMARK_MODULES] = FUZZ_MEMORY,
	};

	read_modules(&kernel, guest);
	read_code(&layout->bpf, guest);
	read_code(&layout->trampolines, guest);
}

/* True: no turn took too long. */
static bool play(const uint8_t *bytes, size_t size)
{
	static const struct kernel_layout own = {
		.modules = true, .module_list = 8, .module_name = 24, .module_name_size = 56,
		.parts = 96, .parts_count = 7, .part_size = 24, .part_length = 8, .kallsyms = 280,
		.symbols_count = 8, .texts = 16, .types = 24,
		.orc = true, .orc_count = 288, .orc_ips = 296, .orc_entries = 304,
		.bpf = { .known = true, .ends = true, .start = 8, .length = 16, .name = 24, .name_size = 64 },
		.trampolines = { .known = true, .start = 8, .length = 16 },
	};
	static const uint8_t ip[4], entry[6];
	const struct orc_tables tables = { .ips = ip, .entries = entry, .ips_size = 4, .entries_size = 6 };
	struct fuzz_memory guest = { .bytes = bytes, .size = size };
	struct btf *btf = btf_new(bytes, size, 8, NULL);
	struct orc *orc = orc_new(&tables, ORC_6_4, NULL);
	struct kernel_layout layout;

	if (btf) {
		kernel_layout_set(&layout, btf, 8);
		read_all(&layout, orc, &guest);
	}
	btf_free(btf);
	read_all(&own, orc, &guest);
	orc_free(orc);
	return !guest.late;
}

/* A host may be so busy that a turn takes long once. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	require(play(bytes, size) || play(bytes, size) || play(bytes, size));
	return 0;
}
