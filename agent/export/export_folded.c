/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "export_folded.h"

enum { BLOCK_COST = 32 };		/* bytes that a block of memory takes besides its contents */

struct line {				/* a stack, to be written as one line */
	const char *thread;		/* the thread's name as the root frame; NULL: none */
	uint32_t *functions;		/* root first */
	size_t depth;
	uint64_t weight, samples;
};

struct folded {
	const struct query_inputs *inputs;
	struct stack_options options;
	struct line *lines;
	size_t count, paid;		/* lines; bytes that were taken from the budget for their functions */
	uint32_t room;
	bool full;			/* there was no memory for the other lines */
};

/* Makes room for one more line with so many bytes of functions. False: no memory. */
static bool have_room(struct folded *folded, size_t size)
{
	struct line *lines = budget_array(folded->inputs->budget, folded->lines, folded->count,
		&folded->room, sizeof(*lines));

	if (lines)
		folded->lines = lines;
	folded->full = !lines || !budget_take(folded->inputs->budget, size);
	folded->paid += folded->full ? 0 : size;
	return !folded->full;
}

static void add_line(void *context, const struct query_stack *stack)
{
	struct folded *folded = context;
	size_t size = stack->depth * sizeof(*stack->functions);
	struct line *line;

	if (folded->full || !have_room(folded, size + BLOCK_COST))
		return;
	line = &folded->lines[folded->count++];
	*line = (struct line) {
		.thread = folded->options.thread_first ?
			threads_name(folded->inputs->threads, stack->thread) : NULL,
		.functions = memcpy(util_alloc(size), stack->functions, size),
		.depth = stack->depth,
		.weight = stack->weight,
		.samples = stack->samples,
	};
}

static void *collect(const struct export_input *input, const void *options)
{
	struct folded *folded = util_alloc(sizeof(*folded));

	*folded = (struct folded) { .inputs = input->inputs };
	memcpy(&folded->options, options, sizeof(folded->options));
	if (!query_stacks(input->query, input->question, add_line, folded))
		folded->full = true;
	return folded;
}

static void free_lines(void *collected)
{
	struct folded *folded = collected;

	for (size_t i = 0; i < folded->count; i++)
		free(folded->lines[i].functions);
	budget_give(folded->inputs->budget, folded->paid);
	budget_free(folded->inputs->budget, folded->lines,
		folded->room * sizeof(*folded->lines));
	free(folded);
}

/*
 * ---- a line's text, character by character ----
 *
 * A line's text is never built as a whole, since there may be very many lines. So two lines are compared without the
 * frames with which both begin: these are the same functions, and have the same text.
 */

struct reader {				/* reads a line's text */
	const struct folded *folded;
	const struct line *line;
	size_t frame;			/* index of the next frame; line->depth: there is none */
	const char *name, *mark;	/* what is left of the present frame's name and mark */
};

static void next_frame(struct reader *reader)
{
	uint32_t id = reader->line->functions[reader->frame++];
	const struct function *function = symbols_get(reader->folded->inputs->symbols, id);

	reader->name = function->name;
	reader->mark = function->inlined ? "_[i]" :
		reader->folded->options.kernel_mark && function->kernel ? "_[k]" : "";
}

/* Leaves out the first `skip` frames. The thread is read only if `skip` is 0. */
static struct reader read_from(const struct folded *folded, const struct line *line, size_t skip)
{
	struct reader reader = { .folded = folded, .line = line, .frame = skip, .mark = "" };

	if (line->thread && skip == 0)
		reader.name = line->thread;
	else if (skip < line->depth)
		next_frame(&reader);
	else
		reader.name = "";
	return reader;
}

/* Replaces the characters of a frame's name that would separate frames, counts or lines. */
static char harmless(char c)
{
	if (c == ';')
		return ':';
	return (unsigned char)c <= ' ' || c == 0x7f ? '_' : c;
}

/* The next character of the text; ' ' is its end. */
static char next_char(struct reader *reader)
{
	if (*reader->name)
		return harmless(*reader->name++);
	if (*reader->mark)
		return *reader->mark++;
	if (reader->frame == reader->line->depth)
		return ' ';
	next_frame(reader);
	return ';';
}

/* What is the same in both names is passed over at once: it is the same in their texts. */
static void pass_same(struct reader *one, struct reader *other)
{
	while (*one->name && *one->name == *other->name) {
		one->name++;
		other->name++;
	}
}

/* How many frames are the same function in both, from the root on. 0 if the threads differ. */
static size_t same_frames(const struct line *a, const struct line *b)
{
	size_t count = 0;

	if (a->thread != b->thread)
		return 0;
	while (count < a->depth && count < b->depth && a->functions[count] == b->functions[count])
		count++;
	return count;
}

/* Orders lines by their text. If one stack is the beginning of the other, their last common frame is compared, too. */
static int compare(const void *left, const void *right, void *context)
{
	const struct line *a = left, *b = right;
	size_t same = same_frames(a, b);
	struct reader one, other;
	char c, d;

	if (same == a->depth && same == b->depth)
		return 0;
	if (same == a->depth || same == b->depth)
		same--;
	one = read_from(context, a, same);
	other = read_from(context, b, same);
	do {
		pass_same(&one, &other);
		c = next_char(&one);
		d = next_char(&other);
	} while (c == d && c != ' ');
	return (unsigned char)c - (unsigned char)d;
}

/* ---- the file ---- */

/* Writes as many characters at a time as are harmless. */
static void write_name(const char *name, FILE *stream)
{
	while (*name) {
		size_t size = 0;

		while (name[size] && harmless(name[size]) == name[size])
			size++;
		fwrite(name, 1, size, stream);
		name += size;
		if (*name)
			putc(harmless(*name++), stream);
	}
}

static void write_line(struct folded *folded, const struct line *line, uint64_t weight,
	FILE *stream)
{
	struct reader reader = read_from(folded, line, 0);

	write_name(folded->options.root, stream);
	if (folded->options.root[0])
		putc(';', stream);
	for (;;) {
		write_name(reader.name, stream);
		fputs(reader.mark, stream);
		if (reader.frame == line->depth)
			break;
		putc(';', stream);
		next_frame(&reader);
	}
	fprintf(stream, " %" PRIu64 "\n", weight);
}

/* Stacks of different functions may have the same text. They stand side by side, and are written as one line. */
static void write_lines(struct folded *folded, FILE *stream, struct export_result *result)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < folded->count; i++) {
		const struct line *line = &folded->lines[i];

		weight += line->weight;
		result->samples += line->samples;
		if (i + 1 < folded->count && compare(line, line + 1, folded) == 0)
			continue;
		write_line(folded, line, weight, stream);
		result->weight += weight;
		result->stacks++;
		weight = 0;
	}
}

static bool write_folded(void *collected, const char *name, FILE *to, struct export_result *result,
	char **error)
{
	struct folded *folded = collected;

	if (folded->full)
		return util_fail(error, "%s: not written: there is no memory for so many stacks; "
			"filter, take a shorter window, or give more by --memory", name);
	if (folded->count)
		qsort_r(folded->lines, folded->count, sizeof(*folded->lines), compare, folded);
	write_lines(folded, to, result);
	return true;
}

const struct export_format export_folded = {
	.name = "folded", .ending = ".folded", .about = "a stack on each line, for flame graph tools",
	.collect = collect, .write = write_folded, .free = free_lines,
};
