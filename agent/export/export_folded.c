/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/sorted.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/query.h"
#include "export_folded.h"

enum { BLOCK_COST = 32 };		/* bytes that a block of memory takes besides its contents */

enum folded_kind { FOLDED_ROOT, FOLDED_THREAD, FOLDED_CALLER, FOLDED_LEAF };

struct folded_frame {
	uint32_t number;		/* where it was added */
	enum folded_kind kind;
	uint32_t id;			/* of the function, or of the thread */
	size_t size;
	char *text;			/* harmless, with what stands behind it: ' ' after a leaf, else ';' */
};

struct folded_frames {
	struct budget *budget;
	struct folded_frame *list;
	uint32_t count, room;
	uint32_t *by_function;		/* numbers of callers and leaves, two by two */
	size_t function_room;
	struct hash by_id;		/* of the others */
	size_t paid;			/* bytes that were taken from the budget for texts */
};

struct stack {
	uint32_t number;		/* where it was made */
	uint32_t depth;
	uint32_t *frames;		/* root first; set when all stacks are made */
};

struct line {
	uint32_t thread;		/* the frame before the stack, if threads are wanted */
	uint32_t stack;
	uint64_t weight;
};

/* Frames and stacks are told by their numbers, which change when these are sorted. */
struct folded {
	const struct query_inputs *inputs;
	struct stack_options options;
	struct folded_frames frames;
	struct stack *stacks;		/* each place once */
	uint32_t *stack_frames;		/* of all stacks, in the order in which these were made */
	struct line *lines;
	uint32_t stack_count, stack_room, stack_frame_count, stack_frame_room, line_count, line_room;
	uint32_t place;			/* of the stack that was made last */
	uint32_t root;			/* the frame before all others, if one is wanted */
	uint64_t samples;
	bool full;			/* there was no memory for all */
};

/* ---- frames: the parts of lines, as texts, each once ---- */

static void folded_frames_init(struct folded_frames *frames, struct budget *budget)
{
	*frames = (struct folded_frames) { .budget = budget };
	hash_init(&frames->by_id, budget);
}

static void folded_frames_clear(struct folded_frames *frames)
{
	for (uint32_t i = 0; i < frames->count; i++)
		free(frames->list[i].text);
	budget_give(frames->budget, frames->paid);
	budget_free(frames->budget, frames->list, frames->room * sizeof(*frames->list));
	budget_free(frames->budget, frames->by_function, frames->function_room * sizeof(*frames->by_function));
	hash_clear(&frames->by_id);
}

/* Functions are numbered from 0 on, threads are not. */
static bool is_function(enum folded_kind kind)
{
	return kind == FOLDED_CALLER || kind == FOLDED_LEAF;
}

static size_t frame_place(enum folded_kind kind, uint32_t id)
{
	return 2 * (size_t)id + (kind == FOLDED_LEAF);
}

/* The number of a frame. HASH_NONE: it is not there. */
static uint32_t folded_frames_find(const struct folded_frames *frames, enum folded_kind kind, uint32_t id)
{
	size_t place = frame_place(kind, id);
	uint64_t hash;
	uint32_t at = 0, number;

	if (is_function(kind))
		return place < frames->function_room ? frames->by_function[place] : HASH_NONE;
	hash = hash_pair(&frames->by_id, kind, id);
	while ((number = hash_next(&frames->by_id, hash, &at)) != HASH_NONE)
		if (frames->list[number].kind == kind && frames->list[number].id == id)
			break;
	return number;
}

/* False: no memory. */
static bool have_place(struct folded_frames *frames, size_t place)
{
	size_t room = 2 * place + 1024;
	uint32_t *by_function;

	if (place < frames->function_room)
		return true;
	by_function = budget_resize(frames->budget, frames->by_function,
		frames->function_room * sizeof(*by_function), room * sizeof(*by_function));
	if (!by_function)
		return false;
	memset(by_function + frames->function_room, 0xff, (room - frames->function_room) * sizeof(*by_function));
	frames->by_function = by_function;
	frames->function_room = room;
	return true;
}

/* The frame that is added next will be found. False: no memory. */
static bool number_next(struct folded_frames *frames, enum folded_kind kind, uint32_t id)
{
	size_t place = frame_place(kind, id);

	if (!is_function(kind))
		return hash_add(&frames->by_id, hash_pair(&frames->by_id, kind, id), frames->count);
	if (!have_place(frames, place))
		return false;
	frames->by_function[place] = frames->count;
	return true;
}

/* Replaces the characters of a name that would separate frames, counts or lines. */
static char harmless(char c)
{
	if (c == ';')
		return ':';
	return (unsigned char)c <= ' ' || c == 0x7f ? '_' : c;
}

static bool make_text(struct folded_frames *frames, struct folded_frame *frame, const char *name, const char *mark)
{
	size_t named = strlen(name), marked = strlen(mark);

	frame->size = named + marked + 1;
	if (!budget_take(frames->budget, frame->size + BLOCK_COST))
		return false;
	frames->paid += frame->size + BLOCK_COST;
	frame->text = util_alloc(frame->size);
	for (size_t i = 0; i < named; i++)
		frame->text[i] = harmless(name[i]);
	memcpy(frame->text + named, mark, marked);
	frame->text[named + marked] = frame->kind == FOLDED_LEAF ? ' ' : ';';
	return true;
}

/* Adds one that is not there yet. Its text is the name, made harmless, with the mark. HASH_NONE: no memory. */
static uint32_t folded_frames_add(struct folded_frames *frames, enum folded_kind kind, uint32_t id, const char *name,
	const char *mark)
{
	struct folded_frame frame = { .number = frames->count, .kind = kind, .id = id };
	struct folded_frame *list = budget_array(frames->budget, frames->list, frames->count, &frames->room,
		sizeof(*list));

	if (!list)
		return HASH_NONE;
	frames->list = list;
	if (!make_text(frames, &frame, name, mark))
		return HASH_NONE;
	if (!number_next(frames, kind, id)) {
		free(frame.text);
		return HASH_NONE;
	}
	list[frames->count] = frame;
	return frames->count++;
}

/* ---- collecting ---- */

/* The array with room for one more. Without memory it is as it was. */
static void *with_room(struct folded *folded, void *array, uint32_t count, uint32_t *room, size_t size)
{
	void *moved;

	if (count < *room)
		return array;
	moved = budget_array(folded->inputs->budget, array, count, room, size);
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

static void add_frames(struct folded *folded, const struct query_stack *stack)
{
	for (size_t i = 0; i < stack->depth && !folded->full; i++) {
		uint32_t frame = frame_of(folded, i + 1 < stack->depth ? FOLDED_CALLER : FOLDED_LEAF,
			stack->functions[i]);

		folded->stack_frames = with_room(folded, folded->stack_frames, folded->stack_frame_count,
			&folded->stack_frame_room, sizeof(frame));
		if (!folded->full)
			folded->stack_frames[folded->stack_frame_count++] = frame;
	}
}

static void add_stack(struct folded *folded, const struct query_stack *stack)
{
	folded->stacks = with_room(folded, folded->stacks, folded->stack_count, &folded->stack_room,
		sizeof(*folded->stacks));
	add_frames(folded, stack);
	if (folded->full)
		return;
	folded->stacks[folded->stack_count] = (struct stack) {
		.number = folded->stack_count, .depth = (uint32_t)stack->depth,
	};
	folded->stack_count++;
	folded->place = stack->place;
}

/* Those of one place come one after another. */
static void add_line(void *context, const struct query_stack *stack)
{
	struct folded *folded = context;
	struct line line = { .weight = stack->weight };

	if (!folded->full && (!folded->stack_count || folded->place != stack->place))
		add_stack(folded, stack);
	if (folded->full)
		return;
	line.stack = folded->stack_count - 1;
	if (folded->options.thread_first)
		line.thread = frame_of(folded, FOLDED_THREAD, stack->thread);
	folded->lines = with_room(folded, folded->lines, folded->line_count, &folded->line_room, sizeof(line));
	if (!folded->full)
		folded->lines[folded->line_count++] = line;
	folded->samples += stack->samples;
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

	budget_free(budget, folded->stacks, folded->stack_room * sizeof(*folded->stacks));
	budget_free(budget, folded->stack_frames, folded->stack_frame_room * sizeof(*folded->stack_frames));
	budget_free(budget, folded->lines, folded->line_room * sizeof(*folded->lines));
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

/* No text is the beginning of another one, since what stands behind it is in no name. */
static int compare_frames(const void *left, const void *right)
{
	const struct folded_frame *a = left, *b = right;

	return memcmp(a->text, b->text, a->size < b->size ? a->size : b->size);
}

static bool sort_frames(struct folded *folded)
{
	struct folded_frames *frames = &folded->frames;
	uint32_t *now = ranking_new(frames->budget, frames->list, frames->count, sizeof(*frames->list), compare_frames);

	if (!now)
		return false;
	for (uint32_t i = 0; i < folded->stack_frame_count; i++)
		folded->stack_frames[i] = now[folded->stack_frames[i]];
	if (folded->options.root[0])
		folded->root = now[folded->root];
	for (uint32_t i = 0; folded->options.thread_first && i < folded->line_count; i++)
		folded->lines[i].thread = now[folded->lines[i].thread];
	ranking_free(folded->inputs->budget, now, folded->frames.count);
	return true;
}

static bool sort_stacks(struct folded *folded)
{
	uint32_t *frames = folded->stack_frames, *now;

	for (uint32_t i = 0; i < folded->stack_count; i++) {
		folded->stacks[i].frames = frames;
		frames += folded->stacks[i].depth;
	}
	now = ranking_new(folded->inputs->budget, folded->stacks, folded->stack_count, sizeof(*folded->stacks),
		compare_stacks);
	if (!now)
		return false;
	for (uint32_t i = 0; i < folded->line_count; i++)
		folded->lines[i].stack = now[folded->lines[i].stack];
	ranking_free(folded->inputs->budget, now, folded->stack_count);
	return true;
}

/* ---- the file ---- */

enum {
	DIGITS = 24,			/* room for a weight and the end of its line */
	AHEAD = 8,			/* lines that are fetched before they are written */
};

/* The line that was written last. */
struct buffer {
	char *text;			/* with room for the longest line */
	size_t *ends;			/* in the text: of each frame of the stack */
	size_t room, depth;		/* bytes; frames of the deepest stack */
};

static void measure_stack(struct folded *folded, const struct stack *stack, struct buffer *buffer)
{
	size_t size = 0;

	for (uint32_t i = 0; i < stack->depth; i++)
		size += folded->frames.list[stack->frames[i]].size;
	buffer->room = size > buffer->room ? size : buffer->room;
	buffer->depth = stack->depth > buffer->depth ? stack->depth : buffer->depth;
}

/* Room for the text of any line. False: no memory. */
static bool make_buffer(struct folded *folded, struct buffer *buffer)
{
	struct budget *budget = folded->inputs->budget;
	size_t longest = 0;

	*buffer = (struct buffer) { 0 };
	for (uint32_t i = 0; i < folded->frames.count; i++)
		if (folded->frames.list[i].size > longest)
			longest = folded->frames.list[i].size;
	for (uint32_t i = 0; i < folded->stack_count; i++)
		measure_stack(folded, &folded->stacks[i], buffer);
	buffer->room += 2 * longest + DIGITS;	/* the root's and a thread's are before the stack */
	buffer->text = budget_resize(budget, NULL, 0, buffer->room);
	buffer->ends = budget_resize(budget, NULL, 0, buffer->depth * sizeof(*buffer->ends));
	return buffer->text && buffer->ends;
}

static void free_buffer(struct budget *budget, struct buffer *buffer)
{
	budget_free(budget, buffer->text, buffer->text ? buffer->room : 0);
	budget_free(budget, buffer->ends, buffer->ends ? buffer->depth * sizeof(*buffer->ends) : 0);
}

static size_t put_frame(const struct folded *folded, struct buffer *buffer, size_t at, uint32_t number)
{
	const struct folded_frame *frame = &folded->frames.list[number];

	memcpy(buffer->text + at, frame->text, frame->size);
	return at + frame->size;
}

static size_t put_weight(struct buffer *buffer, size_t at, uint64_t weight)
{
	char digits[DIGITS], *end = digits + sizeof(digits), *from = end;

	*--from = '\n';
	do
		*--from = (char)('0' + weight % 10);
	while (weight /= 10);
	memcpy(buffer->text + at, from, (size_t)(end - from));
	return at + (size_t)(end - from);
}

/* Most frames are those of the line before, whose text is still there; NULL: it is the first one. */
static void write_line(const struct folded *folded, struct buffer *buffer, const struct line *before,
	const struct line *line, uint64_t weight, FILE *stream)
{
	const struct stack *stack = &folded->stacks[line->stack];
	size_t same = 0, at = 0;

	if (before && before->thread == line->thread)
		same = same_frames(&folded->stacks[before->stack], stack);
	if (same)
		at = buffer->ends[same - 1];
	if (!same && folded->options.root[0])
		at = put_frame(folded, buffer, at, folded->root);
	if (!same && folded->options.thread_first)
		at = put_frame(folded, buffer, at, line->thread);
	for (size_t i = same; i < stack->depth; i++)
		buffer->ends[i] = at = put_frame(folded, buffer, at, stack->frames[i]);
	at = put_weight(buffer, at, weight);
	fwrite(buffer->text, 1, at, stream);
}

/*
 * Lines with the same text stand side by side, and are written as one. What tells where a line's frames are is fetched
 * first, then the frames.
 */
static void write_lines(const struct folded *folded, struct buffer *buffer, const struct radix_item *items,
	FILE *stream, struct export_result *result)
{
	const struct line *before = NULL;
	uint64_t weight = 0;

	for (uint32_t i = 0; i < folded->line_count; i++) {
		const struct line *line = &folded->lines[items[i].index];

		if (i + 2 * AHEAD < folded->line_count) {
			__builtin_prefetch(&folded->lines[items[i + 2 * AHEAD].index]);
			__builtin_prefetch(&folded->stacks[(uint32_t)items[i + 2 * AHEAD].number]);
		}
		if (i + AHEAD < folded->line_count)
			__builtin_prefetch(folded->stacks[(uint32_t)items[i + AHEAD].number].frames);
		weight += line->weight;
		if (i + 1 < folded->line_count && items[i].number == items[i + 1].number)
			continue;
		write_line(folded, buffer, before, line, weight, stream);
		before = line;
		result->weight += weight;
		result->stacks++;
		weight = 0;
	}
	result->samples = folded->samples;
}

/* By thread, then by stack. Frames and stacks are sorted. False: no memory. */
static bool write_by_thread(struct folded *folded, struct buffer *buffer, FILE *stream, struct export_result *result)
{
	size_t size = 2 * sizeof(struct radix_item) * folded->line_count;
	struct radix_item *items = budget_resize(folded->inputs->budget, NULL, 0, size);

	if (!items)
		return false;
	for (uint32_t i = 0; i < folded->line_count; i++)
		items[i] = (struct radix_item) {
			.number = (uint64_t)folded->lines[i].thread << 32 | folded->lines[i].stack, .index = i };
	write_lines(folded, buffer, radix_sort(items, items + folded->line_count, folded->line_count), stream, result);
	budget_free(folded->inputs->budget, items, size);
	return true;
}

static bool write_sorted(struct folded *folded, FILE *stream, struct export_result *result)
{
	struct buffer buffer = { 0 };
	bool done = !folded->full && sort_frames(folded) && sort_stacks(folded) && make_buffer(folded, &buffer) &&
		write_by_thread(folded, &buffer, stream, result);

	free_buffer(folded->inputs->budget, &buffer);
	return done;
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

/* ---- ranking ---- */

uint32_t *ranking_new(struct budget *budget, void *things, uint32_t count, size_t size,
	int (*order)(const void *left, const void *right))
{
	uint32_t *ranking = budget_resize(budget, NULL, 0, count * sizeof(*ranking)), first = 0, number;
	const char *at = things;

	if (ranking && count)
		qsort(things, count, size, order);
	for (uint32_t i = 0; ranking && i < count; i++, at += size) {
		if (i && order(at - size, at) != 0)
			first = i;
		memcpy(&number, at, sizeof(number));
		ranking[number] = first;
	}
	return ranking;
}

void ranking_free(struct budget *budget, uint32_t *ranking, uint32_t count)
{
	budget_free(budget, ranking, count * sizeof(*ranking));
}
