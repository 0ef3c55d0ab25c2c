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
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/modules.h"
#include "agent/names/linux/walk.h"
#include "tests/unit/fakes/fake_btf.h"
#include "tests/unit/fakes/fake_modules.h"

static const uint8_t some_btf[] = { 0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

/* ---- BTF ---- */

static struct kernel_layout layout_of(bool old)
{
	struct kernel_layout layout;
	size_t size;
	uint8_t *bytes = fake_btf(old, 37, &size);
	struct btf *btf = btf_new(bytes, size, 8, NULL);

	assert_non_null(btf);
	kernel_layout_set(&layout, btf, 8);
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
		assert_int_equal(layout.task_memory, FAKE_TASK_MEMORY);
		assert_true(layout.states && layout.irqs);
		assert_int_equal(layout.task_state, FAKE_TASK_STATE);
		assert_int_equal(layout.task_queued, FAKE_TASK_QUEUED);
		assert_int_equal(layout.irq_number, FAKE_IRQ_DATA + FAKE_IRQ);
	}
}

/* Has each array of `count` pointers say that it is larger. */
static struct kernel_layout layout_with(uint32_t count, uint32_t slots)
{
	struct kernel_layout layout;
	size_t size;
	unsigned changed = 0;
	uint8_t *bytes = fake_btf(false, 0, &size), *at = bytes;
	struct btf *btf;

	for (; (at = memmem(at, (size_t)(bytes + size - at), &count, sizeof(count))); at++) {
		if (at - bytes < 8 || at[-4] != 2 || at[-8] != 3)
			continue;
		memcpy(at, &slots, sizeof(slots));
		changed++;
	}
	assert_int_equal(changed, 1);
	btf = btf_new(bytes, size, 8, NULL);
	kernel_layout_set(&layout, btf, 8);
	btf_free(btf);
	free(bytes);
	return layout;
}

static void a_tree_with_absurd_nodes_is_none(void **state)
{
	(void)state;
	assert_true(layout_of(true).memory.known);
	assert_int_equal(layout_of(true).memory.wide.slots_count, FAKE_SLOTS);
	assert_int_equal(layout_of(true).memory.gaps.pivots_count, FAKE_GAP_SLOTS - 1);
	assert_int_equal(layout_of(true).memory.vdso, FAKE_VDSO);
	assert_true(layout_with(FAKE_SLOTS, FAKE_SLOTS).memory.known);
	assert_false(layout_with(FAKE_SLOTS, 65).memory.known);
	assert_false(layout_with(FAKE_SLOTS, 1 << 28).memory.known);
}

static void a_file_has_its_pages_in_a_tree(void **state)
{
	const struct kernel_layout layout = layout_of(true);

	(void)state;
	assert_true(layout.cache.known);
	assert_int_equal(layout.memory.contents, FAKE_FILE_CONTENTS);
	assert_int_equal(layout.cache.root, FAKE_CACHE_ROOT);
	assert_int_equal(layout.cache.slots_count, FAKE_CACHE_SLOTS);
	assert_int_equal(layout.cache.page_size, FAKE_PAGE);
	assert_int_equal(layout.cache.index, FAKE_PAGE_INDEX);
	assert_int_equal(layout.cache.head, 8);
	assert_false(layout_with(FAKE_CACHE_SLOTS, 2 * FAKE_CACHE_SLOTS).cache.known);
	assert_false(layout_with(FAKE_CACHE_SLOTS, FAKE_CACHE_SLOTS - 1).cache.known);
	assert_false(layout_with(FAKE_CACHE_SLOTS, 0).cache.known);
}

static void members_are_found_by_path(void **state)
{
	size_t size;
	uint8_t *bytes = fake_btf(true, 0, &size);
	struct btf *btf = btf_new(bytes, size, 8, NULL);
	struct btf_member member;

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
	assert_false(btf_member(btf, "int", "state", &member));
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
			kernel_layout_set(&layout, btf, 8);
		btf_free(btf);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(bytes);
}

/* ---- a guest's memory with modules ---- */

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

static enum walk visit(struct fake_modules *guest, bool old, struct seen *seen)
{
	const struct kernel_layout layout = layout_of(old);
	const struct memory_reader reader = { .read = fake_modules_read, .context = guest };
	const struct walked_memory memory = { .reader = &reader, .quota = &(struct quota) { .most = UINT64_MAX } };
	const struct module_visitor visitor = { see_module, see_symbol, seen };
	struct list_place place = { .next = 0 };

	return modules_visit(&layout, FAKE_MODULES_HEAD, &memory, &place, &visitor);
}

static void modules_are_visited(void **state)
{
	(void)state;
	for (int old = 0; old < 2; old++) {
		struct fake_modules *guest = fake_modules_new(old, 3);
		const struct kernel_layout layout = layout_of(old);
		const struct memory_reader reader = { .read = fake_modules_read, .context = guest };
		const struct walked_memory memory = {
			.reader = &reader, .quota = &(struct quota) { .most = UINT64_MAX },
		};
		struct seen seen = { .most = 0 };
		uint32_t passed = 0;
		const struct module_visitor visitor = { see_module, see_symbol, &seen };
		struct orc_entry entry;
		struct orc *orc;

		assert_int_equal(visit(guest, old, &seen), WALK_ENDED);
		assert_int_equal(seen.modules_count, 3);
		assert_string_equal(seen.modules[0].name, "module_0");
		assert_string_equal(seen.modules[2].name, "module_2");
		assert_int_equal(seen.modules[1].count, old ? 1 : 2);
		assert_int_equal(seen.modules[1].parts[0].size, 0x200);
		assert_int_equal(module_symbols_visit(&layout, &seen.modules[1], &memory, &passed, &visitor),
			WALK_ENDED);
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
	struct fake_modules *guest = fake_modules_new(false, 5);
	struct seen seen = { .most = 2 };

	(void)state;
	assert_int_equal(visit(guest, false, &seen), WALK_PAUSED);
	assert_int_equal(seen.modules_count, 2);
	free(guest);
}

/* A list that leads into itself, or nowhere, has an end; so have symbols that say that there are many. */
static void a_list_that_lies_has_an_end(void **state)
{
	struct fake_modules *guest = fake_modules_new(false, 3);
	const struct kernel_layout layout = layout_of(false);
	const struct memory_reader reader = { .read = fake_modules_read, .context = guest };
	const struct walked_memory memory = { .reader = &reader, .quota = &(struct quota) { .most = UINT64_MAX } };
	struct seen seen = { .most = 0 };
	uint32_t passed = 0;
	const struct module_visitor visitor = { see_module, see_symbol, &seen };
	struct kernel_module last;
	uint64_t link;

	(void)state;
	assert_int_equal(visit(guest, false, &seen), WALK_ENDED);
	last = seen.modules[2];
	link = last.at + FAKE_MODULE_LIST;
	fake_modules_set(guest, link, seen.modules[0].at + FAKE_MODULE_LIST, 8);
	seen.modules_count = 0;
	assert_int_equal(visit(guest, false, &seen), WALK_FAILED);
	assert_int_equal(seen.modules_count, MODULES_MAX);
	fake_modules_set(guest, link, 0x1234, 8);
	seen.modules_count = 0;
	assert_int_equal(visit(guest, false, &seen), WALK_FAILED);
	assert_int_equal(seen.modules_count, 3);
	fake_modules_set(guest, FAKE_MODULES_HEAD, UINT64_MAX, 8);
	assert_int_equal(visit(guest, false, &seen), WALK_FAILED);

	guest->reads = 0;
	memcpy(&link, guest->bytes + (last.at + FAKE_KALLSYMS - FAKE_MODULES), 8);
	fake_modules_set(guest, link + FAKE_SYMBOLS_COUNT, UINT32_MAX, 4);
	assert_int_equal(module_symbols_visit(&layout, &last, &memory, &passed, &visitor), WALK_FAILED);
	fake_modules_set(guest, link + FAKE_SYMBOLS_COUNT, MODULE_SYMBOLS_MAX, 4);
	assert_int_equal(module_symbols_visit(&layout, &last, &memory, &passed, &visitor), WALK_FAILED);
	fake_modules_set(guest, last.at + FAKE_ORC_COUNT, UINT32_MAX, 4);
	assert_null(module_orc(&layout, &last, &memory, ORC_6_4, NULL));
	fake_modules_set(guest, last.at + FAKE_ORC_COUNT, FAKE_MODULES_SIZE, 4);
	assert_null(module_orc(&layout, &last, &memory, ORC_6_4, NULL));
	assert_in_range(guest->reads, 1, 20000);
	free(guest);
}

/* All turns together visit each module and each symbol once. */
static void a_walk_goes_on_in_the_next_turn(void **state)
{
	struct fake_modules *guest = fake_modules_new(false, 5);
	const struct kernel_layout layout = layout_of(false);
	const struct memory_reader reader = { .read = fake_modules_read, .context = guest };
	struct quota quota;
	const struct walked_memory memory = { .reader = &reader, .quota = &quota };
	struct seen seen = { .most = 0 };
	const struct module_visitor visitor = { see_module, see_symbol, &seen };
	struct list_place place = { .next = 0 };
	uint32_t passed = 0;
	unsigned turns = 0;
	enum walk walk;

	(void)state;
	do {
		guest->reads = 0;
		quota = (struct quota) { .most = 2 * PAGE_READER_SIZE };
		walk = modules_visit(&layout, FAKE_MODULES_HEAD, &memory, &place, &visitor);
		assert_in_range(guest->reads, 1, 4);
	} while (walk == WALK_PAUSED && ++turns < 10);
	assert_int_equal(walk, WALK_ENDED);
	assert_in_range(turns, 1, 9);
	assert_int_equal(seen.modules_count, 5);
	assert_string_equal(seen.modules[4].name, "module_4");
	do {
		quota = (struct quota) { .most = 4 * PAGE_READER_SIZE };
		walk = module_symbols_visit(&layout, &seen.modules[1], &memory, &passed, &visitor);
	} while (walk == WALK_PAUSED && ++turns < 30);
	assert_int_equal(walk, WALK_ENDED);
	assert_int_equal(seen.symbols_count, 4);
	assert_string_equal(seen.name, "f6");
	free(guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_layouts_are_found),
		cmocka_unit_test(a_tree_with_absurd_nodes_is_none),
		cmocka_unit_test(a_file_has_its_pages_in_a_tree),
		cmocka_unit_test(members_are_found_by_path),
		cmocka_unit_test(damaged_btf_is_survived),
		cmocka_unit_test(modules_are_visited),
		cmocka_unit_test(a_visitor_may_have_enough),
		cmocka_unit_test(a_list_that_lies_has_an_end),
		cmocka_unit_test(a_walk_goes_on_in_the_next_turn),
	};

	return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
