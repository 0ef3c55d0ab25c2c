/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "export_folded.h"
#include "folded_frames.h"
#include "ranking.h"

enum { BLOCK_COST = 32 };		/* bytes that a block of memory takes besides its contents */

struct stack {
	uint32_t number;		/* where it was made */
	uint32_t *frames;		/* root first */
	size_t depth, size;		/* frames; bytes of their texts */
};

struct line {
	uint32_t thread;		/* the frame before the stack, if threads are wanted */
	uint32_t stack;
	uint64_t weight, samples;
};

/* Frames and stacks are told by their numbers, which change when these are sorted. */
struct folded {
	const struct query_inputs *inputs;
	struct stack_options options;
	struct folded_frames frames;
	struct stack *stacks;		/* each once */
	struct line *lines;
	uint32_t stack_count, stack_room, line_count, line_room;
	uint32_t *by_place;		/* the stacks, by place; HASH_NONE: none was made of it */
	size_t place_room;
	size_t paid;			/* bytes that were taken from the budget for the frames of stacks */
	uint32_t root;			/* the frame before all others, if one is wanted */
	char *text;			/* the line that was written last */
	size_t text_room;
	size_t *ends;			/* in the text: of each frame of that line's stack */
	size_t ends_room;
	bool full;			/* there was no memory for all */
};

/* ---- collecting ---- */

/* The array with room for one more. Without memory it is as it was. */
static void *with_room(struct folded *folded, void *array, uint32_t count, uint32_t *room, size_t size)
{
	void *moved = budget_array(folded->inputs->budget, array, count, room, size);

	folded->full = folded->full || !moved;
	return moved ? moved : array;
}

static uint32_t add_frame(struct folded *folded, enum folded_kind kind, uint32_t id)
{
	const struct function *function;

	if (kind == FOLDED_ROOT)
		return folded_frames_add(&folded->frames, kind, id, folded->options.root, "");
	if (kind == FOLDED_THREAD)
		return folded_frames_add(&folded->frames, kind, id, threads_name(folded->inputs->threads, id), "");
	function = symbols_get(folded->inputs->symbols, id);
	return folded_frames_add(&folded->frames, kind, id, function->name, function->inlined ? "_[i]" :
		folded->options.kernel_mark && function->kernel ? "_[k]" : "");
}

/* A frame, made if there is none yet. */
static uint32_t frame_of(struct folded *folded, enum folded_kind kind, uint32_t id)
{
	uint32_t number = folded_frames_find(&folded->frames, kind, id);

	if (number == HASH_NONE)
		number = add_frame(folded, kind, id);
	folded->full = folded->full || number == HASH_NONE;
	return number;
}

static uint32_t *frames_of(struct folded *folded, const struct query_stack *stack)
{
	uint32_t *frames = util_alloc(stack->depth * sizeof(*frames));

	for (size_t i = 0; i < stack->depth; i++)
		frames[i] = frame_of(folded, i + 1 < stack->depth ? FOLDED_CALLER : FOLDED_LEAF, stack->functions[i]);
	return frames;
}

/* Places are numbers from 0 on. False: no memory. */
static bool have_place(struct folded *folded, uint32_t place)
{
	size_t room = 2 * (size_t)place + 1024;
	uint32_t *by_place;

	if (place < folded->place_room)
		return true;
	by_place = budget_resize(folded->inputs->budget, folded->by_place,
		folded->place_room * sizeof(*by_place), room * sizeof(*by_place));
	if (!by_place)
		return false;
	memset(by_place + folded->place_room, 0xff, (room - folded->place_room) * sizeof(*by_place));
	folded->by_place = by_place;
	folded->place_room = room;
	return true;
}

/* A stack, likewise. */
static uint32_t stack_of(struct folded *folded, const struct query_stack *stack)
{
	size_t size = stack->depth * sizeof(*stack->functions) + BLOCK_COST;

	folded->full = folded->full || !have_place(folded, stack->place);
	if (folded->full || folded->by_place[stack->place] != HASH_NONE)
		return folded->full ? HASH_NONE : folded->by_place[stack->place];
	folded->stacks = with_room(folded, folded->stacks, folded->stack_count, &folded->stack_room,
		sizeof(*folded->stacks));
	folded->full = folded->full || !budget_take(folded->inputs->budget, size);
	if (folded->full)
		return HASH_NONE;
	folded->paid += size;
	folded->stacks[folded->stack_count] = (struct stack) {
		.number = folded->stack_count, .frames = frames_of(folded, stack), .depth = stack->depth,
	};
	folded->by_place[stack->place] = folded->stack_count;
	return folded->stack_count++;
}

static void add_line(void *context, const struct query_stack *stack)
{
	struct folded *folded = context;
	struct line line = { .weight = stack->weight, .samples = stack->samples };

	if (folded->full)
		return;
	line.stack = stack_of(folded, stack);
	if (folded->options.thread_first)
		line.thread = frame_of(folded, FOLDED_THREAD, stack->thread);
	folded->lines = with_room(folded, folded->lines, folded->line_count, &folded->line_room, sizeof(line));
	if (!folded->full)
		folded->lines[folded->line_count++] = line;
}

static void *collect(const struct export_input *input, const void *options)
{
	struct folded *folded = util_alloc(sizeof(*folded));
	struct question question = *input->question;

	*folded = (struct folded) { .inputs = input->inputs };
	memcpy(&folded->options, options, sizeof(folded->options));
	folded_frames_init(&folded->frames, folded->inputs->budget);
	if (folded->options.root[0])
		folded->root = frame_of(folded, FOLDED_ROOT, 0);
	question.threads = folded->options.thread_first;
	if (!query_stacks(input->query, &question, add_line, folded))
		folded->full = true;
	return folded;
}

static void free_folded(void *collected)
{
	struct folded *folded = collected;
	struct budget *budget = folded->inputs->budget;

	for (uint32_t i = 0; i < folded->stack_count; i++)
		free(folded->stacks[i].frames);
	budget_give(budget, folded->paid);
	budget_free(budget, folded->stacks, folded->stack_room * sizeof(*folded->stacks));
	budget_free(budget, folded->lines, folded->line_room * sizeof(*folded->lines));
	budget_free(budget, folded->text, folded->text_room);
	budget_free(budget, folded->ends, folded->ends_room * sizeof(*folded->ends));
	budget_free(budget, folded->by_place, folded->place_room * sizeof(*folded->by_place));
	folded_frames_clear(&folded->frames);
	free(folded);
}

/* ---- the order: that of the texts ---- */

/* How many frames are the same, from the root on. */
static size_t same_frames(const struct stack *a, const struct stack *b)
{
	size_t count = 0;

	while (count < a->depth && count < b->depth && a->frames[count] == b->frames[count])
		count++;
	return count;
}

/* When frames are sorted. No stack is the beginning of another one, since a leaf is another frame than a caller. */
static int compare_stacks(const void *left, const void *right)
{
	const struct stack *a = left, *b = right;
	size_t same = same_frames(a, b);

	if (same == a->depth || same == b->depth)
		return 0;
	return a->frames[same] < b->frames[same] ? -1 : 1;
}

static void number_frames(struct folded *folded, struct stack *stack, const uint32_t *now)
{
	for (size_t i = 0; i < stack->depth; i++) {
		stack->frames[i] = now[stack->frames[i]];
		stack->size += folded->frames.list[stack->frames[i]].size;
	}
}

static bool sort_frames(struct folded *folded)
{
	uint32_t *now = folded_frames_sort(&folded->frames);

	if (!now)
		return false;
	for (uint32_t i = 0; i < folded->stack_count; i++)
		number_frames(folded, &folded->stacks[i], now);
	if (folded->options.root[0])
		folded->root = now[folded->root];
	for (uint32_t i = 0; folded->options.thread_first && i < folded->line_count; i++)
		folded->lines[i].thread = now[folded->lines[i].thread];
	ranking_free(folded->inputs->budget, now, folded->frames.count);
	return true;
}

static bool sort_stacks(struct folded *folded)
{
	uint32_t *now = ranking_new(folded->inputs->budget, folded->stacks, folded->stack_count,
		sizeof(*folded->stacks), compare_stacks);

	if (!now)
		return false;
	for (uint32_t i = 0; i < folded->line_count; i++)
		folded->lines[i].stack = now[folded->lines[i].stack];
	ranking_free(folded->inputs->budget, now, folded->stack_count);
	return true;
}

static uint32_t stack_rank(const struct line *line)
{
	return line->stack;
}

static uint32_t thread_rank(const struct line *line)
{
	return line->thread;
}

/* Copies the lines in the order of their ranks, which are below `ranks`. Those of one rank stay in their order. */
static bool order_lines(struct budget *budget, const struct line *from, struct line *to, uint32_t count,
	uint32_t (*rank)(const struct line *line), uint32_t ranks)
{
	uint32_t *places = budget_resize(budget, NULL, 0, ((size_t)ranks + 1) * sizeof(*places));

	if (!places)
		return false;
	memset(places, 0, ((size_t)ranks + 1) * sizeof(*places));
	for (uint32_t i = 0; i < count; i++)
		places[rank(&from[i]) + 1]++;
	for (uint32_t i = 1; i <= ranks; i++)
		places[i] += places[i - 1];
	for (uint32_t i = 0; i < count; i++)
		to[places[rank(&from[i])]++] = from[i];
	budget_free(budget, places, ((size_t)ranks + 1) * sizeof(*places));
	return true;
}

/* By thread, then by stack. Frames and stacks are sorted. */
static bool sort_lines(struct folded *folded)
{
	struct budget *budget = folded->inputs->budget;
	size_t size = folded->line_room * sizeof(struct line);
	struct line *by_stack = budget_resize(budget, NULL, 0, size);
	bool done = by_stack &&
		order_lines(budget, folded->lines, by_stack, folded->line_count, stack_rank, folded->stack_count) &&
		order_lines(budget, by_stack, folded->lines, folded->line_count, thread_rank, folded->frames.count);

	budget_free(budget, by_stack, by_stack ? size : 0);
	return done;
}

/* ---- the file ---- */

enum { DIGITS = 24 };			/* room for a weight and the end of its line */

static void *have_room(struct folded *folded, void *memory, size_t *room, size_t wanted, size_t size)
{
	void *moved;

	if (wanted <= *room)
		return memory;
	moved = budget_resize(folded->inputs->budget, memory, *room * size, 2 * wanted * size);
	if (moved)
		*room = 2 * wanted;
	return moved;
}

/* Has room for the line's text, and for the ends of its frames. False: no memory. */
static bool have_text(struct folded *folded, const struct line *line)
{
	const struct folded_frame *frames = folded->frames.list;
	const struct stack *stack = &folded->stacks[line->stack];
	size_t size = stack->size + DIGITS, *ends;
	char *text;

	if (folded->options.root[0])
		size += frames[folded->root].size;
	if (folded->options.thread_first)
		size += frames[line->thread].size;
	text = have_room(folded, folded->text, &folded->text_room, size, 1);
	folded->text = text ? text : folded->text;
	ends = have_room(folded, folded->ends, &folded->ends_room, stack->depth + 1, sizeof(*ends));
	folded->ends = ends ? ends : folded->ends;
	return text && ends;
}

static size_t put_frame(struct folded *folded, size_t at, uint32_t number)
{
	const struct folded_frame *frame = &folded->frames.list[number];

	memcpy(folded->text + at, frame->text, frame->size);
	return at + frame->size;
}

static size_t put_weight(struct folded *folded, size_t at, uint64_t weight)
{
	char digits[DIGITS], *end = digits + sizeof(digits), *from = end;

	*--from = '\n';
	do
		*--from = (char)('0' + weight % 10);
	while (weight /= 10);
	memcpy(folded->text + at, from, (size_t)(end - from));
	return at + (size_t)(end - from);
}

/*
 * Most frames are those of the line before, whose text is still there; NULL: it is the first one. False: no memory.
 */
static bool write_line(struct folded *folded, const struct line *before, const struct line *line, uint64_t weight,
	FILE *stream)
{
	const struct stack *stack = &folded->stacks[line->stack];
	size_t same = 0, at = 0;

	if (!have_text(folded, line))
		return false;
	if (before && before->thread == line->thread)
		same = same_frames(&folded->stacks[before->stack], stack);
	if (same)
		at = folded->ends[same - 1];
	if (!same && folded->options.root[0])
		at = put_frame(folded, at, folded->root);
	if (!same && folded->options.thread_first)
		at = put_frame(folded, at, line->thread);
	for (size_t i = same; i < stack->depth; i++)
		folded->ends[i] = at = put_frame(folded, at, stack->frames[i]);
	at = put_weight(folded, at, weight);
	fwrite(folded->text, 1, at, stream);
	return true;
}

static bool same_text(const struct line *a, const struct line *b)
{
	return a->thread == b->thread && a->stack == b->stack;
}

/* Lines with the same text stand side by side, and are written as one. */
static bool write_lines(struct folded *folded, FILE *stream, struct export_result *result)
{
	const struct line *before = NULL;
	uint64_t weight = 0;

	for (uint32_t i = 0; i < folded->line_count; i++) {
		const struct line *line = &folded->lines[i];

		weight += line->weight;
		result->samples += line->samples;
		if (i + 1 < folded->line_count && same_text(line, line + 1))
			continue;
		if (!write_line(folded, before, line, weight, stream))
			return false;
		before = line;
		result->weight += weight;
		result->stacks++;
		weight = 0;
	}
	return true;
}

static bool write_sorted(struct folded *folded, FILE *stream, struct export_result *result)
{
	return !folded->full && sort_frames(folded) && sort_stacks(folded) && sort_lines(folded) &&
		write_lines(folded, stream, result);
}

static bool write_folded(void *collected, const char *name, FILE *to, struct export_result *result,
	char **error)
{
	if (write_sorted(collected, to, result))
		return true;
	return util_fail(error, "%s: not written: there is no memory for so many stacks; "
		"filter, take a shorter window, or give more by --memory", name);
}

const struct export_format export_folded = {
	.name = "folded", .ending = ".folded", .about = "a stack on each line, for flame graph tools",
	.collect = collect, .write = write_folded, .free = free_folded,
};
