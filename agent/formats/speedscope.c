/* SPDX-License-Identifier: MIT */
/*
 * speedscope's own format: https://www.speedscope.app/file-format-schema.json. The first profile has the sums of all
 * CPUs. Behind it each CPU has one, with its samples in order of time. A frame is a function of the set.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/name_text.h"
#include "agent/formats/writing/row_reader.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

struct speedscope {
	const struct sample_set *set;
	const struct set_writing *writing;
	FILE *to;
	struct cpu_list cpus;
	struct frame_list frames;
	const char *before;		/* the text before the next element of a list */
	uint64_t step, steps;		/* lists of samples or weights: which one is written, and how many there are */
};

/* Weights are CPU time, or samples where no time is known. */
static uint64_t worth(const struct speedscope *speedscope, uint64_t ns, uint64_t samples)
{
	return speedscope->set->ns ? ns : samples;
}

static void put_frames(struct speedscope *speedscope)
{
	const struct sample_set *set = speedscope->set;

	fputs("\"shared\": {\"frames\": [", speedscope->to);
	for (uint32_t i = 0; i < set->function_count; i++) {
		const struct set_function *function = &set->functions[i];
		const char *file = *function->file ? function->file : function->object;

		fprintf(speedscope->to, "%s{\"name\":", i ? ",\n" : "\n");
		json_text_put(speedscope->to, function->name);
		if (*file) {
			fputs(",\"file\":", speedscope->to);
			json_text_put(speedscope->to, file);
		}
		if (function->line)
			fprintf(speedscope->to, ",\"line\":%" PRIu32, function->line);
		putc('}', speedscope->to);
	}
	fputs("]},\n", speedscope->to);
}

static void put_stack(struct speedscope *speedscope, uint32_t stack)
{
	frame_list_read(&speedscope->frames, speedscope->set, stack);
	fprintf(speedscope->to, "%s[", speedscope->before);
	for (uint32_t i = 0; i < speedscope->frames.count; i++)
		fprintf(speedscope->to, "%s%" PRIu32, i ? "," : "", speedscope->frames.frames[i].function);
	putc(']', speedscope->to);
	speedscope->before = ",\n";
}

static void put_weight(struct speedscope *speedscope, uint64_t weight)
{
	fprintf(speedscope->to, "%s%" PRIu64, speedscope->before, weight);
	speedscope->before = ",";
}

/* `at`: sums or rows of the list that are written. */
static bool goes_on(const struct speedscope *speedscope, uint64_t at)
{
	uint64_t whole = speedscope->set->samples;

	return !set_writing_step(speedscope->writing, speedscope->step * whole + at, speedscope->steps * whole);
}

/* ---- all CPUs together ---- */

static void put_sums(struct speedscope *speedscope, bool weights)
{
	const struct sample_set *set = speedscope->set;

	speedscope->before = "\n";
	for (uint32_t i = 0; i < set->sum_count && goes_on(speedscope, i); i++) {
		const struct set_sum *sum = &set->sums[i];

		if (weights)
			put_weight(speedscope, worth(speedscope, sum->ns, sum->samples));
		else
			put_stack(speedscope, sum->stack);
	}
	speedscope->step++;
}

static void begin_profile(struct speedscope *speedscope, const char *name)
{
	fputs("{\"type\":\"sampled\",\"name\":", speedscope->to);
	json_text_put(speedscope->to, name);
	fprintf(speedscope->to, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		speedscope->set->ns ? "nanoseconds" : "none");
}

static void end_profile(struct speedscope *speedscope, uint64_t weight)
{
	fprintf(speedscope->to, "],\"endValue\":%" PRIu64 "}", weight);
}

static void put_all(struct speedscope *speedscope)
{
	begin_profile(speedscope, "all CPUs");
	put_sums(speedscope, false);
	fputs("],\"weights\":[", speedscope->to);
	put_sums(speedscope, true);
	end_profile(speedscope, worth(speedscope, speedscope->set->ns, speedscope->set->samples));
}

/* ---- one CPU ---- */

/* Samples and their weights are lists of their own in the file, so the rows are read twice. */
static bool put_rows(struct speedscope *speedscope, uint32_t cpu, bool weights, uint64_t *weight, char **error)
{
	struct row_reader reader = row_reader_open(speedscope->set);
	struct set_row row;

	*weight = 0;
	speedscope->before = "\n";
	for (uint32_t i = 0; row_reader_next(&reader, &row) && goes_on(speedscope, i); i++) {
		const struct set_sum *sum = &speedscope->set->sums[row.sum];

		if (sum->who.cpu != cpu)
			continue;
		*weight += worth(speedscope, row.ns, row.samples);
		if (weights)
			put_weight(speedscope, worth(speedscope, row.ns, row.samples));
		else
			put_stack(speedscope, sum->stack);
	}
	speedscope->step++;
	return row_reader_close(&reader, error);
}

static bool put_cpu(struct speedscope *speedscope, uint32_t cpu, char **error)
{
	char *name = cpu == SET_NONE ? util_format("no CPU") : util_format("CPU %" PRIu32, cpu);
	uint64_t weight;
	bool whole;

	fputs(",\n", speedscope->to);
	begin_profile(speedscope, name);
	free(name);
	whole = put_rows(speedscope, cpu, false, &weight, error);
	if (!whole)
		return false;
	fputs("],\"weights\":[", speedscope->to);
	whole = put_rows(speedscope, cpu, true, &weight, error);
	end_profile(speedscope, weight);
	return whole;
}

static bool put_file(struct speedscope *speedscope, char **error)
{
	bool whole = true;

	fputs("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\"", speedscope->to);
	fputs(",\n\"exporter\":\"ktop\",\n\"name\":", speedscope->to);
	json_text_put(speedscope->to, speedscope->writing->title);
	fputs(",\n\"activeProfileIndex\": 0,\n", speedscope->to);
	put_frames(speedscope);
	fputs("\"profiles\": [\n", speedscope->to);
	put_all(speedscope);
	for (uint32_t i = 0; i < speedscope->cpus.count && whole; i++)
		whole = put_cpu(speedscope, speedscope->cpus.cpus[i], error);
	fputs("]}\n", speedscope->to);
	return whole;
}

static bool write_speedscope(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct speedscope speedscope = {
		.set = set, .writing = writing, .to = writing->to,
	};
	bool whole;

	cpu_list_init(&speedscope.cpus, set);
	speedscope.steps = 2 * ((uint64_t)speedscope.cpus.count + 1);
	whole = put_file(&speedscope, error);
	cpu_list_clear(&speedscope.cpus);
	frame_list_clear(&speedscope.frames);
	return whole;
}

const struct set_format format_speedscope = {
	.name = "speedscope",
	.ending = ".speedscope.json",
	.about = "JSON for speedscope: each CPU by time, and all as sums",
	.rows = true,
	.lines = true,
	.write = write_speedscope,
};
