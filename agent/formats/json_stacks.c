/* SPDX-License-Identifier: MIT */
/*
 * All sums of a set as JSON, for scripts. A stack is a list of indices of functions, the root first. A sum is on a line
 * of its own. What is not known is left out.
 */
#include <inttypes.h>

#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/name_text.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

static void put_member(FILE *to, const char *name, const char *text)
{
	if (!*text)
		return;
	fprintf(to, ",\"%s\":", name);
	json_text_put(to, text);
}

static void put_count(FILE *to, const char *name, uint64_t count, uint64_t unknown)
{
	if (count != unknown)
		fprintf(to, ",\"%s\":%" PRIu64, name, count);
}

static void put_facts(FILE *to, const struct sample_set *set, const char *title)
{
	const struct set_facts *facts = &set->facts;

	fprintf(to, "{\"samples\":%" PRIu64 ",\"weight\":%" PRIu64, set->samples, set->weight);
	put_count(to, "ns", set->ns, 0);
	fprintf(to, ",\"lost\":%" PRIu64, facts->lost);
	put_count(to, "from_ns", facts->to ? facts->from : SET_NONE, SET_NONE);
	put_count(to, "to_ns", facts->to, 0);
	put_count(to, "began_ns", facts->began, 0);
	put_count(to, "period_ns", facts->period, 0);
	put_count(to, "cpus", facts->cpus, 0);
	put_member(to, "title", title);
	put_member(to, "machine", facts->machine);
	put_member(to, "kernel", facts->kernel);
	put_member(to, "version", facts->version);
	put_member(to, "arch", facts->arch);
}

static void put_functions(FILE *to, const struct sample_set *set)
{
	static const char *const kinds[SET_KINDS] = { "kernel", "module", "user", "idle", "unknown" };

	fputs(",\n\"functions\":[", to);
	for (uint32_t i = 0; i < set->function_count; i++) {
		const struct set_function *function = &set->functions[i];

		fprintf(to, "%s{\"kind\":\"%s\"", i ? ",\n" : "\n", kinds[function->kind]);
		put_member(to, "name", function->name);
		put_member(to, "object", function->object);
		put_member(to, "file", function->file);
		put_count(to, "line", function->line, 0);
		putc('}', to);
	}
	fputs("],\n\"sums\":[", to);
}

static void put_sum(FILE *to, const struct sample_set *set, const struct set_sum *sum, struct frame_list *frames)
{
	frame_list_read(frames, set, sum->stack);
	fputs("{\"stack\":[", to);
	for (uint32_t i = 0; i < frames->count; i++)
		fprintf(to, "%s%" PRIu32, i ? "," : "", frames->frames[i].function);
	fprintf(to, "],\"mode\":\"%s\"", sample_set_mode(sum->who.mode));
	put_count(to, "cpu", sum->who.cpu, SET_NONE);
	if (sum->who.thread != SET_NONE) {
		const struct set_thread *thread = &set->threads[sum->who.thread];

		put_member(to, "thread", thread->name);
		put_count(to, "thread_id", thread->id, SET_NONE);
		put_member(to, "process", thread->process_name);
		put_count(to, "process_id", thread->process, SET_NONE);
	}
	put_count(to, "samples", sum->samples, UINT64_MAX);
	put_count(to, "weight", sum->weight, UINT64_MAX);
	put_count(to, "ns", sum->ns, 0);
	putc('}', to);
}

static bool write_json(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct frame_list frames = { 0 };
	FILE *to = writing->to;

	(void)error;
	put_facts(to, set, writing->title);
	put_functions(to, set);
	for (uint32_t i = 0; i < set->sum_count && !set_writing_step(writing, i, set->sum_count); i++) {
		fputs(i ? ",\n" : "\n", to);
		put_sum(to, set, &set->sums[i], &frames);
	}
	fputs("]}\n", to);
	frame_list_clear(&frames);
	return true;
}

const struct set_format format_json_stacks = {
	.name = "json-stacks",
	.ending = ".stacks.json",
	.about = "JSON of all stacks, with who ran them",
	.lines = true,
	.write = write_json,
};
