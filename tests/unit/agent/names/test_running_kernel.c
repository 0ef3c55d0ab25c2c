/* SPDX-License-Identifier: MIT */
/* What symbols know of a Linux kernel by its boot image and its memory: where it runs, its modules. */
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/names/function.h"
#include "agent/names/linux/modules.h"
#include "agent/names/linux/walk.h"
#include "agent/names/running_kernel.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "tests/unit/fakes/fake_btf.h"
#include "tests/unit/fakes/fake_linux.h"
#include "tests/unit/fakes/fake_modules.h"
#include "tests/unit/fakes/scratch.h"

#define START UINT64_C(0xffffffff81000000)
#define SLIDE UINT64_C(0x1c000000)
#define BPF_HEAD (FAKE_MODULES_HEAD + 0x20)
#define TRAMPOLINES_HEAD (FAKE_MODULES_HEAD + 0x40)
#define CLOCK (FAKE_MODULES + 0xa000)
#define IDT UINT64_C(0xfffffe0000000000)

static const struct fake_symbol symbols_of[] = {
	{ START, 'T', "_text" }, { START + 0x40, 't', "do_work_0123456789" },
	{ START + 0x80, 'T', "asm_exc_divide_error" }, { START + 0x100, 'D', "linux_banner" },
	{ FAKE_MODULES_HEAD - SLIDE, 'D', "modules" }, { BPF_HEAD - SLIDE, 'd', "bpf_kallsyms" },
	{ TRAMPOLINES_HEAD - SLIDE, 'd', "ftrace_ops_trampoline_list" }, { CLOCK - SLIDE, 'd', "tk_core" },
};

/* The modules' memory, and an IDT. */
static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	const uint64_t handler = START + SLIDE + 0x80;
	uint8_t gate[16] = { 0x80, 0, 0x10, 0, 0, 0x8e };

	if (address != IDT || size != sizeof(gate))
		return fake_modules_read(context, address, bytes, size);
	for (int i = 0; i < 2; i++) {
		gate[i] = (uint8_t)(handler >> (8 * i));
		gate[6 + i] = (uint8_t)(handler >> (16 + 8 * i));
	}
	for (int i = 0; i < 4; i++)
		gate[8 + i] = (uint8_t)(handler >> (32 + 8 * i));
	memcpy(bytes, gate, size);
	return true;
}

static struct symbols *with_image(bool old)
{
	static const uint8_t ips[8], entries[12] = { 0, 0, 0, 0, ORC_SP, 0, 0, 0, 0, 0, ORC_SP, 0 };
	struct symbols *symbols = symbols_new(NULL);
	size_t size, btf_size;
	uint8_t *btf = fake_btf(old, 0, &btf_size), *image;
	const struct fake_part parts[] = {
		{ 0x2000, ips, sizeof(ips) }, { 0x2010, entries, sizeof(entries) }, { 0x2040, btf, btf_size },
	};
	const struct fake_linux fake = {
		.shape = FAKE_ELF64, .order = old ? FAKE_6_2 : FAKE_6_4, .kind = KALLSYMS_OFFSETS_PERCPU,
		.start = START, .symbols = symbols_of, .count = sizeof(symbols_of) / sizeof(*symbols_of),
		.parts = parts, .parts_count = 3,
	};
	char *error = NULL;

	image = fake_pack(fake_linux(&fake, &size), &size, FAKE_XZ);
	image = fake_bzimage(image, &size);
	if (!symbols_load_kernel(symbols, scratch_write("vmlinuz", image, size), &error))
		fail_msg("%s", error);
	free(image);
	free(btf);
	return symbols;
}

static void check(struct symbols *symbols, uint64_t address, const char *name, const char *object)
{
	const struct function *function = symbols_get(symbols, symbols_function(symbols, EVENT_KERNEL, address));

	assert_string_equal(function->name, name);
	assert_string_equal(function->object, object);
}

/* A whole look, in one turn. */
static bool read_modules(struct symbols *symbols, const struct memory_reader *reader)
{
	struct quota quota = { .most = UINT64_MAX };
	const struct walked_memory memory = { .reader = reader, .quota = &quota };
	struct running_kernel_look look = { .whole = false };

	return running_kernel_read_modules(symbols, &memory, &look) == WALK_ENDED;
}

static uint64_t code_of(const struct fake_modules *guest, uint64_t module)
{
	uint64_t code;

	memcpy(&code, guest->bytes + (module - FAKE_MODULES) + FAKE_MODULE_PARTS, 8);
	return code;
}

/* Where the list of modules leads to from one of its places. */
static uint64_t next_of(const struct fake_modules *guest, uint64_t at)
{
	uint64_t next;

	memcpy(&next, guest->bytes + (at - FAKE_MODULES), 8);
	return next;
}

static void a_kernel_is_placed_and_its_modules_have_names(void **state)
{
	(void)state;
	for (int old = 0; old < 2; old++) {
		struct fake_modules *guest = fake_modules_new(old, 2);
		const struct memory_reader memory = { .read = read_memory, .context = guest };
		struct symbols *symbols = with_image(old);
		uint64_t first = next_of(guest, FAKE_MODULES_HEAD), second = next_of(guest, first);
		uint64_t code = code_of(guest, second - FAKE_MODULE_LIST);
		uint64_t other = code_of(guest, first - FAKE_MODULE_LIST);
		struct orc_entry entry;
		unsigned reads;

		check(symbols, START + SLIDE + 0x44, "[unknown]", "kernel");
		assert_false(read_modules(symbols, &memory));
		assert_true(running_kernel_place(symbols, &memory, 0));
		check(symbols, START + SLIDE + 0x44, "do_work_0123456789", "kernel");
		check(symbols, code + 0x20, "[unknown]", "kernel");
		assert_false(symbols_kernel_orc(symbols, code + 0x24, &entry));

		assert_true(read_modules(symbols, &memory));
		assert_false(symbols_being_told(symbols));
		assert_true(symbols_kernel_orc(symbols, other + 0x24, &entry));
		check(symbols, code, "f0", "module_1");
		check(symbols, code + 0x2f, "f2", "module_1");
		check(symbols, code + 0x30, "[unknown]", "module_1");
		check(symbols, other, "f0", "module_0");
		assert_true(symbols_kernel_orc(symbols, code + 0x24, &entry));
		assert_int_equal(entry.sp_offset, 24);

		/* What is known is not read again; the one that goes takes its tables along. */
		reads = guest->reads;
		assert_true(read_modules(symbols, &memory));
		assert_in_range(guest->reads - reads, 1, 10);
		fake_modules_set(guest, first, FAKE_MODULES_HEAD, 8);
		assert_true(read_modules(symbols, &memory));
		assert_true(symbols_kernel_orc(symbols, other + 0x24, &entry));
		assert_false(symbols_kernel_orc(symbols, code + 0x24, &entry));
		symbols_free(symbols);
		free(guest);
	}
}

/* The only one in a list. */
static void put_node(struct fake_modules *guest, uint64_t head, uint64_t node)
{
	fake_modules_set(guest, head, node, 8);
	fake_modules_set(guest, node, head, 8);
}

static void code_that_the_kernel_makes_says_so(void **state)
{
	struct fake_modules *guest = fake_modules_new(false, 1);
	const struct memory_reader memory = { .read = read_memory, .context = guest };
	struct symbols *symbols = with_image(false);
	uint64_t program = FAKE_MODULES + 0x8000, hook = FAKE_MODULES + 0x8800, code = FAKE_MODULES + 0x9000;

	(void)state;
	fake_modules_set(guest, program + FAKE_BPF_START, code, 8);
	fake_modules_set(guest, program + FAKE_BPF_END, code + 0x80, 8);
	strcpy((char *)guest->bytes + (program - FAKE_MODULES) + FAKE_BPF_NAME, "bpf_prog_6deef7357e7b4530");
	put_node(guest, BPF_HEAD, program + FAKE_BPF_LIST);
	fake_modules_set(guest, hook + FAKE_TRAMPOLINE, code + 0x100, 8);
	fake_modules_set(guest, hook + FAKE_TRAMPOLINE_SIZE, 0x40, 8);
	put_node(guest, TRAMPOLINES_HEAD, hook + FAKE_TRAMPOLINE_LIST);
	assert_true(running_kernel_place(symbols, &memory, 0));
	assert_true(read_modules(symbols, &memory));
	check(symbols, code + 0x7f, "bpf_prog_6deef7357e7b4530", "[bpf]");
	check(symbols, code + 0x100, "[trampoline]", "[trampoline]");
	check(symbols, code + 0x80, "[unknown]", "kernel");

	/* They lie: one ends before it begins, the other's list has no end. */
	fake_modules_set(guest, program + FAKE_BPF_END, code - 1, 8);
	fake_modules_set(guest, hook + FAKE_TRAMPOLINE_LIST, hook + FAKE_TRAMPOLINE_LIST, 8);
	assert_true(read_modules(symbols, &memory));
	symbols_free(symbols);
	free(guest);
}

/* What enters and leaves arm64's kernel lies above all other code, under no symbol. */
static void arm64s_trampoline_has_a_name(void **state)
{
	static const struct fake_symbol arm64[] = {
		{ UINT64_C(0xffff800080000000), 'T', "_text" }, { UINT64_C(0xffff800080000040), 'T', "f0123456789" },
	};
	const struct fake_linux fake = {
		.shape = FAKE_IMAGE, .order = FAKE_6_4, .kind = KALLSYMS_OFFSETS, .start = arm64[0].address,
		.symbols = arm64, .count = 2,
	};
	struct symbols *symbols = symbols_new(NULL);
	char *error = NULL;
	size_t size;
	uint8_t *image = fake_linux(&fake, &size);

	(void)state;
	check(symbols, UINT64_C(0xffffffffff5f8400), "[unknown]", "kernel");
	if (!symbols_load_kernel(symbols, scratch_write("Image", image, size), &error))
		fail_msg("%s", error);
	check(symbols, UINT64_C(0xffffffffff5f8400), "[entry trampoline]", "kernel");
	check(symbols, UINT64_C(0xfffffbfffdbf9000), "[entry trampoline]", "kernel");
	check(symbols, UINT64_C(0xffff800000000000), "[unknown]", "kernel");
	symbols_set_slide(symbols, 0);
	check(symbols, arm64[1].address, "f0123456789", "kernel");
	symbols_free(symbols);
	free(image);
}

/* Memory that is read on request: a page is there once it was asked for by the run before. */
struct paged {
	struct fake_modules *guest;
	bool there[FAKE_MODULES_SIZE / 4096], wanted[FAKE_MODULES_SIZE / 4096], gate_there;
	uint64_t awaited;
};

static bool read_paged(void *context, uint64_t address, void *bytes, size_t size)
{
	struct paged *paged = context;
	bool *there = &paged->gate_there, *wanted = &paged->gate_there;

	if (address - FAKE_MODULES < FAKE_MODULES_SIZE) {
		there = &paged->there[(address - FAKE_MODULES) / 4096];
		wanted = &paged->wanted[(address - FAKE_MODULES) / 4096];
	}
	if (*there)
		return read_memory(paged->guest, address, bytes, size);
	*wanted = true;
	paged->awaited++;
	return false;
}

static uint64_t awaited(void *context)
{
	return ((const struct paged *)context)->awaited;
}

/* Of a module, nothing is told before all of it is there; then it is not read again. */
static void a_module_is_told_when_all_its_pages_have_come(void **state)
{
	enum { MODULES = 24 };
	struct paged paged = { .guest = fake_modules_new(false, MODULES) };
	const struct memory_reader memory = { .read = read_paged, .context = &paged, .awaited = awaited };
	struct symbols *symbols = with_image(false);
	unsigned runs = 0, before = 0;
	uint64_t missed;

	(void)state;
	assert_false(running_kernel_place(symbols, &memory, 0));
	assert_int_equal(paged.awaited, 1);		/* the gate alone is waited for */
	assert_true(running_kernel_place(symbols, &memory, 0));
	do {
		unsigned count = 0;

		missed = paged.awaited;
		memcpy(paged.there, paged.wanted, sizeof(paged.there));
		read_modules(symbols, &memory);
		for (uint64_t at = next_of(paged.guest, FAKE_MODULES_HEAD); at != FAKE_MODULES_HEAD;
				at = next_of(paged.guest, at)) {
			uint64_t code = code_of(paged.guest, at - FAKE_MODULE_LIST);
			struct orc_entry entry;
			const struct function *function = symbols_get(symbols,
				symbols_function(symbols, EVENT_KERNEL, code + 0x20));
			bool unwound = symbols_kernel_orc(symbols, code + 0x24, &entry);

			assert_int_equal(strcmp(function->name, "f2") == 0, unwound);
			count += unwound;
		}
		assert_true(count >= before);
		before = count;
	} while (missed != paged.awaited && ++runs < 100);
	assert_in_range(runs, 3, 50);
	assert_int_equal(before, MODULES);
	symbols_free(symbols);
	free(paged.guest);
}

/* A module with as many symbols as one may have, each with a long name, which takes a page of its own to read. */
#define ROWS (UINT64_C(0xffffffffd0000000))
#define LETTERS (ROWS + 0x1000000)
#define NAMES (ROWS + 0x2000000)

static bool read_endless(void *context, uint64_t address, void *to, size_t size)
{
	struct fake_modules *guest = context;
	uint8_t *bytes = to;

	if (address < ROWS)
		return fake_modules_read(context, address, to, size);
	guest->reads++;
	memset(bytes, address >= NAMES ? 'x' : 't', size);
	for (size_t i = 0; address < LETTERS && i < size; i++) {
		uint64_t at = address - ROWS + i, row = at / 24, code = code_of(guest, FAKE_MODULES + 0x200);
		uint64_t value = at % 24 < 8 ? row % 4096 * 4096 : at % 24 < 16 ? code + row % 0x1f0 : 16;

		bytes[i] = (uint8_t)(value >> (8 * (at % 8)));
	}
	if (address >= NAMES)
		bytes[400] = 0;
	return true;
}

static unsigned told;

static bool count_module(void *context, const struct kernel_module *module)
{
	(void)context, (void)module;
	return true;
}

static bool count_symbol(void *context, const struct module_symbol *symbol)
{
	(void)context;
	assert_int_equal(strlen(symbol->name), 400);
	told++;
	return true;
}

/* Whatever the guest says, a turn reads only so much, and tells of only so much; and all of it comes, turn by turn. */
static void no_turn_takes_long(void **state)
{
	enum { MOST = 8 << 20, PAGES = MOST / 4096 };
	struct fake_modules *guest = fake_modules_new(false, 1);
	const struct memory_reader reader = { .read = read_endless, .context = guest };
	const struct module_visitor visitor = { .module = count_module, .symbol = count_symbol };
	struct symbols *symbols = with_image(false);
	struct module_tables *tables = module_tables_new(NULL);
	struct list_place place = { .next = 0 };
	uint64_t link = next_of(guest, FAKE_MODULES_HEAD);
	uint64_t kallsyms = next_of(guest, link - FAKE_MODULE_LIST + FAKE_KALLSYMS);
	unsigned turns = 0, before;
	enum walk walk;

	(void)state;
	assert_true(link - FAKE_MODULE_LIST == FAKE_MODULES + 0x200);
	fake_modules_set(guest, kallsyms + FAKE_SYMBOLS, ROWS, 8);
	fake_modules_set(guest, kallsyms + FAKE_TYPES, LETTERS, 8);
	fake_modules_set(guest, kallsyms + FAKE_TEXTS, NAMES, 8);
	fake_modules_set(guest, kallsyms + FAKE_SYMBOLS_COUNT, MODULE_SYMBOLS_MAX, 4);
	told = 0;
	do {
		struct quota quota = { .most = MOST };
		const struct walked_memory memory = { .reader = &reader, .quota = &quota };

		guest->reads = 0;
		before = told;
		walk = module_tables_read(tables, symbols_linux_kernel(symbols), SLIDE, &memory, &place, &visitor);
		assert_in_range(guest->reads, 1, PAGES + 16);
		assert_in_range(told - before, 0, MOST / WALK_TELL_COST);
	} while (walk == WALK_PAUSED && ++turns < 1000);
	assert_int_equal(walk, WALK_ENDED);
	assert_int_equal(told, MODULE_SYMBOLS_MAX - 1);
	assert_in_range(turns, 50, 500);
	module_tables_free(tables);
	symbols_free(symbols);
	free(guest);
}

/* A guest that lies: the list leads nowhere. What is known stays. */
static void a_list_that_lies_changes_nothing(void **state)
{
	struct fake_modules *guest = fake_modules_new(false, 2);
	const struct memory_reader memory = { .read = read_memory, .context = guest };
	struct symbols *symbols = with_image(false);
	uint64_t first = next_of(guest, FAKE_MODULES_HEAD), second = next_of(guest, first);
	struct orc_entry entry;

	(void)state;
	assert_true(running_kernel_place(symbols, &memory, 0));
	assert_true(read_modules(symbols, &memory));
	fake_modules_set(guest, first, 0x1000, 8);
	assert_false(read_modules(symbols, &memory));
	assert_true(symbols_kernel_orc(symbols, code_of(guest, first - FAKE_MODULE_LIST) + 0x24, &entry));
	assert_true(symbols_kernel_orc(symbols, code_of(guest, second - FAKE_MODULE_LIST) + 0x24, &entry));
	check(symbols, code_of(guest, first - FAKE_MODULE_LIST), "f0", "module_0");
	symbols_free(symbols);
	free(guest);
}

/* The time since the kernel's start, whatever its struct is called. Memory that makes no sense tells none. */
static void it_tells_for_how_long_it_is_up(void **state)
{
	(void)state;
	for (int old = 0; old < 2; old++) {
		struct fake_modules *guest = fake_modules_new(old, 1);
		const struct memory_reader memory = { .read = read_memory, .context = guest };
		struct symbols *symbols = with_image(old);
		uint64_t clock = CLOCK + (old ? FAKE_OLD_CLOCK : FAKE_NEW_CLOCK), place, ns;

		fake_modules_set(guest, clock + FAKE_CLOCK_BASE, 25 * UINT64_C(1000000000), 8);
		fake_modules_set(guest, clock + FAKE_CLOCK_FRACTION, UINT64_C(500000000) << 22, 8);
		fake_modules_set(guest, clock + FAKE_CLOCK_SHIFT, 22, 4);
		assert_false(running_kernel_uptime(symbols, &memory, &place, &ns));
		assert_true(running_kernel_place(symbols, &memory, 0));
		assert_true(running_kernel_uptime(symbols, &memory, &place, &ns));
		assert_int_equal(ns, UINT64_C(25500000000));
		assert_int_equal(place, clock + FAKE_CLOCK_BASE);

		fake_modules_set(guest, clock + FAKE_CLOCK_SHIFT, 64, 4);
		assert_false(running_kernel_uptime(symbols, &memory, &place, &ns));
		fake_modules_set(guest, clock + FAKE_CLOCK_SHIFT, 0, 4);
		assert_false(running_kernel_uptime(symbols, &memory, &place, &ns));
		fake_modules_set(guest, clock + FAKE_CLOCK_FRACTION, 0, 8);
		fake_modules_set(guest, clock + FAKE_CLOCK_BASE, UINT64_MAX, 8);
		assert_false(running_kernel_uptime(symbols, &memory, &place, &ns));
		fake_modules_set(guest, clock + FAKE_CLOCK_BASE, 0, 8);
		assert_false(running_kernel_uptime(symbols, &memory, &place, &ns));
		symbols_free(symbols);
		free(guest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_is_placed_and_its_modules_have_names),
		cmocka_unit_test(code_that_the_kernel_makes_says_so),
		cmocka_unit_test(arm64s_trampoline_has_a_name),
		cmocka_unit_test(a_module_is_told_when_all_its_pages_have_come),
		cmocka_unit_test(no_turn_takes_long),
		cmocka_unit_test(a_list_that_lies_changes_nothing),
		cmocka_unit_test(it_tells_for_how_long_it_is_up),
	};

	return cmocka_run_group_tests_name("running_kernel", tests, NULL, NULL);
}
