/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/query/tree/contexts.h"
#include "hand_set.h"

enum { LONG = 10240, NAMES = 3000, FRAMES = 12 };

const char *const hand_set_hostile[HAND_HOSTILE] = {
	"a\"b'c", "semi;colon", "</script><script>alert(1)</script>", "]]><svg onload=\"x\">",
	"new\nline", "new\\x0aline", "esc\x1b[31m", "bad\xff\xc3 utf", NULL,
};

/* The functions that are not hostile. */
enum { SYSCALL, FAULT, INLINED, IRQ, MODULE, MAIN, IDLE, UNKNOWN, PLAIN };
static const struct set_function plain[PLAIN] = {
	{ "entry_syscall", "kernel", "entry.S", 10, 0x1000, SET_KERNEL },
	{ "vm_fault", "kernel", "mm/fault.c", 120, 0x2000, SET_KERNEL },
	{ "page_zero", "kernel", "mm/page.c", 7, 0x2040, SET_KERNEL },
	{ "irq_entry", "kernel", "", 0, 0x3000, SET_KERNEL },
	{ "ext4_read", "ext4", "", 0, 0x100, SET_MODULE }, { "main", "httpd", "main.c", 3, 0x400, SET_USER },
	{ "[idle]", "", "", 0, 0, SET_IDLE }, { "[unknown]", "", "", 0, 0, SET_UNKNOWN },
};

static struct hand_set *room(uint32_t count)
{
	struct hand_set *hand = util_alloc(sizeof(*hand));

	hand->functions = util_alloc(count * sizeof(*hand->functions));
	hand->lines = util_alloc(count * sizeof(*hand->lines));
	hand->locations = util_alloc(count * sizeof(*hand->locations));
	hand->stacks = util_alloc(count * sizeof(*hand->stacks));
	hand->sums = util_alloc(count * sizeof(*hand->sums));
	hand->set = (struct sample_set) {
		.functions = hand->functions, .lines = hand->lines, .locations = hand->locations,
		.stacks = hand->stacks, .sums = hand->sums,
		.facts = {
			.machine = "demo", .kernel = "Linux", .version = "6.1", .arch = "x86-64",
			.to = 2 * NS_PER_SECOND, .period = NS_PER_MS, .lost = 3, .cpus = 2,
			.missed = 77, .cost_ns = 344, .cost_share = 0.0005,
		},
	};
	return hand;
}

void hand_set_free(struct hand_set *hand)
{
	free(hand->functions);
	free(hand->lines);
	free(hand->locations);
	free(hand->stacks);
	free(hand->sums);
	free(hand->long_name);
	free(hand);
}

/* A stack whose location has one function, or two, of which the second was inlined. */
static uint32_t add_stack(struct hand_set *hand, uint32_t parent, uint32_t function, uint32_t inlined)
{
	struct sample_set *set = &hand->set;
	struct set_location *location = &hand->locations[set->location_count];

	*location = (struct set_location) { .object = SET_NONE, .first = set->line_count };
	if (inlined != SET_NONE)
		hand->lines[location->first + location->count++] = (struct set_line) { inlined, 5 };
	hand->lines[location->first + location->count++] = (struct set_line) { function, 6 };
	set->line_count += location->count;
	hand->stacks[set->stack_count] = (struct set_stack) { parent, set->location_count++, false };
	return set->stack_count++;
}

static void add_sum(struct hand_set *hand, uint32_t stack, uint8_t mode, uint64_t weight)
{
	struct sample_set *set = &hand->set;

	hand->sums[set->sum_count++] = (struct set_sum) {
		stack, { SET_NONE, 0, mode }, .samples = weight, .weight = weight, .ns = weight * NS_PER_MS,
	};
	set->samples += weight;
	set->weight += weight;
	set->ns += weight * NS_PER_MS;
}

/* ---- rows: half of each sum in the first second, half later ---- */

struct set_rows {
	const struct hand_set *hand;
	uint32_t at;
};

static struct set_rows *rows_open(void *context)
{
	struct set_rows *rows = util_alloc(sizeof(*rows));

	rows->hand = context;
	return rows;
}

static bool rows_next(struct set_rows *rows, struct set_row *row)
{
	uint32_t count = rows->hand->set.sum_count, sum = rows->at % count, half = rows->at / count;
	uint64_t weight = rows->hand->sums[sum].weight;

	if (half > 1)
		return false;
	weight = half ? weight - weight / 2 : weight / 2;
	*row = (struct set_row) {
		5 * NS_PER_SECOND + half * rows->hand->apart + sum, sum, weight, weight, weight * NS_PER_MS,
	};
	rows->at++;
	return true;
}

static bool rows_failed(const struct set_rows *rows)
{
	return rows->at > 2 * rows->hand->set.sum_count;
}

static void rows_close(struct set_rows *rows)
{
	free(rows);
}

static void rows_free(void *context)
{
	(void)context;
}

static const struct set_rows_table rows_table = { rows_open, rows_next, rows_failed, rows_close, rows_free };

struct hand_set *hand_set_new(void)
{
	struct hand_set *hand = room(64);
	uint32_t entry, fault;

	hand->long_name = util_alloc(LONG + 1);
	memset(hand->long_name, 'x', LONG);
	memcpy(hand->functions, plain, sizeof(plain));
	for (int i = 0; i < HAND_HOSTILE; i++)
		hand->functions[PLAIN + i] = (struct set_function) {
			hand_set_hostile[i] ? hand_set_hostile[i] : hand->long_name, "kernel", "", 0, 0, SET_KERNEL,
		};
	hand->set.function_count = PLAIN + HAND_HOSTILE;
	entry = add_stack(hand, SET_NONE, SYSCALL, SET_NONE);
	fault = add_stack(hand, entry, FAULT, INLINED);	/* entry_syscall > vm_fault > page_zero */
	add_sum(hand, entry, MODE_KERNEL, 10);
	add_sum(hand, fault, MODE_KERNEL, 300);
	add_sum(hand, add_stack(hand, fault, IRQ, SET_NONE), MODE_IRQ, 40);
	add_sum(hand, add_stack(hand, entry, MODULE, SET_NONE), MODE_KERNEL, 50);
	add_sum(hand, add_stack(hand, SET_NONE, MAIN, SET_NONE), MODE_USER, 91);
	add_sum(hand, add_stack(hand, SET_NONE, IDLE, SET_NONE), MODE_IDLE, 499);
	add_sum(hand, add_stack(hand, SET_NONE, UNKNOWN, SET_NONE), MODE_KERNEL, 1);
	for (uint32_t i = 0; i < HAND_HOSTILE; i++)
		add_sum(hand, add_stack(hand, entry, PLAIN + i, SET_NONE), MODE_KERNEL, 1);
	hand->apart = NS_PER_SECOND;
	hand->set.rows = &rows_table;
	hand->set.rows_context = hand;
	return hand;
}

struct hand_set *hand_set_new_large(uint32_t stacks)
{
	struct hand_set *hand = room(stacks * FRAMES + NAMES);
	uint32_t random = 1;

	hand->long_name = util_alloc(NAMES * 32);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(hand->long_name + i * 32, 32, "a_function_named_%u", i);
		hand->functions[i] = (struct set_function) {
			hand->long_name + i * 32, "kernel", "mm/some_file.c", i, 0x1000 + i, SET_KERNEL,
		};
	}
	hand->set.function_count = NAMES;
	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t stack = SET_NONE;

		for (uint32_t frame = 0; frame < FRAMES; frame++) {
			random = random * 1664525 + 1013904223;
			stack = add_stack(hand, stack, frame < 4 ? i % (8u << frame) : (random >> 8) % NAMES, SET_NONE);
		}
		add_sum(hand, stack, MODE_KERNEL, 1 + random % 7);
	}
	return hand;
}
