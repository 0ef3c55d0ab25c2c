/* SPDX-License-Identifier: MIT */
/* BTF, and by it the list of modules in a guest's memory, their symbols and ORC tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/memory_reader.h"
#include "agent/names/linux/btf.h"
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/modules.h"
#include "tests/unit/fakes/fake_btf.h"

#define MEMORY UINT64_C(0xffffffffc0000000)

enum { SIZE = 64 << 10, PAGE = 4096, HEAD_AT = 0x100, SYMBOL = 24 };

static const uint8_t some_btf[] = { 0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

/* ---- BTF ---- */

static struct kernel_layout layout_of(bool old)
{
	struct kernel_layout layout;
	size_t size;
	uint8_t *bytes = fake_btf(old, 37, &size);
	struct btf *btf = btf_new(bytes, size, 8, NULL);

	assert_non_null(btf);
	kernel_layout_set(&layout, btf);
	btf_free(btf);
	free(bytes);
	return layout;
}

static void both_layouts_are_found(void **state)
{
	(void)state;
	for (int old = 0; old < 2; old++) {
		struct kernel_layout layout = layout_of(old);

		assert_true(layout.modules && layout.orc && layout.tasks);
		assert_int_equal(layout.module_list, FAKE_MODULE_LIST);
		assert_int_equal(layout.module_name, FAKE_MODULE_NAME);
		assert_int_equal(layout.module_name_size, FAKE_MODULE_NAME_SIZE);
		assert_int_equal(layout.parts, FAKE_MODULE_PARTS);
		assert_int_equal(layout.parts_count, old ? 1 : FAKE_NEW_PARTS);
		assert_int_equal(layout.part_size, old ? FAKE_OLD_PART : FAKE_NEW_PART);
		assert_int_equal(layout.init_part, old ? FAKE_OLD_INIT : 0);
		assert_int_equal(layout.part_length, FAKE_PART_SIZE);
		assert_int_equal(layout.kallsyms, FAKE_KALLSYMS);
		assert_int_equal(layout.types, FAKE_TYPES);
		assert_int_equal(layout.orc_entries, FAKE_ORC_ENTRIES);
		assert_int_equal(layout.task_list, FAKE_TASK_LIST);
		assert_int_equal(layout.task_pid, FAKE_TASK_PID);
		assert_int_equal(layout.task_comm_size, 16);
		assert_int_equal(layout.task_stack, FAKE_TASK_STACK);
	}
}

static void members_are_found_by_path(void **state)
{
	size_t size;
	uint8_t *bytes = fake_btf(true, 0, &size);
	struct btf *btf = btf_new(bytes, size, 8, NULL);
	struct btf_member member;
	uint32_t whole;

	(void)state;
	assert_true(btf_member(btf, "module", "core_layout.size", &member));
	assert_int_equal(member.offset, FAKE_MODULE_PARTS + FAKE_PART_SIZE);
	assert_int_equal(member.size, 4);
	assert_true(btf_member(btf, "task_struct", "pid", &member) && member.size == 4);
	assert_true(btf_member(btf, "task_struct", "tasks", &member) && member.size == 8);
	assert_false(btf_member(btf, "module", "core_layout.nothing", &member));
	assert_false(btf_member(btf, "module", "core_layout.size.x", &member));
	assert_false(btf_member(btf, "module", "state.x", &member));
	assert_false(btf_member(btf, "module", "", &member));
	assert_false(btf_member(btf, "nothing", "state", &member));
	assert_false(btf_member(btf, "modul", "state", &member));
	assert_true(btf_size(btf, "module", &whole) && whole == FAKE_MODULE_SIZE);
	assert_false(btf_size(btf, "int", &whole));
	btf_free(btf);
	btf_free(NULL);
	assert_null(btf_new(some_btf, sizeof(some_btf), 8, NULL));
	assert_null(btf_new(bytes, 23, 8, NULL));
	free(bytes);
}

/* A bit of it may be wrong: it has an end all the same. */
static void damaged_btf_is_survived(void **state)
{
	size_t size;
	uint8_t *bytes = fake_btf(false, 0, &size);

	(void)state;
	for (size_t bit = 0; bit < 8 * size; bit++) {
		struct kernel_layout layout;
		struct btf *btf;

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		btf = btf_new(bytes, size, 8, NULL);
		if (btf)
			kernel_layout_set(&layout, btf);
		btf_free(btf);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(bytes);
}

/* ---- a guest's memory with modules ---- */

struct guest {
	uint8_t bytes[SIZE];
	size_t used;
	unsigned reads;
};

static bool read_guest(void *context, uint64_t address, void *to, size_t size)
{
	struct guest *guest = context;

	guest->reads++;
	if (address < MEMORY || address - MEMORY > SIZE || size > SIZE - (address - MEMORY))
		return false;
	memcpy(to, guest->bytes + (address - MEMORY), size);
	return true;
}

static void set(struct guest *guest, uint64_t address, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		guest->bytes[address - MEMORY + i] = (uint8_t)(value >> (8 * i));
}

static uint64_t take(struct guest *guest, size_t size)
{
	uint64_t at = MEMORY + guest->used;

	guest->used += (size + 15) / 16 * 16;
	assert_true(guest->used < SIZE);
	return at;
}

/* Symbols "f0", "f1" ... of it, every second one of data, and one of code that it does not have. */
static void add_symbols(struct guest *guest, uint64_t module, uint64_t code, uint32_t count)
{
	uint64_t kallsyms = take(guest, FAKE_MOD_KALLSYMS_SIZE), rows = take(guest, (count + 2) * SYMBOL);
	uint64_t letters = take(guest, count + 2), names = take(guest, 8 * (count + 2));

	set(guest, module + FAKE_KALLSYMS, kallsyms, 8);
	set(guest, kallsyms + FAKE_SYMBOLS, rows, 8);
	set(guest, kallsyms + FAKE_SYMBOLS_COUNT, count + 2, 4);
	set(guest, kallsyms + FAKE_TEXTS, names, 8);
	set(guest, kallsyms + FAKE_TYPES, letters, 8);
	for (uint32_t i = 1; i < count + 2; i++) {
		uint64_t row = rows + i * SYMBOL;

		set(guest, row, 8 * i, 4);
		set(guest, row + 8, i > count ? 0x1000 : code + 16 * (i - 1), 8);
		set(guest, row + 16, 16, 8);
		guest->bytes[letters + i - MEMORY] = i % 2 ? 't' : 'd';
		snprintf((char *)guest->bytes + (names + 8 * i - MEMORY), 8, "f%u", i - 1);
	}
}

static void add_orc(struct guest *guest, uint64_t module, uint64_t code)
{
	uint64_t ips = take(guest, 8), entries = take(guest, 12);

	set(guest, module + FAKE_ORC_COUNT, 2, 4);
	set(guest, module + FAKE_ORC_IPS, ips, 8);
	set(guest, module + FAKE_ORC_ENTRIES, entries, 8);
	set(guest, ips, code - ips, 4);
	set(guest, ips + 4, code + 0x20 - (ips + 4), 4);
	set(guest, entries, 8, 2);
	set(guest, entries + 4, ORC_SP | ORC_PREV_SP << 4, 1);
	set(guest, entries + 6, 24, 2);
	set(guest, entries + 10, ORC_SP | ORC_PREV_SP << 4, 1);
}

/* Behind `after`, the list's head or another module; returns it. */
static uint64_t add_module(struct guest *guest, bool old, uint64_t after, const char *name)
{
	uint64_t module = take(guest, FAKE_MODULE_SIZE), code = take(guest, 0x200), data = take(guest, 0x100);
	uint64_t link = module + FAKE_MODULE_LIST, next = 0;

	memcpy(&next, guest->bytes + (after - MEMORY), 8);
	set(guest, after, link, 8);
	set(guest, link, next, 8);
	snprintf((char *)guest->bytes + (module + FAKE_MODULE_NAME - MEMORY), FAKE_MODULE_NAME_SIZE, "%s", name);
	set(guest, module + FAKE_MODULE_PARTS, code, 8);
	set(guest, module + FAKE_MODULE_PARTS + FAKE_PART_SIZE, 0x200, 4);
	if (!old) {
		set(guest, module + FAKE_MODULE_PARTS + 2 * FAKE_NEW_PART, data, 8);
		set(guest, module + FAKE_MODULE_PARTS + 2 * FAKE_NEW_PART + FAKE_PART_SIZE, 0x100, 4);
	}
	add_symbols(guest, module, code, 8);
	add_orc(guest, module, code);
	return link;
}

static struct guest *make_guest(bool old, unsigned modules)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	uint64_t at = MEMORY + HEAD_AT;

	assert_non_null(guest);
	guest->used = 0x200;
	set(guest, at, at, 8);
	for (unsigned i = 0; i < modules; i++) {
		char name[24];

		snprintf(name, sizeof(name), "module_%u", i);
		at = add_module(guest, old, at, name);
	}
	return guest;
}

struct seen {
	struct kernel_module modules[16];
	unsigned modules_count, symbols_count, most;
	uint64_t last;
	char name[64];
};

static bool see_module(void *context, const struct kernel_module *module)
{
	struct seen *seen = context;

	if (seen->modules_count < 16)
		seen->modules[seen->modules_count] = *module;
	return ++seen->modules_count != seen->most;
}

static bool see_symbol(void *context, const struct module_symbol *symbol)
{
	struct seen *seen = context;

	seen->last = symbol->address;
	assert_int_equal(symbol->size, 16);
	assert_int_equal(symbol->type, 't');
	snprintf(seen->name, sizeof(seen->name), "%s", symbol->name);
	seen->symbols_count++;
	return true;
}

static bool visit(struct guest *guest, bool old, struct seen *seen)
{
	const struct kernel_layout layout = layout_of(old);
	const struct memory_reader memory = { read_guest, guest };
	const struct module_visitor visitor = { see_module, see_symbol, seen };

	return modules_visit(&layout, MEMORY + HEAD_AT, &memory, &visitor);
}

static void modules_are_visited(void **state)
{
	(void)state;
	for (int old = 0; old < 2; old++) {
		struct guest *guest = make_guest(old, 3);
		const struct kernel_layout layout = layout_of(old);
		const struct memory_reader memory = { read_guest, guest };
		struct seen seen = { .most = 0 };
		const struct module_visitor visitor = { see_module, see_symbol, &seen };
		struct orc_entry entry;
		struct orc *orc;

		assert_true(visit(guest, old, &seen));
		assert_int_equal(seen.modules_count, 3);
		assert_string_equal(seen.modules[0].name, "module_0");
		assert_string_equal(seen.modules[2].name, "module_2");
		assert_int_equal(seen.modules[1].count, old ? 1 : 2);
		assert_int_equal(seen.modules[1].parts[0].size, 0x200);
		assert_true(module_symbols_visit(&layout, &seen.modules[1], &memory, &visitor));
		assert_int_equal(seen.symbols_count, 4);	/* f0, f2, f4, f6: the last one is beyond it */
		assert_true(seen.last == seen.modules[1].parts[0].address + 6 * 16);
		assert_string_equal(seen.name, "f6");
		orc = module_orc(&layout, &seen.modules[1], &memory, ORC_5_X, NULL);
		assert_non_null(orc);
		assert_true(orc_find(orc, seen.modules[1].parts[0].address + 0x24, &entry));
		assert_int_equal(entry.sp_offset, 24);
		orc_free(orc);
		free(guest);
	}
}

static void a_visitor_may_have_enough(void **state)
{
	struct guest *guest = make_guest(false, 5);
	struct seen seen = { .most = 2 };

	(void)state;
	assert_true(visit(guest, false, &seen));
	assert_int_equal(seen.modules_count, 2);
	free(guest);
}

/* A list that leads into itself, or nowhere, has an end; so have symbols that say that there are many. */
static void a_list_that_lies_has_an_end(void **state)
{
	struct guest *guest = make_guest(false, 3);
	const struct kernel_layout layout = layout_of(false);
	const struct memory_reader memory = { read_guest, guest };
	struct seen seen = { .most = 0 };
	const struct module_visitor visitor = { see_module, see_symbol, &seen };
	struct kernel_module last;
	uint64_t link;

	(void)state;
	assert_true(visit(guest, false, &seen));
	last = seen.modules[2];
	link = last.at + FAKE_MODULE_LIST;
	set(guest, link, seen.modules[0].at + FAKE_MODULE_LIST, 8);
	seen.modules_count = 0;
	assert_false(visit(guest, false, &seen));
	assert_int_equal(seen.modules_count, MODULES_MAX);
	set(guest, link, 0x1234, 8);
	seen.modules_count = 0;
	assert_false(visit(guest, false, &seen));
	assert_int_equal(seen.modules_count, 3);
	set(guest, MEMORY + HEAD_AT, UINT64_MAX, 8);
	assert_false(visit(guest, false, &seen));

	guest->reads = 0;
	memcpy(&link, guest->bytes + (last.at + FAKE_KALLSYMS - MEMORY), 8);
	set(guest, link + FAKE_SYMBOLS_COUNT, UINT32_MAX, 4);
	assert_false(module_symbols_visit(&layout, &last, &memory, &visitor));
	set(guest, link + FAKE_SYMBOLS_COUNT, MODULE_SYMBOLS_MAX, 4);
	assert_false(module_symbols_visit(&layout, &last, &memory, &visitor));
	set(guest, last.at + FAKE_ORC_COUNT, UINT32_MAX, 4);
	assert_null(module_orc(&layout, &last, &memory, ORC_6_4, NULL));
	set(guest, last.at + FAKE_ORC_COUNT, SIZE, 4);
	assert_null(module_orc(&layout, &last, &memory, ORC_6_4, NULL));
	assert_in_range(guest->reads, 1, 20000);
	free(guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_layouts_are_found),
		cmocka_unit_test(members_are_found_by_path),
		cmocka_unit_test(damaged_btf_is_survived),
		cmocka_unit_test(modules_are_visited),
		cmocka_unit_test(a_visitor_may_have_enough),
		cmocka_unit_test(a_list_that_lies_has_an_end),
	};

	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
