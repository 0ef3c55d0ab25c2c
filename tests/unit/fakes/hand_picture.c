/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/wire/event.h"
#include "hand_picture.h"
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
	const char *const no_folder[] = { NULL };
	struct object shell = {
		.process = 7, .start = 0x400000, .end = 0x500000, .name = { "shell", 5 },
	};

	assert_true(symbols_load_kernel(symbols, scratch_text("System.map", list), NULL));
	for (uint32_t i = 0; i < 6; i++)
		functions[i] = symbols_function(symbols, EVENT_KERNEL,
			0xffffffff80101000 + i * 0x1000 + 8);
	symbols_map(symbols, &shell, no_folder);
	functions[6] = symbols_function(symbols, symbols_space(symbols, 7), 0x400123);
	functions[7] = symbols_special(symbols, "[idle]");
	return symbols;
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

	table->from = 182000000000;
	table->to = 192000000000;
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
static void hand_visible(struct picture *picture, size_t count)
{
	count = count < 256 ? count : 256;
	free(picture->functions->visible);
	picture->functions->visible = util_alloc(count * sizeof(*picture->functions->visible));
	picture->functions->visible_count = count;
	for (size_t i = 0; i < count; i++) {
		struct function_row *row = &picture->functions->visible[i];

		row->function = picture->functions->table->rows[i].function;
		row->line = i < HAND_FUNCTIONS ? rows[i].line : "";
		for (size_t s = i % TABLE_TREND; s < TABLE_TREND; s++)
			row->trend[s] = s / 6 * (i + 1) % 9 * 100;
	}
}

void hand_rows(struct picture *picture, struct symbols *symbols, const uint32_t *functions,
	size_t count)
{
	struct table *table = table_new(NULL, count, 1);

	table->from = 182000000000;
	table->to = 192000000000;
	for (size_t i = 0; i < count; i++) {
		struct row *row = table_add(table, functions[i]);

		row->self = row->samples = 10000 / (i + 1);
		row->total = row->self + i % 7 * 100;
		row->cpus[0] = 0x5 << i % 3;
		table->weight += row->self;
	}
	table->samples = table->mode[MODE_KERNEL] = table->weight;
	table_free(picture->functions->table);
	picture->functions->table = table;
	picture->functions->answer.symbols = symbols;
	picture->functions->selected = count ? functions[0] : FUNCTION_NONE;
	picture->functions->caller_count = 0;
	hand_visible(picture, count);
}

void hand_cpus(struct picture *picture, uint32_t count)
{
	free(picture->vitals->cpus);
	free(picture->vitals->trends);
	picture->vitals->cpus = util_alloc(count * sizeof(*picture->vitals->cpus));
	picture->vitals->trends = util_alloc(count * sizeof(*picture->vitals->trends));
	picture->vitals->cpu_count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct cpu_vitals *cpu = &picture->vitals->cpus[i];

		cpu->enabled = true;
		cpu->series.trend = picture->vitals->trends[i].mode;
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
		.now = 192000000000, .link = LINK_UP, .vm = VM_RUNNING,
		.running = true, .sampler = SAMPLER_NMI, .rate = 997, .achieved = 996.8,
		.cost_ns = 850, .cost_share = 0.0012, .ring_fill = 0.03,
	};
	return vitals;
}

struct picture *hand_picture(struct symbols *symbols, const uint32_t functions[HAND_FUNCTIONS])
{
	struct function_table *table = util_alloc(sizeof(*table));
	struct picture *picture;

	*table = (struct function_table) {
		.answer = { .kind = &function_table_kind, .symbols = symbols }, .kernel = "demo-kernel",
		.table = hand_table(functions), .selected = functions[2], .caller_count = 2,
		.callers = { { functions[1], 2950 }, { functions[5], 1890 } },
	};
	picture = picture_new(&hand_vitals(symbols)->answer, &table->answer);
	hand_cpus(picture, 4);
	picture->vitals->cpus[3].sampler = true;
	hand_visible(picture, HAND_FUNCTIONS);
	return picture;
}
