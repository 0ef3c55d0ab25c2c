/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "agent/query/scan.h"
#include "agent/query/question/grouping.h"
#include "agent/query/tree/tree.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "intern.h"
#include "query_world.h"
#include "sums.h"

enum {
	FUNCTIONS = 256,		/* the most of a world: each check counts all of them */
	SLICES = 4096,
};

struct world world_new(void)
{
	struct world world = { .inputs = {
		.store = store_new(NULL, STORE_COUNTS_MAX), .stacks = stacks_new(NULL),
		.symbols = symbols_new(NULL), .threads = threads_new(NULL),
	} };

	world.query = query_new(&world.inputs);
	return world;
}

void world_free(struct world *world)
{
	query_free(world->query);
	store_free(world->inputs.store);
	stacks_free(world->inputs.stacks);
	symbols_free(world->inputs.symbols);
	threads_free(world->inputs.threads);
	free(world->list);
}

void world_take(struct world *world, const struct taken *taken)
{
	const struct sample sample = {
		.process = taken->process, .kernel_cut = taken->kernel_cut,
		.kernel = taken->kernel, .kernel_count = taken->kernel_count,
		.user = taken->user, .user_count = taken->user_count,
	};
	const struct store_key key = {
		.stack = taken->missed ? STACKS_NONE :
			intern(world->inputs.stacks, &sample, taken->process),
		.who = {
			.thread = taken->thread, .process = taken->process,
			.cpu = (uint16_t)taken->cpu, .mode = (uint8_t)taken->mode,
			.context = (uint8_t)taken->context,
		},
	};

	if (taken->missed)
		store_missed(world->inputs.store, taken->time, taken->cpu, taken->weight);
	else
		store_add(world->inputs.store, taken->time, &key, taken->weight);
	if (world->count == world->room) {
		world->room = 2 * world->room + 64;
		world->list = realloc(world->list, world->room * sizeof(*world->list));
		assert_non_null(world->list);
	}
	world->list[world->count++] = *taken;
}

/* ---- the oracle ---- */

/* Says of each slice whether it is in the question's range. Slices are in order of time. */
struct ranges {
	size_t count;
	struct slice_range { uint64_t begin, end; bool inside; } list[SLICES];
};

static void find_ranges(struct ranges *ranges, const struct store *store, const struct question *question)
{
	ranges->count = 0;
	for (struct each_slice at = each_slice(store); each_next(&at);) {
		uint64_t middle = at.slice.begin + (at.slice.end - at.slice.begin) / 2;

		assert_true(ranges->count < SLICES);
		ranges->list[ranges->count++] = (struct slice_range) { .begin = at.slice.begin, .end = at.slice.end,
			.inside = middle >= question->from && (question->to == UINT64_MAX || middle < question->to) };
	}
}

static bool in_range(const struct ranges *ranges, uint64_t time)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct slice_range *range = &ranges->list[middle];

		if (time >= range->begin && time < range->end)
			return range->inside;
		if (time < range->begin)
			high = middle;
		else
			low = middle + 1;
	}
	fail_msg("no slice holds %llu", (unsigned long long)time);
	return false;
}

/* The functions of a sample, leaf first. `cuts` says behind which of them the caller is unknown. */
struct frames {
	size_t depth;
	uint32_t functions[2 * WORLD_FRAMES];
	bool cuts[2 * WORLD_FRAMES];
	uint32_t spaces[2 * WORLD_FRAMES];	/* of code: where each frame is */
	uint64_t addresses[2 * WORLD_FRAMES];
};

static void add_frame(struct frames *frames, uint32_t function)
{
	assert_true(function < FUNCTIONS);
	frames->cuts[frames->depth] = false;
	frames->functions[frames->depth++] = function;
}

/* A return address is behind the call: the byte before it counts. */
static void add_code(struct frames *frames, struct symbols *symbols, uint32_t space, uint64_t address)
{
	address -= frames->depth > 0;
	frames->spaces[frames->depth] = space;
	frames->addresses[frames->depth] = address;
	add_frame(frames, symbols_function(symbols, space, address));
}

static void find_frames(struct frames *frames, struct symbols *symbols, const struct taken *taken)
{
	frames->depth = 0;
	frames->addresses[0] = 0;
	if (taken->mode == MODE_IDLE || taken->kernel_count + taken->user_count == 0) {
		add_frame(frames, symbols_special(symbols, taken->mode == MODE_IDLE ? "[idle]" : "[unknown]"));
		return;
	}
	for (uint32_t i = 0; i < taken->kernel_count; i++)
		add_code(frames, symbols, EVENT_KERNEL, taken->kernel[i]);
	if (frames->depth)
		frames->cuts[frames->depth - 1] = taken->kernel_cut;
	for (uint32_t i = 0; i < taken->user_count; i++)
		add_code(frames, symbols, taken->process, taken->user[i]);
}

/* ---- modes by name: those of the kernel's time by the first function that tells, from the leaf on ---- */

static const char *mode_of(const struct symbols *symbols, const struct taken *taken, const struct frames *frames)
{
	static const char *const contexts[CONTEXTS] = { "kernel", "kernel", "irq", "softirq" };

	if (taken->mode != MODE_KERNEL)
		return taken->mode == MODE_USER ? "user" : "idle";
	for (size_t i = 0; i < frames->depth && taken->context == CONTEXT_UNTOLD; i++) {
		const char *name = symbols_get(symbols, frames->functions[i])->name;

		if (strcmp(name, WORLD_TASK) == 0)
			return "kernel";
		if (strcmp(name, WORLD_IRQ) == 0 || strcmp(name, WORLD_SOFTIRQ) == 0)
			return strcmp(name, WORLD_IRQ) == 0 ? "irq" : "softirq";
	}
	return contexts[taken->context];
}

/* ---- the rows of groups, as question.h says ---- */

static uint32_t row_of_file(struct symbols *symbols, uint32_t function)
{
	const char *line = symbols_line(symbols, function);
	char file[16] = "";

	if (!line || !*line)
		return symbols_special(symbols, line ? "[no source]" : "[not read yet]");
	snprintf(file, sizeof(file), "%.*s", (int)strcspn(line, ":"), line);
	return symbols_group(symbols, file, "");
}

static uint32_t row_of_line(struct symbols *symbols, uint32_t space, uint64_t address, const char *object)
{
	const char *line = symbols_line_at(symbols, space, address);

	if (!line || !*line)
		return symbols_special(symbols, line ? "[no source]" : "[not read yet]");
	return symbols_group(symbols, line, object);
}

static const char *comm_of(struct threads *threads, const struct taken *taken)
{
	const char *process = threads_told_process(threads, taken->process);

	return taken->thread == EVENT_NONE && process ? process : threads_name(threads, taken->thread);
}

/* Replaces a sample's functions by its rows. */
static void group_frames(struct frames *frames, const struct query_inputs *inputs, const struct taken *taken,
	enum group_by by)
{
	const char *mode = mode_of(inputs->symbols, taken, frames);
	char name[64] = "", process[64];

	if (by == GROUP_FUNCTION)
		return;
	for (size_t i = 0; i < frames->depth && !grouping_is_by_who(by); i++) {
		const struct function *function = symbols_get(inputs->symbols, frames->functions[i]);

		if (!*function->object)
			continue;
		frames->functions[i] = by == GROUP_OBJECT ? symbols_group(inputs->symbols, function->object, "") :
			by == GROUP_LINE ? row_of_line(inputs->symbols, frames->spaces[i], frames->addresses[i],
				function->object) :
			row_of_file(inputs->symbols, frames->functions[i]);
	}
	if (!grouping_is_by_who(by) || taken->mode == MODE_IDLE)
		return;
	threads_title_process(inputs->threads, taken->thread, taken->process, process, sizeof(process));
	if (by == GROUP_THREAD)
		threads_title(inputs->threads, taken->thread, name, sizeof(name));
	if (by == GROUP_COMM)
		snprintf(name, sizeof(name), "%s", comm_of(inputs->threads, taken));
	if (by == GROUP_CPU)
		snprintf(name, sizeof(name), "CPU %u", taken->cpu);
	frames->depth = 1;
	frames->functions[0] = symbols_group(inputs->symbols, by == GROUP_PROCESS ? process :
		by == GROUP_MODE ? mode : name, by == GROUP_THREAD ? process : "");
}

/* ---- the filter, as its language says ---- */

struct seen {				/* a sample, as a term sees it */
	const struct world *world;
	const struct taken *taken;
	const struct frames *frames;
};

static bool has_part(const char *text, const char *part)
{
	return strcasestr(text, part);
}

/* The file of the function that was running; code without an object, such as idle time, has none. */
static bool is_of_file(const struct seen *seen, const char *name)
{
	struct symbols *symbols = seen->world->inputs.symbols;
	uint32_t function = seen->frames->functions[0];
	const char *line = *symbols_get(symbols, function)->object ? symbols_line(symbols, function) : NULL;
	char file[16];

	snprintf(file, sizeof(file), "%.*s", line ? (int)strcspn(line, ":") : 0, line ? line : "");
	return *file && has_part(file, name);
}

static bool is_under(const struct seen *seen, const char *name)
{
	for (size_t i = 0; i < seen->frames->depth; i++)
		if (has_part(symbols_get(seen->world->inputs.symbols, seen->frames->functions[i])->name, name))
			return true;
	return false;
}

/* Is it one of the first `depth` functions of the stack? */
static bool has_function(const struct seen *seen, uint64_t name, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (tree_name(symbols_get(seen->world->inputs.symbols, seen->frames->functions[i]), "") == name)
			return true;
	return false;
}

/* True if the sample fits one alternative of a term. */
static bool fits(const struct seen *seen, enum filter_by by, const char *value)
{
	struct threads *threads = seen->world->inputs.threads;
	const struct taken *taken = seen->taken;

	switch (by) {
	case FILTER_CPU: return taken->cpu == (uint32_t)atoi(value);
	case FILTER_THREAD: return threads_match(threads, taken->thread, taken->process, value);
	case FILTER_COMM: return strcmp(comm_of(threads, taken), value) == 0;
	case FILTER_PROCESS: return threads_match_process(threads, taken->thread, taken->process, value);
	case FILTER_OBJECT:
		return has_part(symbols_get(seen->world->inputs.symbols, seen->frames->functions[0])->object, value);
	case FILTER_FILE: return is_of_file(seen, value);
	case FILTER_UNDER: return is_under(seen, value);
	case FILTER_HAS: return has_function(seen, strtoull(value, NULL, 16), seen->frames->depth);
	case FILTER_RUNNING: return has_function(seen, strtoull(value, NULL, 16), 1);
	default: return true;
	}
}

static bool fits_term(const struct seen *seen, const struct filter *filter, const struct filter_term *term)
{
	static const char *const modes[] = { "kernel", "user", "idle", "irq", "softirq" };
	bool any = false;

	for (int i = 0; term->by == FILTER_MODE && i < 5; i++)
		any |= term->modes >> i & 1 &&
			strcmp(modes[i], mode_of(seen->world->inputs.symbols, seen->taken, seen->frames)) == 0;
	for (const char *value = filter->text + term->text; *value; value += strlen(value) + 1)
		any |= fits(seen, term->by, value);
	return any != term->negated;
}

static bool passes(const struct seen *seen, const struct filter *filter)
{
	for (uint32_t i = 0; i < filter->count; i++)
		if (filter->terms[i].by != FILTER_FUNCTION && !fits_term(seen, filter, &filter->terms[i]))
			return false;
	return true;
}

static bool cpu_passes(const struct world *world, const struct filter *filter, const struct taken *gap)
{
	const struct seen seen = { .world = world, .taken = gap };

	for (uint32_t i = 0; i < filter->count; i++)
		if (filter->terms[i].by == FILTER_CPU && !fits_term(&seen, filter, &filter->terms[i]))
			return false;
	return true;
}

static bool is_shown(const struct filter *filter, const char *name)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];
		bool any = false;

		if (term->by != FILTER_FUNCTION)
			continue;
		for (const char *part = filter->text + term->text; *part; part += strlen(part) + 1)
			any |= has_part(name, part);
		if (any == term->negated)
			return false;
	}
	return true;
}

/* ---- what the list gives ---- */

struct expected {
	struct table table;
	struct row rows[FUNCTIONS];
	uint64_t cpus[FUNCTIONS][SCAN_WORDS_MAX];	/* the CPUs of each row, as bits */
	uint64_t callers[FUNCTIONS];	/* weights of the callers of one function */
	uint64_t ran[FUNCTIONS];	/* weights of the functions that ran in one thread, process or line */
	uint64_t trend[TABLE_TREND];
	uint64_t stacks;		/* the sum of the stacks' marks */
};

/* Is it among the first `count` of them? */
static bool is_among(const uint32_t *functions, size_t count, uint32_t function)
{
	for (size_t i = 0; i < count; i++)
		if (functions[i] == function)
			return true;
	return false;
}

/* A caller counts once for a sample, however often it is a caller there. */
static void expect_callers(struct expected *expected, const struct frames *frames, uint64_t weight, uint32_t function)
{
	uint32_t called[2 * WORLD_FRAMES];
	size_t count = 0;

	for (size_t i = 0; i + 1 < frames->depth; i++) {
		uint32_t caller = frames->functions[i + 1];

		if (frames->functions[i] != function || frames->cuts[i] || is_among(called, count, caller))
			continue;
		expected->callers[caller] += weight;
		called[count++] = caller;
	}
}

static uint64_t mark(uint64_t weight, uint32_t leaf, uint32_t root)
{
	return weight * (leaf + 1) * (root + 7);
}

static void expect_sample(struct expected *expected, const struct taken *taken, const struct frames *frames,
	uint32_t function)
{
	const uint32_t *functions = frames->functions;

	expected->rows[functions[0]].self += taken->weight;
	expected->rows[functions[0]].samples++;
	for (size_t i = 0; i < frames->depth; i++) {
		if (!is_among(functions, i, functions[i]))
			expected->rows[functions[i]].total += taken->weight;
		expected->cpus[functions[i]][taken->cpu / 64] |= 1ull << taken->cpu % 64;
	}
	expect_callers(expected, frames, taken->weight, function);
	expected->table.weight += taken->weight;
	expected->table.samples++;
	expected->table.mode[taken->mode] += taken->weight;
	expected->stacks += mark(taken->weight, functions[0], functions[frames->depth - 1]);
}

/* Of the functions in whose code a line is, each counts once for a sample. */
static void expect_line(struct expected *expected, const struct frames *frames, const struct frames *rows,
	uint64_t weight, uint32_t row)
{
	uint32_t counted[2 * WORLD_FRAMES];
	size_t count = 0;

	for (size_t i = 0; i < frames->depth; i++)
		if (rows->functions[i] == row && frames->addresses[i] &&
				!is_among(counted, count, frames->functions[i])) {
			expected->ran[frames->functions[i]] += weight;
			counted[count++] = frames->functions[i];
		}
}

/* A sample of a row that stands for who ran it. */
static void expect_who(struct expected *expected, const struct taken *taken, uint32_t row, uint32_t leaf,
	uint32_t wanted)
{
	expected->rows[row].kernel += taken->mode == MODE_KERNEL ? taken->weight : 0;
	expected->rows[row].user += taken->mode == MODE_USER ? taken->weight : 0;
	if (row == wanted && taken->mode != MODE_IDLE)
		expected->ran[leaf] += taken->weight;
}

static void expect_trend(struct expected *expected, const struct taken *taken, const struct frames *frames,
	uint32_t function, uint64_t to)
{
	uint64_t end = to / NS_PER_SECOND, second = taken->time / NS_PER_SECOND;

	if (frames->functions[0] == function && second < end && second + TABLE_TREND >= end)
		expected->trend[second + TABLE_TREND - end] += taken->weight;
}

static void expect(struct expected *expected, const struct world *world,
	const struct question *question, uint32_t function)
{
	uint64_t now = store_now(world->inputs.store), to = question->to < now ? question->to : now;
	bool who = grouping_is_by_who(question->by);
	static struct ranges ranges;

	memset(expected, 0, sizeof(*expected));
	find_ranges(&ranges, world->inputs.store, question);
	for (size_t i = 0; i < world->count; i++) {
		const struct taken *taken = &world->list[i];
		const struct filter *filter = &question->filter;
		bool inside = in_range(&ranges, taken->time);
		struct frames frames, rows;

		if (taken->missed) {
			if (inside && cpu_passes(world, filter, taken))
				expected->table.missed += taken->weight;
			continue;
		}
		find_frames(&frames, world->inputs.symbols, taken);
		if (!passes(&(struct seen) { world, taken, &frames }, filter))
			continue;
		rows = frames;
		group_frames(&rows, &world->inputs, taken, question->by);
		if (inside)
			expect_sample(expected, taken, &rows, function);
		if (inside && who)
			expect_who(expected, taken, rows.functions[0], frames.functions[0], function);
		if (inside && question->by == GROUP_LINE)
			expect_line(expected, &frames, &rows, taken->weight, function);
		expect_trend(expected, taken, &rows, function, to);
	}
}

/* ---- the query's answers against the oracle's ---- */

static void check_table(const struct table *table, const struct expected *expected,
	const struct symbols *symbols, const struct filter *filter)
{
	size_t rows = 0;

	assert_int_equal(table->weight, expected->table.weight);
	assert_int_equal(table->samples, expected->table.samples);
	assert_int_equal(table->missed, expected->table.missed);
	for (int mode = 0; mode < MODES; mode++)
		assert_int_equal(table->mode[mode], expected->table.mode[mode]);
	for (uint32_t i = 0; i < symbols_functions(symbols); i++)
		rows += expected->cpus[i][0] && is_shown(filter, symbols_get(symbols, i)->name);
	assert_int_equal(table->count, rows);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->rows[i], *other = &expected->rows[row->function];

		assert_true(is_shown(filter, symbols_get(symbols, row->function)->name));
		assert_int_equal(row->self, other->self);
		assert_int_equal(row->total, other->total);
		assert_int_equal(row->samples, other->samples);
		assert_int_equal(row->kernel, other->kernel);
		assert_int_equal(row->user, other->user);
		assert_memory_equal(row->cpus, expected->cpus[row->function],
			table->words * sizeof(*row->cpus));
	}
}

/* `count` callers agree with the weights by function, and are in order. */
static void check_edges(const struct caller *callers, size_t count, const uint64_t weights[FUNCTIONS])
{
	size_t all = 0;

	for (size_t i = 0; i < FUNCTIONS; i++)
		all += weights[i] > 0;
	assert_true(all < 64);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(callers[i].weight, weights[callers[i].function]);
		assert_true(i == 0 || callers[i - 1].weight >= callers[i].weight);
		all -= callers[i].weight > 0;
	}
	assert_int_equal(all, 0);
}

/* It is the heaviest of them. */
static void check_ran(struct caller ran, const uint64_t weights[FUNCTIONS])
{
	uint64_t most = 0;

	for (size_t i = 0; i < FUNCTIONS; i++)
		most = weights[i] > most ? weights[i] : most;
	assert_int_equal(ran.weight, most);
	assert_int_equal(weights[ran.function], most);
}

static void check_callers(struct world *world, const struct question *question, uint32_t function,
	const struct expected *expected)
{
	static const uint64_t none[FUNCTIONS];
	struct caller callers[64];
	size_t count = query_callers(world->query, question, function, callers, 64);

	if (question->by == GROUP_FUNCTION)
		check_edges(callers, count, expected->callers);
	else
		assert_int_equal(count, 0);
	check_ran(query_ran(world->query, question, function), grouping_has_ran(question->by) &&
		question->callers ? expected->ran : none);
}

static void add_stack(void *context, const struct query_stack *stack)
{
	uint64_t *sums = context;

	assert_true(stack->depth > 0);
	sums[0] += stack->weight;
	sums[1] += mark(stack->weight, stack->functions[stack->depth - 1], stack->functions[0]);
}

/* A number is made of leaf and root of each stack. The sum over the stacks must agree with that over the list. */
static void check_stacks(struct world *world, const struct question *question,
	const struct expected *expected)
{
	uint64_t sums[2] = { 0 };

	query_stacks(world->query, question, add_stack, sums);
	assert_int_equal(sums[0], expected->table.weight);
	assert_int_equal(sums[1], expected->stacks);
}

uint64_t world_sum(const uint64_t *numbers, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum;
}

void world_check(struct world *world, const struct question *question, uint32_t function,
	bool fine)
{
	static struct expected expected;
	uint64_t trend[TABLE_TREND];
	struct table *table = query_table(world->query, question);

	expect(&expected, world, question, function);
	check_table(table, &expected, world->inputs.symbols, &question->filter);
	table_free(table);
	check_callers(world, question, function, &expected);
	query_trends(world->query, question, &function, 1, &trend);
	if (fine)
		assert_memory_equal(trend, expected.trend, sizeof(trend));
	else
		assert_true(world_sum(trend, TABLE_TREND) <= world->count * 100);
	if (question->by == GROUP_FUNCTION)
		check_stacks(world, question, &expected);
}
