/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "export_folded.h"
#include "folded_frames.h"
#include "ranking.h"

enum { BLOCK_COST = 32 };		/* bytes that a block of memory takes besides its contents */

struct stack {
	uint32_t number;		/* where it was made */
	uint32_t place;			/* as the query calls it */
	uint32_t *frames;		/* root first */
	size_t depth;
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
	struct hash by_place;		/* the stacks */
	size_t paid;			/* bytes that were taken from the budget for the frames of stacks */
	uint32_t root;			/* the frame before all others, if one is wanted */
	char *text;			/* of the stack that was written last */
	size_t text_room;
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

/* A stack, likewise. */
static uint32_t stack_of(struct folded *folded, const struct query_stack *stack)
{
	size_t size = stack->depth * sizeof(*stack->functions) + BLOCK_COST;
	uint64_t hash = hash_pair(&folded->by_place, stack->place, 0);
	uint32_t at = 0, number;

	while ((number = hash_next(&folded->by_place, hash, &at)) != HASH_NONE)
		if (folded->stacks[number].place == stack->place)
			return number;
	folded->stacks = with_room(folded, folded->stacks, folded->stack_count, &folded->stack_room,
		sizeof(*folded->stacks));
	folded->full = folded->full || !hash_add(&folded->by_place, hash, folded->stack_count) ||
		!budget_take(folded->inputs->budget, size);
	if (folded->full)
		return HASH_NONE;
	folded->paid += size;
	folded->stacks[folded->stack_count] = (struct stack) {
		.number = folded->stack_count, .place = stack->place, .frames = frames_of(folded, stack),
		.depth = stack->depth,
	};
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
	hash_init(&folded->by_place, folded->inputs->budget);
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
	hash_clear(&folded->by_place);
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

/* When frames and stacks are sorted. */
static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

static bool sort_frames(struct folded *folded)
{
	uint32_t *now = folded_frames_sort(&folded->frames);

	if (!now)
		return false;
	for (uint32_t i = 0; i < folded->stack_count; i++)
		for (size_t k = 0; k < folded->stacks[i].depth; k++)
			folded->stacks[i].frames[k] = now[folded->stacks[i].frames[k]];
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

/* ---- the file ---- */

/* Has so many bytes for a text. False: no memory. */
static bool have_text(struct folded *folded, size_t size)
{
	char *text;

	if (size <= folded->text_room)
		return true;
	text = budget_resize(folded->inputs->budget, folded->text, folded->text_room, 2 * size);
	if (!text)
		return false;
	folded->text = text;
	folded->text_room = 2 * size;
	return true;
}

/*
 * Makes the stack's text. Most of its frames are those of the stack before, whose text is still there; NULL: it is the
 * first one. Returns the size. 0: no memory.
 */
static size_t make_text(struct folded *folded, const struct stack *before, const struct stack *stack)
{
	const struct folded_frame *frames = folded->frames.list;
	size_t same = before ? same_frames(before, stack) : 0, at = 0, size = 0;

	for (size_t i = 0; i < stack->depth; i++)
		size += frames[stack->frames[i]].size;
	if (!have_text(folded, size))
		return 0;
	for (size_t i = 0; i < stack->depth; i++) {
		const struct folded_frame *frame = &frames[stack->frames[i]];

		if (i >= same)
			memcpy(folded->text + at, frame->text, frame->size);
		at += frame->size;
	}
	return size;
}

static void write_frame(const struct folded *folded, uint32_t number, FILE *stream)
{
	fwrite(folded->frames.list[number].text, 1, folded->frames.list[number].size, stream);
}

static void write_weight(uint64_t weight, FILE *stream)
{
	char digits[24], *end = digits + sizeof(digits), *at = end;

	*--at = '\n';
	do
		*--at = (char)('0' + weight % 10);
	while (weight /= 10);
	fwrite(at, 1, (size_t)(end - at), stream);
}

static bool write_line(struct folded *folded, const struct line *before, const struct line *line, uint64_t weight,
	FILE *stream)
{
	size_t size = make_text(folded, before ? &folded->stacks[before->stack] : NULL, &folded->stacks[line->stack]);

	if (folded->options.root[0])
		write_frame(folded, folded->root, stream);
	if (folded->options.thread_first)
		write_frame(folded, line->thread, stream);
	fwrite(folded->text, 1, size, stream);
	write_weight(weight, stream);
	return size;
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
		if (i + 1 < folded->line_count && compare_lines(line, line + 1) == 0)
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
	if (folded->full || !sort_frames(folded) || !sort_stacks(folded))
		return false;
	if (folded->line_count)
		qsort(folded->lines, folded->line_count, sizeof(*folded->lines), compare_lines);
	return write_lines(folded, stream, result);
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
