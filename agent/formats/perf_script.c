/* SPDX-License-Identifier: MIT */
/*
 * The text of `perf script`, as scripts that fold stacks read it: for each sample a line that says who ran, when and
 * where, then its frames, the leaf first, and an empty line. The samples of a row share its weight, which stands as the
 * period of the event cpu-clock, in nanoseconds. So scripts that add up periods get the time, and those that count
 * events the samples. Of names, what these scripts would cut or split is written as \xHH.
 */
#include <inttypes.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"
#include "agent/formats/writing/name_text.h"
#include "agent/formats/writing/row_reader.h"
#include "agent/formats/writing/text_list.h"

static void put_byte(FILE *to, const char **text)
{
	fprintf(to, "\\x%02x", (unsigned char)*(*text)++);
}

/* The command's name ends at a blank. One character alone would not be taken for a name. */
static void put_command(FILE *to, const struct set_thread *thread)
{
	const char *name = thread ? thread->name : "";

	if (!thread)
		fputs(":-1", to);
	else if (!*name)
		fprintf(to, ":%" PRIu32, thread->id);
	else if (!name[1])
		put_byte(to, &name);
	name_text_put(to, name, " #;\"'");
}

/* "->" would begin a function that is inlined, "+0x" an offset, "(" at the beginning a process. */
static void put_function(FILE *to, const struct set_function *function)
{
	const char *name = function->name;
	char piece[NAME_PIECE];
	size_t size;

	if (*name == '(' || (strcmp(name, "[unknown]") == 0 && function->kind != SET_UNKNOWN))
		put_byte(to, &name);
	do {
		if (strncmp(name, "+0x", 3) == 0)
			put_byte(to, &name);
		if (strncmp(name, "->", 2) == 0) {
			putc(*name++, to);
			put_byte(to, &name);
		}
		size = name_text_next(&name, ";\"'", piece);
		fwrite(piece, 1, size, to);
	} while (size);
}

/* Names of the kernel's objects stand in brackets, so that scripts know the kernel's functions. */
static void put_object(FILE *to, const struct set_function *function)
{
	const char *object = function->object;

	switch (function->kind) {
	case SET_KERNEL:
		fputs(" ([kernel.kallsyms])\n", to);
		break;
	case SET_MODULE:
		fputs(" ([", to);
		name_text_put(to, object, " ()[]");
		fputs("])\n", to);
		break;
	default:
		fputs(" (", to);
		name_text_put(to, *object ? object : "[unknown]", *object ? " ()[]" : "");
		fputs(")\n", to);
	}
}

/* The lines of a location: what was inlined there comes first. */
static void put_location(FILE *to, const void *context, uint32_t index)
{
	const struct sample_set *set = context;
	const struct set_location *location = &set->locations[index];

	for (uint32_t i = 0; i < location->count; i++) {
		const struct set_function *function = &set->functions[set->lines[location->first + i].function];

		fprintf(to, "\t%16" PRIx64 " ", location->address);
		put_function(to, function);
		if (i + 1 < location->count)
			fputs(" (inlined)\n", to);
		else
			put_object(to, function);
	}
}

static uint32_t number_or_0(uint32_t number)
{
	return number == SET_NONE ? 0 : number;
}

static void put_sample(FILE *to, const struct sample_set *set, const struct text_list *locations,
	const struct set_row *row, uint64_t period)
{
	const struct set_sum *sum = &set->sums[row->sum];
	const struct set_thread *thread = sum->who.thread == SET_NONE ? NULL : &set->threads[sum->who.thread];

	put_command(to, thread);
	fprintf(to, " %" PRIu32 "/%" PRIu32, thread ? number_or_0(thread->process) : 0,
		thread ? number_or_0(thread->id) : 0);
	if (sum->who.cpu != SET_NONE)
		fprintf(to, " [%03" PRIu32 "]", sum->who.cpu);
	fprintf(to, " %" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " cpu-clock:\n", row->time / NS_PER_SECOND,
		row->time % NS_PER_SECOND, period);
	for (uint32_t stack = sum->stack; stack != SET_NONE; stack = set->stacks[stack].parent)
		text_list_put(locations, set->stacks[stack].location, to);
	putc('\n', to);
}

/* What is left when the weight is shared goes to the first samples. */
static void put_row(FILE *to, const struct sample_set *set, const struct text_list *locations,
	const struct set_row *row)
{
	uint64_t worth = set->ns ? row->ns : row->samples;

	for (uint64_t i = 0; i < row->samples && !ferror(to); i++)
		put_sample(to, set, locations, row, worth / row->samples + (i < worth % row->samples));
}

static bool put_rows(const struct sample_set *set, const struct set_writing *writing, const struct text_list *locations,
	char **error)
{
	struct row_reader reader = row_reader_open(set);
	struct set_row row;
	uint64_t count = 0;

	while (row_reader_next(&reader, &row) && !set_writing_step(writing, count++, set->samples))
		put_row(writing->to, set, locations, &row);
	return row_reader_close(&reader, error);
}

static bool write_perf_script(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct text_list locations;
	bool whole = text_list_make(&locations, set->location_count, put_location, set) ?
		put_rows(set, writing, &locations, error) : util_fail(error, "%s", sample_set_no_memory);

	text_list_clear(&locations);
	return whole;
}

const struct set_format format_perf_script = {
	.name = "perf-script",
	.ending = ".perf",
	.about = "text of perf script, for stackcollapse-perf.pl and the like",
	.rows = true,
	.lines = true,
	.write = write_perf_script,
};
