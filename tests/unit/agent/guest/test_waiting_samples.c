/* SPDX-License-Identifier: MIT */
/*
 * Samples of a kernel whose names and tables are read out of its memory: those that came before are counted at their
 * own time, with what came later.
 */
#include <link.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_reading.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/raw_samples.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/table.h"
#include "agent/store/store.h"
#include "tests/unit/fakes/fake_btf.h"
#include "tests/unit/fakes/fake_linux.h"
#include "tests/unit/fakes/settle.h"

#define CODE UINT64_C(0xffffffff9c000000)	/* what KASLR has chosen */
#define CONSTANTS (CODE + UINT64_C(0x200000))
#define IDT UINT64_C(0xfffffe0000000000)

enum {
	PAGE = 4096, BTF_AT = 0x300000, TASK_AT = 0x600000, REGISTERS = 17, SP = 7, PC = 16, STACK = 2048, PROCESS = 71,
};

static struct fixture {
	struct budget *budget;
	struct epoch *epoch;
	uint8_t *kernel;		/* its memory from CONSTANTS on */
	size_t size;
	uint64_t clock;			/* guest ns of the next sample */
	uint64_t now;			/* the host's, ns */
} guest;

static void set_up(void)
{
	static const uint8_t boot_id[16] = { 1 };
	static const char *const names[] = { "_text", "do_work_0123456789", "asm_exc_divide_error", "_etext" };
	struct fake_symbol symbols[6];
	size_t btf_size;
	uint8_t *btf = fake_btf(true, 0, &btf_size);
	const struct fake_part parts[] = { { 0x2000, "", 1 }, { 0x2010, "", 1 }, { BTF_AT, btf, btf_size } };
	const struct fake_linux fake = {
		.shape = FAKE_ELF64, .order = FAKE_6_2, .kind = KALLSYMS_OFFSETS_PERCPU, .start = CONSTANTS,
		.symbols = symbols, .count = 6, .parts = parts, .parts_count = 3,
	};

	for (int i = 0; i < 4; i++)
		symbols[i] = (struct fake_symbol) { CONSTANTS + (uint64_t)i * 0x400, 'T', names[i] };
	symbols[4] = (struct fake_symbol) { CONSTANTS + BTF_AT + btf_size, 'R', "__stop_BTF" };
	symbols[5] = (struct fake_symbol) { CONSTANTS + TASK_AT, 'D', "init_task" };
	guest = (struct fixture) { .budget = budget_new(BUDGET_LEAST_MIB), .clock = NS_PER_SECOND };
	guest.kernel = fake_linux_memory(&fake, &guest.size);
	guest.epoch = epoch_new(boot_id, NULL, guest.budget);
	epoch_introduce(guest.epoch, &(struct guest) {
		.cpus = 1, .clock_hz = NS_PER_SECOND, .arch = { .bytes = "x86_64", .size = 6 },
	}, &(struct beginning) { .known = false });
	free(btf);
}

static void tear_down(void)
{
	epoch_release(guest.epoch);
	budget_release(guest.budget);
	free(guest.kernel);
}

/* A CPU is found at `pc`, with page tables `space`; "": nobody knows which thread runs. */
static void sample(enum mode mode, uint64_t pc, uint64_t space, const char *name, uint32_t process)
{
	static const char stack[STACK];
	const uint64_t registers[REGISTERS] = { [PC] = pc };
	const struct event event = {
		.kind = EVENT_RAW_SAMPLE, .time = guest.clock,
		.raw = {
			.process = process, .thread = process, .name = { .bytes = name, .size = strlen(name) },
			.weight = 1, .mode = mode, .arch = ARCH_X86_64, .space = space,
			.valid = UINT64_C(1) << PC, .register_count = REGISTERS, .registers = registers,
			.stack = { .bytes = stack, .size = STACK },
		},
	};

	epoch_events(guest.epoch, &event, 1);
	epoch_ticks(guest.epoch, guest.clock);
	guest.clock += NS_PER_MS;
}

static void sample_kernel(void)
{
	sample(MODE_KERNEL, CONSTANTS + 0x410, 0, "worker", 5);
}

static void give_page(uint64_t address)
{
	const uint64_t handler = CODE + 0x800, at = address - CONSTANTS;
	const uint8_t gate[16] = {
		(uint8_t)handler, (uint8_t)(handler >> 8), 0x10, 0, 0, 0x8e, (uint8_t)(handler >> 16),
		(uint8_t)(handler >> 24), 0xff, 0xff, 0xff, 0xff,
	};
	char page[PAGE] = { 0 };

	if (address == IDT)
		memcpy(page, gate, sizeof(gate));
	else if (at < guest.size)
		memcpy(page, guest.kernel + at, guest.size - at < PAGE ? guest.size - at : PAGE);
	guest_memory_take(guest.epoch->memory, &(struct memory_bytes) {
		.address = address, .bytes = { .bytes = page, .size = PAGE },
	});
}

static void give_pages(void)
{
	char line[COMMANDS_LINE_MAX + 1];
	unsigned long long address;
	unsigned count;
	char by[16];

	while (guest_memory_ask(guest.epoch->memory, NS_PER_SECOND, line)) {
		assert_int_equal(sscanf(line, "read %15s %llx %u", by, &address, &count), 3);
		for (; count--; address += PAGE)
			if (strcmp(by, "virtual") == 0)
				give_page(address);
			else
				guest_memory_take(guest.epoch->memory, &(struct memory_bytes) {
					.address = address, .physical = true,
				});
	}
}

/* The names are read, and then the tables. `news`: how often the symbols shall learn something. */
static void read_kernel(unsigned news)
{
	while (news) {
		news -= kernel_reading_step(guest.epoch->reading, true, NS_PER_SECOND);
		if (news)
			give_pages();
		if (kernel_reading_searches(guest.epoch->reading))
			poll(NULL, 0, 1);
	}
}

/* The kernel's memory is looked through once more. */
static void look(void)
{
	uint64_t ended = kernel_watch_looks(guest.epoch->watch).ended;

	for (guest.now += 10 * NS_PER_SECOND; kernel_watch_looks(guest.epoch->watch).ended == ended;) {
		kernel_watch_step(guest.epoch->watch, true, guest.now);
		give_pages();
		kernel_watch_wake(guest.epoch->watch, true);
	}
	epoch_walk_held(guest.epoch, false);
}

/* The weight of the row with this name; all rows for NULL. */
static uint64_t weight_of(enum group_by by, const char *name)
{
	struct table *table = query_table(guest.epoch->query, &(struct question) { .to = UINT64_MAX, .by = by });
	uint64_t weight = 0;

	for (size_t i = 0; i < table->count; i++)
		if (!name || strcmp(symbols_get(guest.epoch->inputs.symbols, table->rows[i].function)->name, name) == 0)
			weight += table->rows[i].self;
	table_free(table);
	return weight;
}

static void samples_wait_for_names_and_tables(void **state)
{
	(void)state;
	set_up();
	for (int i = 0; i < 3; i++)
		sample_kernel();
	assert_true(epoch_awaits(guest.epoch, UINT64_MAX));
	assert_true(epoch_awaits(guest.epoch, NS_PER_SECOND + 1));
	assert_false(epoch_awaits(guest.epoch, NS_PER_SECOND));
	assert_int_equal(weight_of(GROUP_FUNCTION, NULL), 0);
	read_kernel(1);				/* the tables are still to come */
	assert_false(epoch_walk_held(guest.epoch, false));
	sample_kernel();
	read_kernel(1);
	guest.clock += 10 * NS_PER_SECOND;
	assert_true(epoch_walk_held(guest.epoch, false));
	assert_false(epoch_awaits(guest.epoch, UINT64_MAX));
	assert_int_equal(weight_of(GROUP_FUNCTION, "do_work_0123456789"), 4);
	assert_int_equal(weight_of(GROUP_FUNCTION, NULL), 4);
	store_settle(guest.epoch->inputs.store);
	assert_true(store_oldest(guest.epoch->inputs.store) <= NS_PER_SECOND);
	sample_kernel();			/* nothing more is to come */
	assert_int_equal(weight_of(GROUP_FUNCTION, "do_work_0123456789"), 5);
	for (int i = 0; i < RAW_LOSSES; i++)
		assert_int_equal(raw_samples_lost(guest.epoch->held, (enum raw_loss)i).ticks, 0);
	tear_down();
}

static void firmware_does_not_wait(void **state)
{
	(void)state;
	set_up();
	sample_kernel();
	sample(MODE_KERNEL, 0xf1234, 0, "", 0);
	assert_int_equal(weight_of(GROUP_FUNCTION, NULL), 1);
	tear_down();
}

/* Page tables that later samples tell of have their process; those of which two tell have none. */
static void page_tables_tell_the_process_of_early_samples(void **state)
{
	(void)state;
	set_up();
	sample_kernel();
	sample(MODE_USER, 0x401000, 0x7000, "", 0);
	sample(MODE_USER, 0x401000, 0x8000, "", 0);
	sample(MODE_USER, 0x401000, 0x7000, "program", PROCESS);
	sample(MODE_USER, 0x401000, 0x8000, "first", PROCESS + 1);
	sample(MODE_USER, 0x401000, 0x8000, "second", PROCESS + 2);
	assert_int_equal(weight_of(GROUP_PROCESS, NULL), 0);
	assert_true(epoch_walk_held(guest.epoch, true));
	assert_int_equal(weight_of(GROUP_PROCESS, "program/71"), 2);
	assert_int_equal(weight_of(GROUP_PROCESS, "first/72"), 1);
	assert_int_equal(weight_of(GROUP_PROCESS, "second/73"), 1);
	assert_int_equal(weight_of(GROUP_PROCESS, "process 8"), 1);
	tear_down();
}

/* A program that runs again tells its process, however late; the others are not waited for once enough samples told. */
static void programs_that_run_again_have_their_early_samples(void **state)
{
	char reason[REMARKS_INCOMPLETE];

	(void)state;
	set_up();
	sample_kernel();
	sample(MODE_USER, 0x401000, 0x7000, "", 0);
	sample(MODE_USER, 0x401000, 0x8000, "", 0);
	read_kernel(2);
	for (int i = 0; i < 4; i++)
		look();
	assert_true(epoch_awaits(guest.epoch, UINT64_MAX));
	sample(MODE_USER, 0x401000, 0x7000, "program", PROCESS);
	look();
	look();
	assert_int_equal(weight_of(GROUP_PROCESS, "program/71"), 2);
	assert_true(epoch_awaits(guest.epoch, UINT64_MAX));
	assert_int_equal(raw_samples_lost(guest.epoch->held, RAW_NAMELESS).ticks, 0);
	for (int i = 0; i < 300; i++)
		sample_kernel();
	epoch_walk_held(guest.epoch, false);
	assert_false(epoch_awaits(guest.epoch, UINT64_MAX));
	assert_int_equal(weight_of(GROUP_PROCESS, "process 8"), 1);
	guest.epoch->remark[0] = '\0';
	assert_string_equal(remarks_incomplete(guest.epoch, 0, UINT64_MAX, reason),
		"it ran before threads were known, in a program that was not met again");
	assert_string_equal(remarks_incomplete(guest.epoch, NS_PER_SECOND + 10 * NS_PER_MS, UINT64_MAX, reason),
		"the code is in no file and no region that is known; a program, or the sampling of it, may have ended "
		"before its files were found");
	tear_down();
}

/* No sample tells its thread, although the kernel's tables say where that is. */
static void threads_that_nobody_tells_are_not_waited_for(void **state)
{
	unsigned samples = 0;

	(void)state;
	set_up();
	sample_kernel();
	read_kernel(2);
	look();
	do {
		sample(MODE_USER, 0x401000, 0x7000, "", 0);
		epoch_walk_held(guest.epoch, false);
		assert_true(++samples < 1000);
	} while (epoch_awaits(guest.epoch, UINT64_MAX));
	assert_int_equal(weight_of(GROUP_PROCESS, "process 7"), samples);
	tear_down();
}

/* In a recording, threads are told by what comes late, as soon as the one that made it knew how. */
static void a_recording_has_the_process_however_late_it_comes(void **state)
{
	(void)state;
	set_up();
	sample_kernel();
	read_kernel(2);
	kernel_watch_step(guest.epoch->watch, false, guest.now);
	for (int i = 0; i < 3000; i++)
		sample(MODE_USER, 0x401000, 0x7000, "", 0);
	epoch_walk_held(guest.epoch, false);
	assert_int_equal(weight_of(GROUP_PROCESS, "process 7"), 0);
	sample(MODE_USER, 0x401000, 0x7000, "program", PROCESS);
	epoch_walk_held(guest.epoch, true);
	assert_int_equal(weight_of(GROUP_PROCESS, "program/71"), 3001);
	tear_down();
}

/* A recording that begins gets the pages that tell of programs, although these are known here. */
static void programs_are_found_out_once_more(void **state)
{
	const struct sample program = { .process = PROCESS, .thread = PROCESS, .user_count = 1 };
	const struct text name = { .bytes = "program", .size = 7 };

	(void)state;
	set_up();
	sample_kernel();
	read_kernel(2);
	for (int i = 0; i < 8; i++) {	/* a look may come too early for a process that begins */
		look();
		assert_true(kernel_watch_saw(guest.epoch->watch, &program, name));
	}
	look();
	assert_false(kernel_watch_saw(guest.epoch->watch, &program, name));
	kernel_watch_again(guest.epoch->watch);
	assert_true(kernel_watch_saw(guest.epoch->watch, &program, name));
	tear_down();
}

/* A recording waits for a program's files, but not for those of a program that two looks have not found. */
static void who_ended_early_is_not_waited_for(void **state)
{
	static const uint64_t registers[REGISTERS] = { [PC] = 0x401000 };
	struct raw_stack stack;
	struct event event = {
		.kind = EVENT_RAW_SAMPLE,
		.raw = {
			.process = PROCESS, .thread = PROCESS, .name = { .bytes = "program", .size = 7 }, .weight = 1,
			.mode = MODE_USER, .arch = ARCH_X86_64, .space = 0x7000, .valid = UINT64_C(1) << PC,
			.register_count = REGISTERS, .registers = registers,
		},
	};
	uint64_t next;

	(void)state;
	set_up();
	sample_kernel();
	read_kernel(2);
	look();
	next = kernel_watch_looks(guest.epoch->watch).begun + 1;
	assert_int_equal(epoch_walk(guest.epoch, &event, next, &stack), RAW_WAITS);
	look();
	assert_int_equal(epoch_walk(guest.epoch, &event, next, &stack), RAW_WAITS);
	look();
	assert_int_equal(epoch_walk(guest.epoch, &event, next, &stack), RAW_KNOWN);
	tear_down();
}

/* A recording keeps it raw, unless threads are never told. Whoever meets its program later can name it. */
static void who_was_not_met_again_stays_raw(void **state)
{
	static const uint64_t registers[REGISTERS] = { [PC] = 0x401000 };
	const struct event nameless = {
		.kind = EVENT_RAW_SAMPLE,
		.raw = {
			.weight = 1, .mode = MODE_USER, .arch = ARCH_X86_64, .space = 0x7000,
			.valid = UINT64_C(1) << PC, .register_count = REGISTERS, .registers = registers,
		},
	};

	(void)state;
	for (int told = 0; told < 2; told++) {
		struct event event = nameless;
		struct raw_stack stack;

		set_up();
		sample_kernel();
		read_kernel(2);
		look();
		assert_int_equal(epoch_walk(guest.epoch, &event, 1, &stack), RAW_WAITS);
		for (int i = 0; i < 600; i++)
			sample(MODE_USER, 0x402000, 0x8000, told ? "other" : "", told ? PROCESS + 1 : 0);
		assert_int_equal(epoch_walk(guest.epoch, &event, 1, &stack), told ? RAW_UNKNOWN : RAW_KNOWN);
		sample(MODE_USER, 0x401000, 0x7000, "program", PROCESS);
		assert_int_equal(epoch_walk(guest.epoch, &event, 1, &stack), RAW_KNOWN);
		assert_int_equal(stack.sample.process, PROCESS);
		tear_down();
	}
}

/* The program's own stack was not read. The kernel's tells that there is a program: its registers are kept there. */
static void a_program_in_its_kernel_has_its_process(void **state)
{
	enum { FP = 6, PT_REGS = 21, SAVED_PC = 16, SAVED_SP = 19 };
	static const uint64_t at = UINT64_C(0xffffc90000013f00);
	const uint64_t saved[PT_REGS] = { [SAVED_PC] = 0x401000, [SAVED_SP] = 0x7fff0000 };
	const uint64_t registers[REGISTERS] = { [PC] = CONSTANTS + 0x410, [SP] = at, [FP] = at | 1 };
	struct raw_stack stack;
	struct event event = {
		.kind = EVENT_RAW_SAMPLE,
		.raw = {
			.weight = 1, .mode = MODE_KERNEL, .arch = ARCH_X86_64, .space = 0x7000,
			.valid = UINT64_C(1) << PC | UINT64_C(1) << SP | UINT64_C(1) << FP,
			.register_count = REGISTERS, .registers = registers, .stack_address = at,
			.stack = { .bytes = (const char *)saved, .size = sizeof(saved) },
		},
	};

	(void)state;
	set_up();
	sample_kernel();
	read_kernel(2);
	look();
	assert_int_equal(epoch_walk(guest.epoch, &event, 2, &stack), RAW_WAITS);
	assert_int_equal(stack.sample.user_count, 1);
	sample(MODE_KERNEL, CONSTANTS + 0x410, 0x7000, "program", PROCESS);
	epoch_walk(guest.epoch, &event, 2, &stack);
	assert_int_equal(stack.sample.process, PROCESS);
	event.raw.owner = 0;
	event.raw.valid = UINT64_C(1) << PC;	/* a thread of the kernel's own, with borrowed tables */
	epoch_walk(guest.epoch, &event, 2, &stack);
	assert_int_equal(stack.sample.user_count, 0);
	assert_int_equal(event.raw.owner, 0);
	tear_down();
}

/* A host that is busy for an hour is not the end of a look; so many samples without a page are. */
static void a_look_ends_by_samples(void **state)
{
	const struct kernel_watch *watch;
	uint64_t ended;

	(void)state;
	set_up();
	sample_kernel();
	read_kernel(2);
	sample(MODE_USER, 0x401000, 0x7000, "program", PROCESS);
	watch = guest.epoch->watch;
	ended = kernel_watch_looks(watch).ended;
	for (int i = 0; i < 10; i++)
		kernel_watch_step(guest.epoch->watch, true, guest.now += 360 * NS_PER_SECOND);
	assert_int_equal(kernel_watch_looks(watch).ended, ended);
	for (int i = 0; i < 5000; i++) {
		sample_kernel();
		if (i % 100 == 0)		/* a page that is not there is no progress */
			kernel_watch_wake(guest.epoch->watch, false);
	}
	kernel_watch_step(guest.epoch->watch, true, guest.now);
	assert_int_equal(kernel_watch_looks(watch).ended, ended + 1);
	tear_down();
}

/* Nothing of the memory comes, however long the guest runs. */
static void what_makes_no_progress_is_not_waited_for(void **state)
{
	char reason[REMARKS_INCOMPLETE];
	uint64_t samples = 0;

	(void)state;
	set_up();
	do {
		sample_kernel();
		epoch_walk_held(guest.epoch, false);
		assert_true(++samples < 20000);
	} while (epoch_awaits(guest.epoch, UINT64_MAX));
	assert_int_equal(weight_of(GROUP_FUNCTION, NULL), samples);
	assert_string_equal(remarks_incomplete(guest.epoch, 0, UINT64_MAX, reason), guest.epoch->remark);
	tear_down();
}

static void samples_that_find_no_room_are_counted(void **state)
{
	char reason[REMARKS_INCOMPLETE], remarks[REMARKS_SIZE];
	uint64_t crowded;

	(void)state;
	set_up();
	for (int i = 0; i < 8000; i++)
		sample_kernel();
	assert_true(epoch_awaits(guest.epoch, UINT64_MAX));
	crowded = raw_samples_lost(guest.epoch->held, RAW_CROWDED).ticks;
	assert_in_range(crowded, 1, 7999);
	assert_int_equal(crowded, weight_of(GROUP_FUNCTION, NULL));
	assert_true(epoch_walk_held(guest.epoch, true));
	assert_int_equal(raw_samples_lost(guest.epoch->held, RAW_HURRIED).ticks, 8000 - crowded);
	assert_int_equal(weight_of(GROUP_FUNCTION, NULL), 8000);
	guest.epoch->remark[0] = '\0';
	assert_string_equal(remarks_incomplete(guest.epoch, 0, NS_PER_SECOND + 1, reason),
		"it came before its names, which did not come in time");
	assert_string_equal(remarks_incomplete(guest.epoch, 0, UINT64_MAX, reason),
		"it came before its names, and memory was full; give more by --memory; or it came before its names, "
		"which did not come in time");
	assert_non_null(strstr(remarks_text(guest.epoch, 0, "", "; ", remarks, sizeof(remarks)),
		" sampling ticks counted before all names and tables had come: memory is full"));
	tear_down();
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;			/* the first one is the program */
}

/* A hook in the guest sends the registers of a program: it is this test, whose file is found and then read. */
static void what_a_hook_tells_of_a_program_waits_for_its_file(void **state)
{
	static const char stack[64];
	const uint64_t pc = (uintptr_t)sample_kernel, page = pc & ~UINT64_C(0xfff);
	const uint64_t registers[REGISTERS] = { [SP] = 0x7ffd0000, [PC] = pc };
	struct event mapped = { .kind = EVENT_OBJECT, .time = NS_PER_SECOND };
	const struct event program = {
		.kind = EVENT_RAW_SAMPLE, .time = NS_PER_SECOND,
		.raw = {
			.of_program = true, .weight = 3, .mode = MODE_USER, .arch = ARCH_X86_64,
			.told = {
				.process = PROCESS, .thread = PROCESS, .mode = MODE_USER, .weight = 3,
				.user_exact = true,
			},
			.valid = UINT64_MAX >> (64 - REGISTERS), .register_count = REGISTERS, .registers = registers,
			.stack = { .bytes = stack, .size = sizeof(stack) },
		},
	};
	char path[512];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	(void)state;
	set_up();
	assert_in_range(size, 1, sizeof(path) - 2);
	path[size] = '\0';
	slash = strrchr(path, '/');
	guest.epoch->folders[0] = util_copy(path, (size_t)(slash + 1 - path));
	mapped.object = (struct object) {
		.process = PROCESS, .start = page, .end = page + PAGE,
		.name = { .bytes = slash + 1, .size = strlen(slash + 1) },
	};
	dl_iterate_phdr(find_bias, &mapped.object.bias);
	epoch_events(guest.epoch, &mapped, 1);
	epoch_events(guest.epoch, &program, 1);
	assert_true(epoch_awaits(guest.epoch, UINT64_MAX));
	assert_int_equal(weight_of(GROUP_FUNCTION, NULL), 0);
	settle(guest.epoch->inputs.symbols);
	assert_true(epoch_walk_held(guest.epoch, false));
	assert_int_equal(weight_of(GROUP_FUNCTION, "sample_kernel"), 3);
	epoch_events(guest.epoch, &program, 1);		/* nothing more is to come */
	assert_int_equal(weight_of(GROUP_FUNCTION, "sample_kernel"), 6);
	assert_int_equal(weight_of(GROUP_FUNCTION, NULL), 6);
	tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_wait_for_names_and_tables),
		cmocka_unit_test(firmware_does_not_wait),
		cmocka_unit_test(page_tables_tell_the_process_of_early_samples),
		cmocka_unit_test(programs_that_run_again_have_their_early_samples),
		cmocka_unit_test(threads_that_nobody_tells_are_not_waited_for),
		cmocka_unit_test(a_recording_has_the_process_however_late_it_comes),
		cmocka_unit_test(a_look_ends_by_samples),
		cmocka_unit_test(programs_are_found_out_once_more),
		cmocka_unit_test(who_ended_early_is_not_waited_for),
		cmocka_unit_test(who_was_not_met_again_stays_raw),
		cmocka_unit_test(a_program_in_its_kernel_has_its_process),
		cmocka_unit_test(what_makes_no_progress_is_not_waited_for),
		cmocka_unit_test(samples_that_find_no_room_are_counted),
		cmocka_unit_test(what_a_hook_tells_of_a_program_waits_for_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
