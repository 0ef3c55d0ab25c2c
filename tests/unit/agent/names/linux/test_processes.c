/* SPDX-License-Identifier: MIT */
/* The list of processes in a guest's memory, and the areas of code of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/memory_reader.h"
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/processes.h"
#include "agent/names/linux/walk.h"
#include "tests/unit/fakes/random.h"

#define BASE UINT64_C(0xffff888000000000)

enum {
	SIZE = 64 << 10,
	FIRST = 0x100,			/* init_task */
	TASK = 0x200, MEMORY = 0x80, NODE = 0x100,
	PIVOTS = 15, SLOTS = 16, GAP_PIVOTS = 9, GAP_SLOTS = 10,
	LEAF = 1, RANGE = 2, GAPS = 3, ROOT = 2, CHILD = 4,
	CODE = 4, DATA = 2,
};

static const struct kernel_layout layout = {
	.tasks = true, .task_list = 0x20, .task_pid = 0x40, .task_group = 0x44, .task_comm = 0x50, .task_comm_size = 16,
	.task_memory = 0x60,
	.memory = {
		.known = true, .tree = 0x10, .vdso = 0x18,
		.wide = { .pivots = 8, .pivots_count = PIVOTS, .slots = 8 + 8 * PIVOTS, .slots_count = SLOTS },
		.gaps = {
			.pivots = 8, .pivots_count = GAP_PIVOTS, .slots = 8 + 8 * GAP_PIVOTS, .slots_count = GAP_SLOTS,
		},
		.start = 0, .end = 8, .offset = 0x10, .flags = 0x18, .file = 0x20,
		.entry = 8, .name = 0x10, .parent = 0x18, .contents = 0x20,
	},
};

static struct guest {
	_Alignas(256) uint8_t bytes[SIZE];
	uint64_t used;
	uint64_t absent;		/* a page that is not there; 0: none */
	bool endless;			/* behind its end, no word is zero */
	unsigned reads;
} guest;

static bool read_guest(void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	guest.reads++;
	if (guest.endless && address >= BASE + SIZE) {
		memset(to, 0x11, size);
		return true;
	}
	if (address < BASE || address - BASE > SIZE - size || (guest.absent && address / 4096 == guest.absent / 4096))
		return false;
	memcpy(to, guest.bytes + (address - BASE), size);
	return true;
}

static const struct memory_reader reader = { .read = read_guest };
static struct quota quota;
static const struct walked_memory memory = { .reader = &reader, .quota = &quota };

static void set(uint64_t address, uint64_t value)
{
	memcpy(guest.bytes + (address - BASE), &value, sizeof(value));
}

static uint64_t make(size_t size, size_t align)
{
	guest.used = (guest.used + align - 1) / align * align;
	guest.used += size;
	assert_true(guest.used <= SIZE);
	return BASE + guest.used - size;
}

static void set_up(void)
{
	uint64_t list = BASE + FIRST + layout.task_list;

	memset(&guest, 0, sizeof(guest));
	guest.used = 0x1000;
	set(list, list);
	set(list + 8, list);
}

/* Adds it at the list's end. Returns its struct mm_struct; 0: it has none. */
static uint64_t add_process(uint32_t number, const char *name, bool has_memory)
{
	uint64_t head = BASE + FIRST + layout.task_list, task = make(TASK, 64), list = task + layout.task_list, last;
	uint64_t at = has_memory ? make(MEMORY, 64) : 0;

	memcpy(&last, guest.bytes + (head + 8 - BASE), sizeof(last));
	set(list, head);
	set(list + 8, last);
	set(last, list);
	set(head + 8, list);
	memcpy(guest.bytes + (task + layout.task_group - BASE), &number, sizeof(number));
	memcpy(guest.bytes + (task + layout.task_comm - BASE), name, strlen(name));
	set(task + layout.task_memory, at);
	return at;
}

static uint64_t make_text(const char *text)
{
	uint64_t at = make(strlen(text) + 1, 1);

	memcpy(guest.bytes + (at - BASE), text, strlen(text));
	return at;
}

/* `parent`: 0 for the root of a file system. */
static uint64_t make_entry(const char *name, uint64_t parent)
{
	uint64_t entry = make(0x40, 8);

	set(entry + layout.memory.name, make_text(name));
	set(entry + layout.memory.parent, parent ? parent : entry);
	return entry;
}

static uint64_t make_area(uint64_t start, uint64_t end, uint64_t flags, uint64_t entry, uint64_t page)
{
	uint64_t file = entry ? make(0x40, 8) : 0, area = make(0x40, 8);

	if (file) {
		set(file + layout.memory.entry, entry);
		set(file + layout.memory.contents, entry + 1);
	}
	set(area + layout.memory.start, start);
	set(area + layout.memory.end, end);
	set(area + layout.memory.flags, flags);
	set(area + layout.memory.file, file);
	set(area + layout.memory.offset, page);
	return area;
}

static uint64_t make_node(unsigned kind)
{
	return make(NODE, 256) | (uint64_t)kind << 3 | CHILD;
}

/* `last`: of the slot's addresses. */
static void set_slot(uint64_t node, unsigned slot, uint64_t last, uint64_t value)
{
	const struct tree_layout *tree = (node >> 3 & 15) == GAPS ? &layout.memory.gaps : &layout.memory.wide;

	node &= ~UINT64_C(255);
	if (slot < tree->pivots_count)
		set(node + tree->pivots + 8 * slot, last);
	set(node + tree->slots + 8 * slot, value);
}

static char seen[1024];

static bool see_process(void *context, const struct process *process)
{
	size_t at = strlen(seen);

	(void)context;
	snprintf(seen + at, sizeof(seen) - at, "%u %s\n", process->number, process->name);
	return true;
}

static bool see_area(void *context, const struct process_area *area)
{
	size_t at = strlen(seen);

	(void)context;
	if (at + 1 == sizeof(seen))
		return true;
	assert_int_equal(!area->contents, area->path[0] == '[');
	snprintf(seen + at, sizeof(seen) - at, "%llx-%llx %llx %s\n", (unsigned long long)area->start,
		(unsigned long long)area->end, (unsigned long long)area->offset, area->path);
	return true;
}

static const struct process_visitor visitor = { .process = see_process, .area = see_area };

static bool visit_processes(void)
{
	struct list_place place = { .next = 0 };

	seen[0] = '\0';
	quota = (struct quota) { .most = UINT64_MAX };
	return processes_visit(&layout, BASE + FIRST, &memory, &place, &visitor) == WALK_ENDED;
}

static bool visit_areas(uint64_t at)
{
	const struct process process = { .memory = at };

	seen[0] = '\0';
	return process_areas_visit(&layout, &process, &memory, &visitor);
}

static void the_youngest_process_comes_first(void **state)
{
	(void)state;
	set_up();
	assert_true(visit_processes());
	assert_string_equal(seen, "");
	add_process(1, "init", true);
	add_process(2, "kthreadd", false);
	add_process(30, "fifteen letters", true);
	assert_true(visit_processes());
	assert_string_equal(seen, "30 fifteen letters\n1 init\n");
}

/* Two leaves below a node with gaps. What a node has behind its last address is void. */
static uint64_t make_program(void)
{
	uint64_t root = make_entry("/", 0), folder = make_entry("bin", root), sh = make_entry("sh", folder);
	uint64_t library = make_entry("libc.so", make_entry("lib", make_entry("usr", root)));
	uint64_t top = make_node(GAPS), first = make_node(LEAF), second = make_node(LEAF);
	uint64_t at = add_process(7, "sh", true);

	set(at + layout.memory.tree, (top & ~(uint64_t)CHILD) | ROOT);
	set(at + layout.memory.vdso, 0x7fff0000);
	set_slot(top, 0, 0x7effffff, first);
	set_slot(top, 1, UINT64_MAX, second);
	set_slot(top, 2, 0, BASE + 0x10);
	set_slot(first, 0, 0x3fffff, 0);
	set_slot(first, 1, 0x400fff, make_area(0x400000, 0x401000, DATA, sh, 0));
	set_slot(first, 2, 0x4fffff, make_area(0x401000, 0x500000, CODE, sh, 1));
	set_slot(first, 3, 0x7effffff, 0);
	set_slot(first, 4, 0, BASE + 0x20);
	set_slot(second, 0, 0x7f0fffff, make_area(0x7f000000, 0x7f100000, CODE, library, 0x26));
	set_slot(second, 1, 0x7f1fffff, make_area(0x7f100000, 0x7f200000, CODE, 0, 0x7f100));
	set_slot(second, 2, 0x7fff1fff, make_area(0x7fff0000, 0x7fff2000, CODE, 0, 0));
	set_slot(second, 3, UINT64_MAX, 0);
	return at;
}

static void areas_of_code_have_the_paths_of_their_files(void **state)
{
	uint64_t at;

	(void)state;
	set_up();
	at = make_program();
	assert_true(visit_areas(at));
	assert_string_equal(seen,
		"401000-500000 1000 /bin/sh\n7f000000-7f100000 26000 /usr/lib/libc.so\n"
		"7f100000-7f200000 0 [anonymous]\n7fff0000-7fff2000 0 [vdso]\n");
}

static void what_cannot_be_read_is_told(void **state)
{
	uint64_t at;

	(void)state;
	set_up();
	guest.used = 0x1000;
	at = make_program();
	guest.absent = BASE + 0x1000;
	assert_false(visit_areas(at));
	assert_false(visit_processes());
}

/* Each node has absurdly many slots, and each area a long path. */
static void no_process_takes_long(void **state)
{
	struct kernel_layout absurd = layout;
	uint64_t at, node, area, long_name, entry;

	(void)state;
	set_up();
	guest.endless = true;
	absurd.memory.wide.slots_count = absurd.memory.wide.pivots_count = UINT32_MAX;
	at = add_process(7, "sh", true);
	long_name = make_text("a name of some length, so that a path of many such is of some length");
	entry = make_entry("x", 0);
	for (int i = 0; i < 30; i++) {
		entry = make_entry("x", entry);
		set(entry + layout.memory.name, long_name);
	}
	area = make_area(0x1000, 0x2000, CODE, entry, 0);
	node = make_node(LEAF);
	memset(guest.bytes + ((node & ~UINT64_C(255)) - BASE), 0x11, SIZE - ((node & ~UINT64_C(255)) - BASE));
	for (unsigned i = 0; i < SLOTS; i++)
		set((node & ~UINT64_C(255)) + layout.memory.wide.slots + 8 * i, area);
	set(at + layout.memory.tree, (node & ~(uint64_t)CHILD) | ROOT);
	seen[0] = '\0';
	quota = (struct quota) { .most = UINT64_MAX };
	process_areas_visit(&absurd, &(struct process) { .memory = at }, &memory, &visitor);
	assert_in_range(guest.reads, 1, 5000);
	assert_in_range(quota.spent, 1, 20 << 20);
}

static void a_list_of_processes_is_walked_in_turns(void **state)
{
	struct list_place place = { .next = 0 };
	unsigned turns = 0;
	enum walk walk;

	(void)state;
	set_up();
	for (uint32_t i = 1; i <= 9; i++)
		add_process(i, "x", true);
	seen[0] = '\0';
	do {
		quota = (struct quota) { .most = 2 * 4096 };
		guest.reads = 0;
		walk = processes_visit(&layout, BASE + FIRST, &memory, &place, &visitor);
		assert_in_range(guest.reads, 1, 6);
	} while (walk == WALK_PAUSED && ++turns < 20);
	assert_int_equal(walk, WALK_ENDED);
	assert_in_range(turns, 2, 9);
	assert_string_equal(seen, "9 x\n8 x\n7 x\n6 x\n5 x\n4 x\n3 x\n2 x\n1 x\n");
}

/* Each word may lead to any other: the visits end, after a bounded number of reads. */
static void hostile_memory_ends(void **state)
{
	struct random random = { .state = 5 };

	(void)state;
	for (int round = 0; round < 50; round++) {
		set_up();
		for (uint64_t at = 0; at < SIZE; at += 8)
			set(BASE + at, random_below(&random, 4) ? BASE + random_below(&random, SIZE) :
				random_next(&random));
		visit_processes();
		for (uint64_t at = 0; at < SIZE; at += SIZE / 16)
			visit_areas(BASE + at);
		assert_in_range(guest.reads, 0, 1 << 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_youngest_process_comes_first),
		cmocka_unit_test(areas_of_code_have_the_paths_of_their_files),
		cmocka_unit_test(what_cannot_be_read_is_told),
		cmocka_unit_test(no_process_takes_long),
		cmocka_unit_test(a_list_of_processes_is_walked_in_turns),
		cmocka_unit_test(hostile_memory_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
