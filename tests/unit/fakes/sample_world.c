/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/writing/name_text.h"
#include "agent/query/tree/contexts.h"
#include "agent/samples/sample_set.h"
#include "random.h"
#include "sample_world.h"

enum { LONG = 10 * 1024, DEPTH = 6 };

static char long_name[LONG + 1];

const char *const sample_world_hostile[] = {
	"semi;colon", "semi:colon", "\"double\"", "double", "'single'", "<script>alert(1)</script>", "</script>",
	"a\nb", "a\tb", "a b", "a_b", "\x1b[31mred", "\xff\xfe", "\xff", "\xc3\x28", "\\xff", "back\\slash", "f+0x10",
	"f (g)", "f(int)", "f(long)", "(1) fn", "fn=x", "calls=1 1", "+1", "100%", "&amp;", "[unknown]", "-->",
	"\xe2\x80\xae" "override", "snow\xe2\x98\x83", long_name,
	NULL,
};

static uint32_t add_function(struct sample_set *set, const char *name, const char *object, const char *file,
	uint64_t address, enum set_kind kind)
{
	return sample_set_function(set, &(struct set_function) {
		.name = name, .object = object, .file = file, .line = *file ? 10 : 0, .address = address,
		.kind = kind });
}

static uint32_t add_location(struct sample_set *set, uint64_t address, uint32_t object, uint32_t function,
	uint32_t line)
{
	return sample_set_location(set, address, object, &(struct set_line) { .function = function, .line = line }, 1);
}

/* The locations of ordinary stacks. */
enum place { START, MAIN, READ, ENTRY, SYSCALL, EXT4, COPY, IRQ, IDLE, UNKNOWN, PLACES };

struct world {
	struct sample_set *set;
	uint32_t at[PLACES], threads[3];
	uint32_t hostile[64], hostile_threads[64], hostile_count;
};

static void add_places(struct world *world)
{
	struct sample_set *set = world->set;
	uint32_t kernel = sample_set_object(set, &(struct set_object) {
		.name = "kernel", .path = "/boot/vmlinux", .build_id = "0123456789abcdef0123456789abcdef01234567",
		.start = 0xffffffff81000000, .end = 0xffffffff82000000, .offset = 0x200000 });
	uint32_t module = sample_set_object(set, &(struct set_object) {
		.name = "ext4", .path = "", .build_id = "", .start = 0xffffffffc0000000, .end = 0xffffffffc0100000 });
	uint32_t program = sample_set_object(set,
		&(struct set_object) { .name = "sh",
			.path = "/srv/root/bin/sh",
			.build_id = "feedface",
			.start = 0x400000,
			.end = 0x500000,
			.offset = 0x1000 });
	uint32_t copy = add_function(set, "copy_page", "kernel", "lib/copy.c", 0xffffffff81003000, SET_KERNEL);
	struct set_line inlined[] = {
		{ add_function(set, "rep_movs", "kernel", "lib/rep.h", 0, SET_KERNEL), 7 },
		{ add_function(set, "copy_words", "kernel", "lib/copy.c", 0, SET_KERNEL), 22 }, { copy, 31 },
	};

	world->at[START] = add_location(
		set, 0x400100, program, add_function(set, "_start", "sh", "", 0x100, SET_USER), 0);
	world->at[MAIN] = add_location(
		set, 0x400234, program, add_function(set, "main", "sh", "sh.c", 0x200, SET_USER), 44);
	world->at[READ] = add_location(set, 0x400310, program,
		add_function(set, "read", "sh", "read.c", 0x300, SET_USER), 12);
	world->at[ENTRY] = add_location(set, 0xffffffff81001040, kernel,
		add_function(set, "entry_syscall", "kernel", "entry.S", 0xffffffff81001000, SET_KERNEL), 60);
	world->at[SYSCALL] = add_location(set, 0xffffffff81002040, kernel,
		add_function(set, "sys_read", "kernel", "fs/read.c", 0xffffffff81002000, SET_KERNEL), 61);
	world->at[EXT4] = add_location(set, 0xffffffffc0000450, module,
		add_function(set, "read", "ext4", "fs/ext4/read.c", 0x400, SET_MODULE), 90);
	world->at[COPY] = sample_set_location(set, 0xffffffff81003010, kernel, inlined, 3);
	world->at[IRQ] = add_location(set, 0xffffffff81004010, kernel,
		add_function(set, "do_irq", "kernel", "irq.c", 0xffffffff81004000, SET_KERNEL), 5);
	world->at[IDLE] = add_location(set, 0, SET_NONE, add_function(set, "[idle]", "", "", 0, SET_IDLE), 0);
	world->at[UNKNOWN] = add_location(set, 0xdead, SET_NONE,
		add_function(set, "[unknown]", "", "", 0, SET_UNKNOWN), 0);
}

static void add_hostile(struct world *world)
{
	struct sample_set *set = world->set;

	for (; sample_world_hostile[world->hostile_count]; world->hostile_count++) {
		uint32_t i = world->hostile_count;
		const char *name = sample_world_hostile[i];
		uint64_t start = 0x10000000 + i * UINT64_C(0x10000);
		uint32_t object = sample_set_object(set, &(struct set_object) {
			.name = name, .path = name, .build_id = "", .start = start, .end = start + 0x10000 });

		world->hostile[i] = add_location(set, start + 0x10, object,
			add_function(set, name, name, name, 0x10, SET_USER), i);
		world->hostile_threads[i] = sample_set_thread(set, &(struct set_thread) {
			.id = 1000 + i, .process = 500 + i, .name = name, .process_name = name });
	}
}

static uint32_t add_stack(struct sample_set *set, const uint32_t *locations, uint32_t count)
{
	uint32_t stack = SET_NONE;

	for (uint32_t i = 0; i < count; i++)
		stack = sample_set_stack(set, stack, locations[i], false);
	return stack;
}

/* ---- samples ---- */

/* One of the stacks of the world, and who ran it. */
static struct set_sum choose(struct world *world, struct random *random)
{
	static const struct { enum place places[DEPTH]; uint32_t depth, thread; uint8_t mode; } ordinary[] = {
		{ { START, MAIN }, 2, 1, MODE_USER }, { { START, MAIN, READ }, 3, 1, MODE_USER },
		{ { START, MAIN, READ, ENTRY, SYSCALL }, 5, 1, MODE_KERNEL },
		{ { START, MAIN, READ, ENTRY, SYSCALL, EXT4 }, 6, 2, MODE_KERNEL },
		{ { MAIN, READ, ENTRY, SYSCALL, COPY }, 5, 1, MODE_KERNEL }, { { MAIN, MAIN, MAIN }, 3, 2, MODE_USER },
		{ { START, MAIN, IRQ }, 3, 1, MODE_IRQ }, { { ENTRY, IRQ, COPY }, 3, SET_NONE, MODE_SOFTIRQ },
		{ { IDLE }, 1, 0, MODE_IDLE }, { { UNKNOWN }, 1, SET_NONE, MODE_KERNEL },
	};
	enum { ORDINARY = sizeof(ordinary) / sizeof(*ordinary) };
	uint32_t which = (uint32_t)random_below(random, ORDINARY + 4), at[DEPTH];
	uint32_t cpu = (uint32_t)random_below(random, 20);
	uint32_t hostile = (uint32_t)random_below(random, world->hostile_count);
	struct set_sum sum = { .who = { .cpu = cpu == 0 ? SET_NONE : cpu < 8 ? 0 : 3 } };

	if (which < ORDINARY) {
		for (uint32_t i = 0; i < ordinary[which].depth; i++)
			at[i] = world->at[ordinary[which].places[i]];
		sum.stack = add_stack(world->set, at, ordinary[which].depth);
		sum.who.mode = ordinary[which].mode;
		sum.who.thread = ordinary[which].thread == SET_NONE ? SET_NONE : world->threads[ordinary[which].thread];
	} else {
		at[0] = world->at[START];
		at[1] = world->hostile[hostile];
		sum.stack = add_stack(world->set, at, 2);
		sum.who.mode = MODE_USER;
		sum.who.thread = world->hostile_threads[hostile];
	}
	return sum;
}

struct kept {				/* rows */
	struct set_row rows[WORLD_SAMPLES];
	uint32_t count;
	bool fails;
};

struct set_rows {
	const struct kept *kept;
	uint32_t next;
};

static struct set_rows *open_rows(void *context)
{
	struct set_rows *rows = util_alloc(sizeof(*rows));

	rows->kept = context;
	return rows;
}

static bool next_row(struct set_rows *rows, struct set_row *row)
{
	if (rows->next == (rows->kept->fails ? rows->kept->count / 2 : rows->kept->count))
		return false;
	*row = rows->kept->rows[rows->next++];
	return true;
}

static bool rows_failed(const struct set_rows *rows)
{
	return rows->kept->fails;
}

static void close_rows(struct set_rows *rows)
{
	free(rows);
}

static const struct set_rows_table rows_table = {
	.open = open_rows, .next = next_row, .failed = rows_failed, .close = close_rows, .free = free,
};

static void add_samples(struct world *world, struct kept *kept)
{
	struct random random = { 1 };
	uint64_t time = WORLD_FROM, left = WORLD_SAMPLES;

	while (left) {
		struct set_sum sum = choose(world, &random);
		uint64_t most = random_below(&random, 50) == 0 ? 7 : 1;

		sum.samples = most < left ? most : left;
		sum.weight = sum.samples + (random_below(&random, 10) == 0);
		sum.ns = sum.weight * WORLD_PERIOD + random_below(&random, 3);
		left -= sum.samples;
		kept->rows[kept->count++] = (struct set_row) {
			.time = time, .sum = sample_set_add(world->set, &sum), .samples = sum.samples,
			.weight = sum.weight, .ns = sum.ns,
		};
		time += random_below(&random, 2 * WORLD_PERIOD / 3);
	}
}

static struct sample_set *make(bool rows, bool fails)
{
	struct world world = { .set = sample_set_new(NULL) };
	struct kept *kept = util_alloc(sizeof(*kept));

	memset(long_name, 'x', LONG);
	kept->fails = fails;
	add_places(&world);
	for (uint32_t i = 0; i < 3; i++)
		world.threads[i] = sample_set_thread(world.set, &(struct set_thread) {
			.id = i ? 40 + i : 0, .process = i ? 40 : 0,
			.name = (const char *const[]) { "swapper", "sh", "worker" }[i],
			.process_name = i ? "sh" : "" });
	add_hostile(&world);
	add_samples(&world, kept);
	sample_set_tell(world.set, &(struct set_facts) {
		.numbers = &(struct trace_number) { ROLE_CALL_BEGIN, 1, "re\"ad" }, .number_count = 1,
		.machine = "guest", .kernel = "Linux", .version = "6.1.0", .arch = "x86_64", .from = WORLD_FROM,
		.to = WORLD_TO, .period = WORLD_PERIOD, .began = WORLD_BEGAN, .lost = 12, .cpus = 4 });
	if (rows)
		sample_set_give_rows(world.set, &rows_table, kept);
	else
		free(kept);
	return world.set;
}

struct sample_set *sample_world_new(bool rows)
{
	return make(rows, false);
}

struct sample_set *sample_world_failing(void)
{
	return make(true, true);
}

void sample_world_folded(const struct sample_set *set, FILE *to)
{
	struct set_line frames[4 * DEPTH];

	for (uint32_t i = 0; i < set->sum_count; i++) {
		uint32_t depth = sample_set_frames(set, set->sums[i].stack, frames, 4 * DEPTH);

		for (uint32_t k = 0; k < depth; k++) {
			if (k)
				putc(';', to);
			name_text_put(to, set->functions[frames[k].function].name, ";");
		}
		fprintf(to, " %" PRIu64 " %" PRIu64 "\n", set->sums[i].samples, set->sums[i].ns);
	}
}
