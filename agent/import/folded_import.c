/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "set_import.h"

enum { MARK = 4, INLINED_MOST = 64 };	/* bytes of "_[k]"; functions at one location */

/* A stack that grows frame by frame, the root first. */
struct growing {
	struct sample_set *set;
	uint32_t stack;			/* of all locations that are complete; SET_NONE: there is none */
	bool cut;			/* callers are missing before the next location */
	struct set_line lines[INLINED_MOST];	/* of the location that may still grow: the outermost function first */
	uint32_t count;
};

/* The location is complete. */
static void end_location(struct growing *growing)
{
	struct set_line innermost_first[INLINED_MOST];
	uint32_t location;

	if (!growing->count)
		return;
	for (uint32_t i = 0; i < growing->count; i++)
		innermost_first[i] = growing->lines[growing->count - 1 - i];
	location = sample_set_location(growing->set, 0, SET_NONE, innermost_first, growing->count);
	growing->stack = sample_set_stack(growing->set, growing->stack, location, growing->cut);
	growing->cut = false;
	growing->count = 0;
}

/* Cuts a mark off a name. */
static bool take_mark(char *name, const char *mark)
{
	size_t size = strlen(name);

	if (size <= MARK || strcmp(name + size - MARK, mark) != 0)
		return false;
	name[size - MARK] = 0;
	return true;
}

static void add_frame(struct growing *growing, char *name)
{
	bool inlined = take_mark(name, "_[i]"), kernel = take_mark(name, "_[k]");
	const struct set_function function = {
		.name = *name ? name : "[unknown]", .object = "", .file = "",
		.kind = kernel ? SET_KERNEL : SET_UNKNOWN,
	};

	if (!inlined || growing->count == INLINED_MOST)
		end_location(growing);
	growing->lines[growing->count++] = (struct set_line) {
		.function = sample_set_function(growing->set, &function),
	};
}

static size_t frames_of(const char *frames)
{
	size_t count = 1;

	while ((frames = strchr(frames, ';'))) {
		frames++;
		count++;
	}
	return count;
}

/* Returns the index of the innermost stack. */
static uint32_t add_stack(struct sample_set *set, char *frames)
{
	struct growing growing = { .set = set, .stack = SET_NONE };

	for (size_t left = frames_of(frames); left > 0; left--) {
		char *end = strchrnul(frames, ';'), *next = *end ? end + 1 : end;

		*end = 0;
		if (left <= IMPORT_DEPTH)
			add_frame(&growing, frames);
		else
			growing.cut = true;
		frames = next;
	}
	end_location(&growing);
	return growing.stack;
}

/* The last word of a line, and where the text before it ends. */
struct word {
	char *at, *before;
};

static bool is_blank(char letter)
{
	return letter == ' ' || letter == '\t';
}

static struct word last_word(char *line, char *end)
{
	struct word word = { .at = end };

	while (word.at > line && !is_blank(word.at[-1]))
		word.at--;
	for (word.before = word.at; word.before > line && is_blank(word.before[-1]);)
		word.before--;
	return word;
}

/* Is it a number as some tool may write it, such as "12", "-1" or "0.5"? */
static bool is_number(const char *text, const char *end)
{
	bool digit = false;

	for (text += text < end && (*text == '-' || *text == '+'); text < end; text++) {
		if (*text != '.' && (*text < '0' || *text > '9'))
			return false;
		digit = digit || *text != '.';
	}
	return digit;
}

/* False: the number is no whole one, or no sum may be as large. */
static bool read_count(const char *text, const char *end, uint64_t *count)
{
	*count = 0;
	for (; text < end && *text >= '0' && *text <= '9'; text++) {
		if (*count > (INT64_MAX - 9) / 10)
			return false;
		*count = *count * 10 + (uint64_t)(*text - '0');
	}
	return text == end;
}

/* Where a line ends without blanks and a carriage return behind it. `last`: its newline, or the end of the file. */
static char *end_of(const char *line, char *last)
{
	if (last > line && last[-1] == '\r')
		last--;
	while (last > line && is_blank(last[-1]))
		last--;
	return last;
}

/* Is it a word of a name, as in "worker 3"? */
static bool is_whole_number(const char *text, const char *end)
{
	return *text != '-' && *text != '+' && is_number(text, end) && !memchr(text, '.', (size_t)(end - text));
}

/*
 * Has a line one count? Then it is no difference of two files, whose lines all have two: a number in front of a count
 * belongs to the name.
 */
static bool has_one_count(char *bytes, const char *file_end)
{
	for (char *next; bytes < file_end; bytes = next + 1) {
		char *end;
		struct word count, before;

		next = strchrnul(bytes, '\n');
		end = end_of(bytes, next);
		count = last_word(bytes, end);
		before = last_word(bytes, count.before);
		if (count.before > bytes && is_number(count.at, end) && !is_number(before.at, count.before))
			return true;
	}
	return false;
}

/* A line ends with a zero, at `end`. `one`: no line has two counts. False with `error` set. */
static bool add_line(struct sample_set *set, char *line, char *end, bool one, uint64_t number, char **error)
{
	struct set_sum sum = { .who = { .thread = SET_NONE, .cpu = SET_NONE } };
	struct word count, before;

	if (end == line)
		return true;
	count = last_word(line, end);
	if (!is_number(count.at, end))
		return util_fail(error, "line %" PRIu64 ": no count behind the stack; "
			"give folded stacks as stackcollapse-perf.pl writes them, or a profile of pprof", number);
	if (count.before == line)
		return util_fail(error, "line %" PRIu64 ": a count without a stack; give folded stacks", number);
	before = last_word(line, count.before);
	if (is_number(before.at, count.before) &&
			!(one && before.before > line && is_whole_number(before.at, count.before)))
		return util_fail(error, "line %" PRIu64 ": two counts, as in a difference; "
			"give the files that were compared", number);
	if (!read_count(count.at, end, &sum.samples) || sum.samples > INT64_MAX - set->weight)
		return util_fail(error, "the count of line %" PRIu64 " is no whole number, or too large; "
			"give counts of samples", number);
	*count.before = 0;
	if (!sum.samples)
		return true;
	sum.weight = sum.samples;
	sum.stack = add_stack(set, line);
	return sample_set_add(set, &sum) != SET_NONE;
}

static bool read_folded(struct sample_set *set, char *bytes, size_t size, struct budget *budget, char **error)
{
	char *end = bytes + size, *next;
	bool one;

	(void)budget;
	if (strlen(bytes) != size)
		return util_fail(error, "it is no text; give folded stacks, or a profile of pprof");
	one = has_one_count(bytes, end);
	for (uint64_t number = 1; bytes < end; number++, bytes = next) {
		char *last = strchrnul(bytes, '\n');

		next = last + 1;
		last = end_of(bytes, last);
		*last = 0;
		if (!add_line(set, bytes, last, one, number, error))
			return false;
	}
	return set->sum_count || util_fail(error, "it has no samples; give folded stacks");
}

static bool takes_all(const char *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return true;
}

const struct set_import import_folded = { .name = "folded", .fits = takes_all, .read = read_folded };
