/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/util.h"
#include "agent/code/listing.h"
#include "agent/names/dwarf/sym_dwarf.h"
#include "agent/names/symbols.h"
#include "agent/query/tree/tree.h"
#include "hand_annotation.h"

/* push %rbp; mov 0x18(%rdi),%eax; pause; test %eax,%eax; jne to mov; mov (%rdi),%rax; pop %rbp; ret */
static const uint8_t bytes[] = {
	0x55, 0x8b, 0x47, 0x18, 0xf3, 0x90, 0x85, 0xc0, 0x75, 0xf7, 0x48, 0x8b, 0x07, 0x5d, 0xc3,
};
static const char *const source[] = {
	"struct page *page_alloc(unsigned order)", "{", "        struct zone *zone = zone_of(order);", "",
	"        while (zone->lock)", "                relax();",
	"        struct page *page = list_pop(&zone->free[order]);", "        return page;", "}",
};
enum { LOW = 0x4011a0, FIRST = 120, LINES = sizeof(source) / sizeof(*source) };

static struct listing *make_listing(bool bare)
{
	static struct code_bytes code = { .arch = ARCH_X86_64, .size = sizeof(bytes) };
	char own[] = "/src/kernel/mm/page.c", list[] = "/src/kernel/include/list.h", pop[] = "list_pop";
	char *files[] = { own, list };
	struct code_row rows[] = {
		{ LOW, 120, 0 }, { LOW + 1, 124, 0 }, { LOW + 4, 125, 0 }, { LOW + 6, 124, 0 }, { LOW + 10, 40, 1 },
		{ LOW + 13, 128, 0 },
	};
	struct code_inline inlines[] = { { LOW + 10, LOW + 13, 0, 126, 0, pop } };
	const struct code_lines lines = {
		.files = files, .file_count = 2, .rows = rows, .row_count = sizeof(rows) / sizeof(*rows),
		.inlines = inlines, .inline_count = 1, .file = 0, .line = FIRST,
	};
	struct listing *listing;

	memcpy(code.bytes, bytes, sizeof(bytes));
	listing = listing_new(&code, LOW, LOW + sizeof(bytes), bare ? NULL : &lines, NULL);
	for (uint32_t i = 0; !bare && i < listing->line_count && i < LINES; i++)
		listing->lines[i] = util_copy(source[i], strlen(source[i]));
	return listing;
}

void hand_annotation(struct answers *answers, struct symbols *symbols, uint32_t function, bool bare, uint64_t more)
{
	static const uint64_t weights[] = { 16, 36, 2400, 12, 0, 510, 0, 1 };
	struct annotation *answer = util_alloc(sizeof(*answer));

	answer->answer = (struct answer) { .kind = &annotation_kind, .symbols = symbols };
	answer->function = function;
	answer->of = tree_name(symbols_get(symbols, function), answers->functions->kernel);
	answer->listing = make_listing(bare);
	answer->called = symbols;
	util_print(answer->kernel, sizeof(answer->kernel), "%s", answers->functions->kernel);
	answer->heat = util_alloc(answer->listing->count * sizeof(*answer->heat));
	for (size_t i = 0; i < answer->listing->count && i < sizeof(weights) / sizeof(*weights); i++) {
		uint64_t weight = weights[i] + (i == 5 ? more : 0);

		answer->heat[i] = (struct annotation_heat) { weight, weight };
		answer->self.weight += weight;
		answer->self.samples += weight;
	}
	answer->weight = answer->samples = answer->mode[MODE_KERNEL] = 39800;
	answer->from = 182000000000;
	answer->to = 192000000000;
	answer->lacks = bare ? "no source lines: no file with its DWARF is known; give --debug-dir FOLDER or "
		"--debuginfod" : "";
	answer_free((struct answer *)answers->annotation);
	answers->annotation = answer;
}
