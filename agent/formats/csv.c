/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "agent/samples/sample_set.h"
#include "csv.h"
#include "set_format.h"

enum { FRAMES_MAX = 1024 };

/* One byte of a name within a field. Quotes are doubled. */
static void put_byte(FILE *to, unsigned char c, bool in_stack)
{
	if (c < ' ' || c == 0x7f)
		fprintf(to, "\\x%02x", c);
	else if (c == '\\' || (in_stack && c == ';'))
		fprintf(to, "\\%c", c);
	else if (c == '"')
		fputs("\"\"", to);
	else
		putc(c, to);
}

static void put_name(FILE *to, const char *name, bool in_stack)
{
	for (; *name; name++)
		put_byte(to, (unsigned char)*name, in_stack);
}

static void put_stack(FILE *to, const struct sample_set *set, uint32_t stack, struct set_line frames[FRAMES_MAX])
{
	uint32_t count = sample_set_frames(set, stack, frames, FRAMES_MAX);

	putc('"', to);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(';', to);
		put_name(to, set->functions[frames[i].function].name, true);
	}
	putc('"', to);
}

static void put_number(FILE *to, uint32_t number)
{
	putc(',', to);
	if (number != SET_NONE)
		fprintf(to, "%" PRIu32, number);
}

static void put_text(FILE *to, const char *text)
{
	putc('"', to);
	put_name(to, text, false);
	putc('"', to);
}

static void put_sum(FILE *to, const struct sample_set *set, const struct set_sum *sum,
	struct set_line frames[FRAMES_MAX])
{
	const struct set_function *leaf = sample_set_leaf(set, sum->stack);
	static const struct set_thread none = { .id = SET_NONE, .process = SET_NONE, .name = "", .process_name = "" };
	const struct set_thread *thread = sum->who.thread == SET_NONE ? &none : &set->threads[sum->who.thread];

	put_text(to, leaf->name);
	putc(',', to);
	put_text(to, leaf->object);
	putc(',', to);
	put_stack(to, set, sum->stack, frames);
	putc(',', to);
	put_text(to, thread->name);
	put_number(to, thread->id);
	putc(',', to);
	put_text(to, thread->process_name);
	put_number(to, thread->process);
	put_number(to, sum->who.cpu);
	fprintf(to, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", sample_set_mode(sum->who.mode), sum->samples,
		sum->weight, sum->ns);
}

static bool write_csv(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct set_line frames[FRAMES_MAX];

	(void)error;
	fputs("function,object,stack,thread,tid,process,pid,cpu,mode,samples,weight,ns\n", writing->to);
	for (uint32_t i = 0; i < set->sum_count && !set_writing_step(writing, i, set->sum_count); i++)
		put_sum(writing->to, set, &set->sums[i], frames);
	return true;
}

const struct set_format format_csv = {
	.name = "csv", .ending = ".csv", .about = "sums by stack, thread, CPU and mode, for spreadsheets",
	.write = write_csv,
};
