/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "hand_answers.h"
#include "scratch.h"

static const char list[] =
	"ffffffff80101000 T memcpy\n"
	"ffffffff80102000 T spin_lock\n"
	"ffffffff80103000 T page_alloc\n"
	"ffffffff80104000 T "
	"a_function_with_a_really_very_long_name_that_no_column_can_hold_in_full\n"
	"ffffffff80105000 T größe_名前\n"
	"ffffffff80106000 T syscall_entry\n"
	"ffffffff80107000 T kernel_end\n";

static const struct {
	uint64_t self, total, samples, cpus;
	const char *line;
} rows[HAND_FUNCTIONS] = {
	{ 7340, 7530, 7200, 0x7, "lib/string.c:41" },
	{ 4400, 17450, 4400, 0x4, "kern/lock.c:18" },
	{ 3930, 4840, 3900, 0x3, "mm/page.c:120" },
	{ 1200, 1200, 1200, 0xd, "drivers/a/long/way/down/in/the/tree/file.c:1234" },
	{ 25, 900, 25, 0x1, "" },
	{ 4, 20000, 4, 0x7, NULL },
	{ 9000, 9000, 8900, 0x7, NULL },
	{ 13900, 13900, 13900, 0x7, NULL },
};

struct symbols *hand_symbols(uint32_t functions[HAND_FUNCTIONS])
{
	struct symbols *symbols = symbols_new(NULL);

	assert_true(symbols_load_kernel(symbols, scratch_text("System.map", list), NULL));
	for (uint32_t i = 0; i < 6; i++)
		functions[i] = symbols_function(symbols, EVENT_KERNEL,
			0xffffffff80101000 + i * 0x1000 + 8);
	functions[6] = symbols_add(symbols, &(struct function) { .name = "[unknown]", .object = "shell" });
	functions[7] = symbols_special(symbols, "[idle]");
	return symbols;
}

struct symbols *hand_names;
uint32_t hand_functions[HAND_FUNCTIONS];

int hand_begin(void **state)
{
	(void)state;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	hand_names = hand_symbols(hand_functions);
	return 0;
}

int hand_end(void **state)
{
	(void)state;
	symbols_free(hand_names);
	return 0;
}

struct symbols *hand_kernel(const char *const *names, size_t count, uint32_t *functions)
{
	struct symbols *symbols = symbols_new(NULL);
	size_t size = 0, step = 0x1000;
	uint64_t start = 0xffffffff80101000;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);

	for (size_t i = 0; i < count; i++)
		fprintf(to, "%" PRIx64 " T %s\n", start + i * step, names[i]);
	fclose(to);
	assert_true(symbols_load_kernel(symbols, scratch_write("names.map", text, size), NULL));
	for (size_t i = 0; i < count; i++)
		functions[i] = symbols_function(symbols, EVENT_KERNEL, start + i * step + 8);
	free(text);
	return symbols;
}

static struct table *hand_table(const uint32_t functions[HAND_FUNCTIONS])
{
	struct table *table = table_new(NULL, HAND_FUNCTIONS, 1);

	table->from = 182 * NS_PER_SECOND;
	table->to = 192 * NS_PER_SECOND;
	for (int i = 0; i < HAND_FUNCTIONS; i++) {
		struct row *row = table_add(table, functions[i]);

		row->self = rows[i].self;
		row->total = rows[i].total;
		row->samples = rows[i].samples;
		row->cpus[0] = rows[i].cpus;
		table->weight += rows[i].self;
		table->samples += rows[i].samples;
	}
	table->mode[MODE_USER] = rows[6].self;
	table->mode[MODE_IDLE] = rows[7].self;
	table->mode[MODE_KERNEL] = table->weight - rows[6].self - rows[7].self;
	return table;
}

/* A row's trend and line, which are not in the table. */
static void hand_visible(struct answers *answers, size_t count)
{
	count = count < 256 ? count : 256;
	free(answers->functions->visible);
	answers->functions->visible = util_alloc(count * sizeof(*answers->functions->visible));
	answers->functions->visible_count = count;
	for (size_t i = 0; i < count; i++) {
		struct function_row *row = &answers->functions->visible[i];

		row->function = answers->functions->table->rows[i].function;
		row->line = i < HAND_FUNCTIONS ? rows[i].line : "";
		for (size_t s = i % TABLE_TREND; s < TABLE_TREND; s++)
			row->trend[s] = s / 6 * (i + 1) % 9 * 100;
	}
}

void hand_rows(struct answers *answers, struct symbols *symbols, const uint32_t *functions,
	size_t count)
{
	struct table *table = table_new(NULL, count, 1);

	table->from = 182 * NS_PER_SECOND;
	table->to = 192 * NS_PER_SECOND;
	for (size_t i = 0; i < count; i++) {
		struct row *row = table_add(table, functions[i]);

		row->self = row->samples = 10000 / (i + 1);
		row->total = row->self + i % 7 * 100;
		row->cpus[0] = 0x5 << i % 3;
		table->weight += row->self;
	}
	table->samples = table->mode[MODE_KERNEL] = table->weight;
	table_free(answers->functions->table);
	answers->functions->table = table;
	answers->functions->answer.symbols = symbols;
	answers->functions->selected = count ? functions[0] : FUNCTION_NONE;
	answers->functions->caller_count = 0;
	hand_visible(answers, count);
}

struct hand_row {
	int function, parent;		/* of `functions`; the index of the row in its list, -1: none */
	enum tree_order order;
	uint64_t total, self;
	bool has_more, unfolded;
};

static const struct hand_row whole_tree[] = {
	{ 5, -1, TREE_DOWN, 20000, 4, true, true },
	{ 7, -1, TREE_DOWN, 13900, 13900, false, false },
	{ 6, -1, TREE_DOWN, 5000, 5000, false, false },
	{ 1, 0, TREE_DOWN, 17450, 4400, true, true },
	{ 4, 0, TREE_DOWN, 900, 25, true, false },
	{ 0, 3, TREE_DOWN, 7530, 7340, true, false },
	{ 2, 3, TREE_DOWN, 20, 20, false, false },
}, around_tree[] = {
	{ 1, -1, TREE_DOWN, 17450, 4400, true, true },
	{ 0, 0, TREE_DOWN, 7530, 7340, true, false },
	{ 2, 0, TREE_DOWN, 4840, 3930, false, false },
	{ 1, -1, TREE_UP, 17450, 0, true, true },
	{ 5, 0, TREE_UP, 15000, 15000, false, false },
	{ 4, 0, TREE_UP, 2450, 2400, true, true },
	{ 3, 2, TREE_UP, 50, 50, false, false },
};

/* A path: a mark for each order, and the names below it. */
static uint64_t path_of(const struct tree_list *rows_before, const struct hand_row *row, uint32_t function)
{
	uint64_t before = row->parent < 0 ? 1 + row->order : rows_before->rows[row->parent].path;

	return before * 100 + function + 10;
}

void hand_tree(struct answers *answers, struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS], bool around,
	uint64_t more)
{
	const struct hand_row *from = around ? around_tree : whole_tree;
	struct call_tree *answer = util_alloc(sizeof(*answer));

	answer->answer = (struct answer) { .kind = &call_tree_kind, .symbols = symbols };
	answer->of = around ? tree_name(symbols_get(symbols, functions[1]), "") : 0;
	answer->tree = tree_new(NULL);
	answer->tree->from = 182000000000;
	answer->tree->to = 192000000000;
	answer->tree->weight = answer->tree->samples = answer->tree->mode[MODE_KERNEL] = 39800;
	for (int i = 0; i < 7; i++) {
		struct tree_row *row = tree_add(answer->tree, from[i].order);
		uint64_t *trend = tree_add_trend(answer->tree, row, 7);

		row->function = functions[from[i].function];
		row->parent = from[i].parent < 0 ? TREE_TOP : (uint32_t)from[i].parent;
		row->depth = from[i].parent < 0 ? 0 :
			answer->tree->lists[from[i].order].rows[from[i].parent].depth + 1;
		row->path = path_of(&answer->tree->lists[from[i].order], &from[i], row->function);
		row->has_more = from[i].has_more;
		row->unfolded = from[i].unfolded;
		row->total = row->samples = from[i].total + (i == 5 ? more : 0);
		row->self = from[i].self;
		row->line = rows[from[i].function].line;
		for (size_t s = (size_t)i; trend && s < TREE_SECONDS; s++)
			trend[s] = s / 6 * (size_t)(i + 1) % 9 * 100;
	}
	answer_free((struct answer *)answers->tree);
	answers->tree = answer;
}

static uint64_t before(size_t row, uint64_t weight)
{
	return row == 2 ? 0 : row % 2 ? 2 * weight : weight / 2;
}

static void base_table(struct table *table)
{
	table_add_base(table);
	table->base->to = table->from;
	table->base->from = 2 * table->from - table->to;
	table->base->weight = table->weight;
	table->base->samples = table->samples;
	table->base->time = table->time;
	for (size_t i = 0; i < table->count; i++) {
		struct row *row = &table->rows[i];

		if (i != 2)
			*table_base_of(table, row) = (struct row_base) { before(i, row->self), before(i, row->total),
				before(i, row->samples) };
		if (i == table->count - 1)
			row->self = row->total = row->samples = 0;
	}
}

static void base_tree(struct tree *tree)
{
	tree->base = (struct tree_base) { true, tree->weight, tree->samples, tree->time };
	for (int order = 0; order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count; i++) {
			struct tree_row *row = &tree->lists[order].rows[i];

			row->based = i != 4;
			row->base_total = before(i, row->total);
			row->base_self = before(i, row->self);
			row->base_samples = before(i, row->samples);
		}
}

/* Around a function: its own share is as it was, and those of the others were half. */
static void base_around(struct tree *tree)
{
	base_tree(tree);
	for (int order = 0; order < TREE_ORDERS; order++)
		for (size_t i = 0; i < tree->lists[order].count; i++) {
			struct tree_row *row = &tree->lists[order].rows[i];

			row->base_total = i == 0 ? row->total : i == 2 ? 0 : row->total / 2;
			row->base_samples = row->base_total;
		}
}

static void base_annotation(struct annotation *annotation)
{
	size_t count = annotation->listing->count;

	annotation->base = (struct annotation_base) {
		.there = true, .heat = util_alloc(count * sizeof(*annotation->base.heat)),
		.weight = annotation->weight, .samples = annotation->samples,
	};
	for (size_t i = 0; i < count; i++) {
		uint64_t weight = annotation->heat[i].weight ? before(i, annotation->heat[i].weight) : i == 4 ? 300 : 0;

		annotation->base.heat[i] = (struct annotation_heat) { weight, weight };
		annotation->base.self.weight += weight;
		annotation->base.self.samples += weight;
	}
}

void hand_baseline(struct answers *answers)
{
	if (answers->functions)
		base_table(answers->functions->table);
	if (answers->tree)
		base_tree(answers->tree->tree);
	if (answers->page)
		base_around(answers->page->tree->tree);
	for (int i = 0; answers->page && i < PAGE_TABLES; i++)
		base_table(answers->page->tables[i]->table);
	if (answers->annotation)
		base_annotation(answers->annotation);
}

static struct function_table *page_table(struct symbols *symbols, const char *const *names, const char *object,
	const uint64_t *weights, size_t count)
{
	struct function_table *functions = util_alloc(sizeof(*functions));

	functions->answer = (struct answer) { .kind = &function_table_kind, .symbols = symbols };
	functions->selected = FUNCTION_NONE;
	functions->table = table_new(NULL, count, 1);
	for (size_t i = 0; i < count; i++) {
		struct row *row = table_add(functions->table, symbols_group(symbols, names[i], object));

		row->self = row->total = row->samples = weights[i];
		row->cpus[0] = 1 << i % 4;
		functions->table->weight += weights[i];
	}
	functions->table->samples = functions->table->weight;
	return functions;
}

void hand_page(struct answers *answers, struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS])
{
	static const char *const threads[] = { "flush_worker/4", "primes/17", "init/1", "kworker/0:1/9", "shell/9",
		"a_thread_with_a_really_very_long_name_that_has_no_room/33", "logger/12" };
	static const char *const cpus[] = { "CPU 0", "CPU 1", "CPU 2", "CPU 3" };
	static const char *const modes[] = { "kernel", "softirq", "irq" };
	static const char *const lines[] = { "kern/lock.c:24", "kern/lock.c:25", "[no source]", "kern/main.c:7" };
	static const uint64_t by_thread[] = { 12000, 3000, 1400, 900, 100, 40, 10 };
	static const uint64_t by_cpu[] = { 10450, 5000, 1990, 10 }, by_line[] = { 4000, 380, 20, 0 };
	static const uint64_t by_mode[] = { 17000, 430, 20 };
	struct function_page *page = util_alloc(sizeof(*page));

	hand_tree(answers, symbols, functions, true, 0);
	page->answer = (struct answer) { .kind = &function_page_kind, .symbols = symbols };
	page->tree = answers->tree;
	answers->tree = NULL;
	page->tree->of = tree_name(symbols_get(symbols, functions[1]), answers->functions->kernel);
	page->tables[PAGE_THREADS] = page_table(symbols, threads, "kernel", by_thread, 7);
	page->tables[PAGE_CPUS] = page_table(symbols, cpus, "", by_cpu, 4);
	page->tables[PAGE_MODES] = page_table(symbols, modes, "", by_mode, 3);
	page->tables[PAGE_LINES] = page_table(symbols, lines, "kernel", by_line, 4);
	page->tables[PAGE_THREADS]->by = GROUP_THREAD;
	page->tables[PAGE_CPUS]->by = GROUP_CPU;
	page->tables[PAGE_MODES]->by = GROUP_MODE;
	page->tables[PAGE_LINES]->by = GROUP_LINE;
	answers->page = page;
}

void hand_cpus(struct answers *answers, uint32_t count)
{
	free(answers->vitals->cpus);
	free(answers->vitals->trends);
	answers->vitals->cpus = util_alloc(count * sizeof(*answers->vitals->cpus));
	answers->vitals->trends = util_alloc(count * sizeof(*answers->vitals->trends));
	answers->vitals->cpu_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct cpu_vitals *cpu = &answers->vitals->cpus[i];

		cpu->enabled = true;
		cpu->series.trend = answers->vitals->trends[i].mode;
		cpu->series.mode[MODE_KERNEL] = 6200 - i % 7 * 900;
		cpu->series.mode[MODE_USER] = 2100 + i % 3 * 500;
		cpu->series.mode[MODE_IDLE] =
			10000 - cpu->series.mode[MODE_KERNEL] - cpu->series.mode[MODE_USER];
		for (uint32_t s = 10; s < TABLE_TREND; s++) {
			uint64_t busy = (s * (i + 3)) % 60 * 15;

			cpu->series.trend[s][MODE_KERNEL] = busy;
			cpu->series.trend[s][MODE_IDLE] = 900 - busy;
		}
	}
}

static struct vitals *hand_vitals(const struct symbols *symbols)
{
	struct vitals *vitals = util_alloc(sizeof(*vitals));

	*vitals = (struct vitals) {
		.answer = { .kind = &vitals_kind, .symbols = symbols },
		.kernel = "demo-kernel", .version = "0.1", .arch = "x86_64",
		.now = 192 * NS_PER_SECOND, .link = LINK_UP, .vm = VM_RUNNING,
		.running = true, .sampler = SAMPLER_NMI, .rate = 997, .achieved = 996.8,
		.cost_ns = 850, .cost_share = 0.0012, .ring_fill = 0.03,
	};
	return vitals;
}

/* The whole time since the boot, by 4 s: idle at first, then in waves, of user time and of the kernel's. */
static struct time_line *hand_line(struct symbols *symbols)
{
	struct time_line *line = util_alloc(sizeof(*line));

	*line = (struct time_line) {
		.answer = { .kind = &time_line_kind, .symbols = symbols }, .now = 192 * NS_PER_SECOND,
		.series = { .width = 4 * NS_PER_SECOND, .count = 49 },
	};
	for (size_t i = 0; i < line->series.count; i++) {
		struct series_slot *slot = &line->series.slots[i];

		slot->whole = 12000;
		slot->mode[MODE_KERNEL] = i < 5 ? 0 : 1000 * (i % 7);
		slot->mode[MODE_USER] = i < 5 ? 0 : 300 * (i % 13);
		slot->mode[MODE_IDLE] = slot->whole - slot->mode[MODE_KERNEL] - slot->mode[MODE_USER];
	}
	return line;
}

/*
 * A quarter of the CPUs is busy, half of them each fifth second. For 120 ms in each 700 ms nearly all are. Nothing is
 * known of 150 s to 152 s.
 */
void hand_heat(struct answers *answers, struct symbols *symbols)
{
	struct heat_map *map = util_alloc(sizeof(*map));

	map->answer = (struct answer) { .kind = &heat_map_kind, .symbols = symbols };
	map->asked.request.kind = &heat_map_kind;
	map->now = 192 * NS_PER_SECOND;
	map->heat.first = map->now / HEAT_NS - HEAT_SLOTS + 1;
	map->heat.count = HEAT_SLOTS;
	for (size_t i = 0; i < HEAT_SLOTS; i++) {
		uint64_t slot = map->heat.first + i;

		map->heat.slots[i].whole = slot / HEAT_SECOND / 2 == 75 ? 0 : 80;
		map->heat.slots[i].part = slot % 35 < 6 ? 75 : slot / HEAT_SECOND % 5 ? 20 : 40;
	}
	answer_free((struct answer *)answers->heat);
	answers->heat = map;
}

/* Most spans take about `ns`, which is the median; some take up to so many powers of two longer. */
static struct event_row hand_event(enum span_kind kind, uint64_t number, uint64_t count, uint64_t ns, int powers)
{
	int middle = 63 - __builtin_clzll(ns);
	struct event_row row = { .kind = kind, .number = number, .part = SLOW_ALL, .count = count,
		.lost = number == 98 ? 12 : 0, .total = count * ns * (uint64_t)(1 + powers), .p50 = ns,
		.p99 = ns << (powers - 1), .max = (ns << powers) + 77 };

	for (int i = 1; i <= powers; i++)
		row.bars[middle + i] = i % 4 == 3 ? 0 : (uint32_t)(count >> (2 + i));
	row.bars[middle] = (uint32_t)(count / 2);
	row.bars[middle - 1] = (uint32_t)(count / 4);
	for (uint64_t i = 0; i < EVENT_OVER; i++)
		row.over[i] = (uint32_t)(count * (i % 9) / 160);
	for (uint64_t i = 0; i < EVENT_TREND; i++)
		row.trend[i] = (uint32_t)(count * (i % (5 + number % 9) + 1) / 240);
	return row;
}

/* Those of the call 98: what each waited for differs. */
static void hand_slow(struct event_table *table)
{
	static const struct { uint64_t ms, ran, slept, ready, unknown, lock; const char *title, *call; } calls[] = {
		{ 128, 1, 124, 3, 0, 0, "main/1", "syscall_98(3, 0x7fffffffeeb0, 256) = 256" },
		{ 64, 2, 60, 2, 0, 40, "writer/17", "syscall_98(4, 0x7fffffffeeb0, 4096) = -11 EAGAIN" },
		{ 9, 8, 0, 1, 0, 0, "reader/4", "syscall_98(0, 0, 0) = 0" },
		{ 4, 0, 0, 0, 4, 0, "reader/4", "syscall_98(...) = ?" },
	};

	table->slow_told = true;
	table->slow_of = (struct slow_of) { SPAN_CALL, 98, SLOW_ALL };
	table->slow_from = table->from;
	table->slow_count = sizeof(calls) / sizeof(*calls);
	for (uint32_t i = 0; i < table->slow_count; i++) {
		struct slow_row *row = &table->slow[i];

		*row = (struct slow_row) {
			.of = table->slow_of, .begin = table->from + i * 1234 * NS_PER_MS, .thread = 4 + i, .cpu = i,
			.ran = calls[i].ran * NS_PER_MS, .slept = calls[i].slept * NS_PER_MS,
			.ready = calls[i].ready * NS_PER_MS, .unknown = calls[i].unknown * NS_PER_MS,
			.locked = calls[i].lock * NS_PER_MS, .lock_ns = calls[i].lock * NS_PER_MS,
			.holder = calls[i].lock ? 1 : EVENT_NONE,
		};
		row->end = row->begin + calls[i].ms * NS_PER_MS;
		util_print(row->title, sizeof(row->title), "%s", calls[i].title);
		util_print(row->call, sizeof(row->call), "%s", calls[i].call);
		util_print(row->lock_name, sizeof(row->lock_name), "%s", calls[i].lock ? "lock inode" : "");
		util_print(row->holder_title, sizeof(row->holder_title), "%s", calls[i].lock ? "main/1" : "");
	}
}

void hand_events(struct answers *answers, struct symbols *symbols, uint64_t more)
{
	const struct event_row all[] = {
		hand_event(SPAN_CALL, 0, 160312, 8000, 4), hand_event(SPAN_CALL, 98, 1204 + more, 250000, 9),
		hand_event(SPAN_INTERRUPT, 32, 40000, 2000, 5), hand_event(SPAN_CALL, 1, 9000, 1100, 3),
		hand_event(SPAN_CALL, 202, 31, 90000, 2), hand_event(SPAN_INTERRUPT, 4, 97, 700, 2),
		hand_event(SPAN_CALL, 231, 1, 3300, 1),
	};
	struct event_table *table = util_alloc(sizeof(*table) + sizeof(all) + 4 * sizeof(struct slow_row));

	table->answer = (struct answer) { .kind = &event_table_kind, .symbols = symbols };
	table->open_known = true;
	table->now = table->to = 192 * NS_PER_SECOND;
	table->from = table->to - 10 * NS_PER_SECOND;
	table->traced = true;
	table->events = 420000;
	table->count = sizeof(all) / sizeof(*all);
	table->rows = (struct event_row *)(table + 1);	/* the answer's own are of its epoch's budget */
	memcpy(table->rows, all, sizeof(all));
	table->slow = (struct slow_row *)((char *)table->rows + sizeof(all));
	hand_slow(table);
	answers->events = table;
}

void hand_memory(struct answers *answers, struct symbols *symbols)
{
	static const struct {
		uint32_t allocator;
		uint64_t objects, bytes, was, peak, given, taken;
		const char *title;
	} sites[] = {
		{ 1, 1204, 4931584, 4931584, 5242880, 300, 120, "page_alloc_clear < vm_fault < trap" },
		{ 0, 20400, 1958400, 921600, 1958400, 9000, 0, "node_new < tree_insert < tree_insert < ..." },
		{ 1, 480, 1966080, 1900544, 1966080, 16, 0, "slab_grow < slab_alloc < node_new < ..." },
		{ 0, 17, 2176, 2176, 4096, 41234, 41234, "packet_write < mail_send < mailer" },
		{ 0, 0, 0, 640, 640, 5, 10, "" },
	};
	static const char *const called[] = { "slab", "pages" };
	enum { ROWS = sizeof(sites) / sizeof(*sites) };
	struct memory_table *table = util_alloc(sizeof(*table) + ROWS * sizeof(struct memory_row));

	table->answer = (struct answer) { .kind = &memory_table_kind, .symbols = symbols };
	table->now = table->to = 192 * NS_PER_SECOND;
	table->from = table->to - 10 * NS_PER_SECOND;
	table->traced = table->ages = table->located = true;
	table->events = 420000;
	table->counts = (struct allocation_counts) { .given = 52000, .taken = 29899, .unmatched = 31 };
	table->count = ROWS;
	table->rows = (struct memory_row *)(table + 1);		/* the answer's own are of its epoch's budget */
	for (uint32_t i = 0; i < ROWS; i++) {
		struct memory_row *row = &table->rows[i];
		struct memory_total total = { .allocator = sites[i].allocator,
			.is = { sites[i].objects, sites[i].bytes } };

		*row = (struct memory_row) { .allocator = sites[i].allocator, .site = i, .is = total.is,
			.was = { sites[i].was / 96, sites[i].was }, .peak = sites[i].peak, .given = sites[i].given,
			.taken = sites[i].taken, .given_bytes = sites[i].given * 96, .taken_bytes = sites[i].taken * 96,
			.oldest = sites[i].objects ? (i + 1) * 20 * NS_PER_SECOND : 0 };
		row->site = *sites[i].title ? i : MEMORY_NO_SITE;
		for (uint64_t k = 0; k < MEMORY_TREND; k++)
			row->trend[k] = sites[i].was + (sites[i].bytes - sites[i].was) / MEMORY_TREND * (k + 1);
		util_print(row->called, sizeof(row->called), "%s", called[sites[i].allocator]);
		util_print(row->title, sizeof(row->title), "%s", sites[i].title);
		memcpy(total.called, row->called, sizeof(total.called));
		memory_total_add(table, &total);
	}
	table->stacks_told = true;
	table->stacks_allocator = 1;
	table->stack_count = 2;
	table->stacks = util_alloc(2 * sizeof(*table->stacks));
	table->stacks[0].is = (struct memory_live) { 1200, 4915200 };
	table->stacks[1].is = (struct memory_live) { 4, 16384 };
	util_print(table->stacks[0].text, STACK_TEXT, "traced_alloc < page_alloc < page_alloc_clear < vm_fault < trap");
	util_print(table->stacks[1].text, STACK_TEXT,
		"traced_alloc < page_alloc < page_alloc_clear < vm_fault < trap < ...");
	answers->memory = table;
}

static int by_thread(const void *left, const void *right)
{
	const struct timeline_thread *a = left, *b = right;

	return (a->thread > b->thread) - (a->thread < b->thread);
}

static const char *const titles[] = { "main/1", "writer/17", "reader/4" };

static void fill_cells(struct timeline *timeline, uint32_t row, const char *states)
{
	static const char letters[TIMELINE_STATES + 2] = " =|.^-:#";

	for (uint32_t i = 0; i < timeline->columns && states[i]; i++) {
		struct timeline_cell *cell = &timeline->rows[row].cells[i];
		uint8_t state = (uint8_t)(strchr(letters, states[i]) - letters);

		*cell = (struct timeline_cell) {
			.state = state == TIMELINE_STATES ? TIMELINE_RUN : state, .who = i < 30 ? 1 : 17,
			.name = state == TIMELINE_INTERRUPT ? 2 : state == TIMELINE_STATES || state == TIMELINE_SLEEP,
		};
	}
}

void hand_timeline(struct answers *answers, struct symbols *symbols)
{
	static const struct { bool is_cpu; uint32_t number; const char *states; } kinds[] = {
		{ true, 0, "==============================|||============================." },
		{ true, 1, "......................................===================....." },
		{ false, 1, "==#########===================   -----------------------------" },
		{ false, 17, "::::::::::::::::::::::^^^^^^^^^^^^============================^" },
		{ false, 4, "                                      ===================::::" },
	};
	enum { ROWS = sizeof(kinds) / sizeof(*kinds), COLUMNS = 62 };
	struct {
		struct timeline timeline;
		struct timeline_row rows[ROWS];
		struct timeline_cell cells[ROWS * COLUMNS];
		struct timeline_thread threads[3];
		char names[3][TIMELINE_CALLED];
	} *all = util_alloc(sizeof(*all));
	struct timeline *timeline = &all->timeline;

	*timeline = (struct timeline) {
		.answer = { .kind = &timeline_kind, .symbols = symbols }, .now = 192 * NS_PER_SECOND,
		.from = 180 * NS_PER_SECOND, .each = 50 * 1000, .columns = COLUMNS, .traced = true, .events = 420000,
		.count = ROWS, .rows = all->rows, .cells = all->cells, .thread_count = 3, .threads = all->threads,
		.name_count = 3, .names = all->names,
	};
	timeline->to = timeline->from + COLUMNS * timeline->each;
	strcpy(all->names[1], "read");
	strcpy(all->names[2], "irq 32");
	for (int i = 0; i < 3; i++) {
		all->threads[i].thread = (uint32_t)atoi(strchr(titles[i], '/') + 1);
		strcpy(all->threads[i].title, titles[i]);
	}
	qsort(all->threads, 3, sizeof(*all->threads), by_thread);
	for (uint32_t i = 0; i < ROWS; i++) {
		all->rows[i] = (struct timeline_row) { .is_cpu = kinds[i].is_cpu, .number = kinds[i].number,
			.cells = all->cells + i * COLUMNS };
		fill_cells(timeline, i, kinds[i].states);
	}
	timeline->moment = (struct timeline_moment) {
		.of = 1, .time = timeline->to - 1, .is_known = true, .is_inside = true, .woken = true,
		.now = { .kind = SPAN_SLEEP, .thread = 1, .begin = timeline->from + 1650000, .end = timeline->to,
			.open = true },
		.inside = { .kind = SPAN_CALL, .name = 1, .thread = 1, .begin = timeline->from, .end = timeline->to },
		.wake = { .kind = SPAN_READY, .thread = 1, .waker = 17, .begin = timeline->from },
		.before = timeline->from + 1650000,
	};
	strcpy(all->names[0], "");
	answers->timeline = timeline;
}

struct answers *hand_answers(struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS])
{
	struct function_table *table = util_alloc(sizeof(*table));
	struct answers *answers;

	*table = (struct function_table) {
		.answer = { .kind = &function_table_kind, .symbols = symbols }, .kernel = "demo-kernel",
		.table = hand_table(functions), .selected = functions[2], .caller_count = 2,
		.callers = { { functions[1], 2950 }, { functions[5], 1890 } },
	};
	answers = answers_new(&hand_vitals(symbols)->answer, &table->answer);
	answers->line = hand_line(symbols);
	hand_cpus(answers, 4);
	answers->vitals->cpus[3].sampler = true;
	hand_visible(answers, HAND_FUNCTIONS);
	return answers;
}
