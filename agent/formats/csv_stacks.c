/* SPDX-License-Identifier: MIT */
/*
 * The sums as comma-separated values (RFC 4180), with a line of names first. A stack is one field: its functions, the
 * root first, with ';' between them. What would end a field is in quotes. Within a function's name, ';' and '\' have a
 * '\' before them, and so have control characters, as in C: a program that splits lines before it reads quotes is not
 * misled, and different stacks stay different.
 */
#include <inttypes.h>

#include "agent/samples/sample_set.h"
#include "agent/formats/writing/csv_text.h"
#include "set_format.h"

enum { FRAMES_MAX = 1024 };

static void put_stack(FILE *to, const struct sample_set *set, uint32_t stack, struct set_line frames[FRAMES_MAX])
{
	uint32_t count = sample_set_frames(set, stack, frames, FRAMES_MAX);

	putc('"', to);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(';', to);
		csv_text_part(to, set->functions[frames[i].function].name, ";");
	}
	putc('"', to);
}

static void put_number(FILE *to, uint32_t number)
{
	putc(',', to);
	if (number != SET_NONE)
		fprintf(to, "%" PRIu32, number);
}

static void put_sum(FILE *to, const struct sample_set *set, const struct set_sum *sum,
	struct set_line frames[FRAMES_MAX])
{
	const struct set_function *leaf = sample_set_leaf(set, sum->stack);
	static const struct set_thread none = { .id = SET_NONE, .process = SET_NONE, .name = "", .process_name = "" };
	const struct set_thread *thread = sum->who.thread == SET_NONE ? &none : &set->threads[sum->who.thread];

	csv_text_put(to, leaf->name);
	putc(',', to);
	csv_text_put(to, leaf->object);
	putc(',', to);
	put_stack(to, set, sum->stack, frames);
	putc(',', to);
	csv_text_put(to, thread->name);
	put_number(to, thread->id);
	putc(',', to);
	csv_text_put(to, thread->process_name);
	put_number(to, thread->process);
	put_number(to, sum->who.cpu);
	fprintf(to, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", sample_set_mode(sum->who.mode), sum->samples,
		sum->weight, sum->ns);
}

static bool write_stacks(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct set_line frames[FRAMES_MAX];

	(void)error;
	fputs("function,object,stack,thread,tid,process,pid,cpu,mode,samples,weight,ns\n", writing->to);
	for (uint32_t i = 0; i < set->sum_count && !set_writing_step(writing, i, set->sum_count); i++)
		put_sum(writing->to, set, &set->sums[i], frames);
	return true;
}

const struct set_format format_csv_stacks = {
	.name = "csv-stacks",
	.ending = ".stacks.csv",
	.about = "CSV of all stacks, with who ran them",
	.write = write_stacks,
};
