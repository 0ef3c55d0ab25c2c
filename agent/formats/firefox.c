/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "firefox.h"
#include "agent/formats/writing/cpu_list.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/row_reader.h"

enum { FORMAT_VERSION = 61, GECKO_VERSION = 27 };

/* The categories, by kind of function. The grey one is the default. */
static const struct { const char *name, *colour; } categories[SET_KINDS] = {
	[SET_KERNEL] = { "Kernel", "orange" }, [SET_MODULE] = { "Module", "brown" }, [SET_USER] = { "User", "yellow" },
	[SET_IDLE] = { "Idle", "transparent" }, [SET_UNKNOWN] = { "Other", "grey" },
};

enum { FUNCTION_TEXTS = 3 };		/* of each function in the list of texts: its name, file and object */

struct firefox {
	const struct sample_set *set;
	const struct set_writing *writing;
	FILE *to;
	struct cpu_list cpus;
	uint32_t *frame_of;		/* by location: the frame of its outermost function; those inlined follow */
	uint32_t *stack_of;		/* by stack: the number of the profile's stack that ends with it */
	uint64_t column, columns;	/* of samples: which one is written, and how many there are */
};

/* ---- lists ---- */

/* A column whose values are all the same. */
static void put_same(const struct firefox *firefox, const char *name, uint32_t count, const char *value)
{
	fprintf(firefox->to, ",\n\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++)
		fprintf(firefox->to, "%s%s", i ? "," : "", value);
	putc(']', firefox->to);
}

enum { NO_NUMBER = -1 };		/* null */

static void put_number(const struct firefox *firefox, int64_t number)
{
	if (number == NO_NUMBER)
		fputs("null", firefox->to);
	else
		fprintf(firefox->to, "%" PRId64, number);
}

/* A column of numbers: of what each index has. */
static void put_column(const struct firefox *firefox, const char *name, uint32_t count,
	int64_t (*number)(const struct firefox *firefox, uint32_t index))
{
	fprintf(firefox->to, ",\n\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(',', firefox->to);
		put_number(firefox, number(firefox, i));
	}
	putc(']', firefox->to);
}

static int64_t line_number(uint32_t line)
{
	return line ? (int64_t)line : NO_NUMBER;
}

/* ---- functions; each is a source and a resource of the same number, too ---- */

static int64_t function_name(const struct firefox *firefox, uint32_t function)
{
	(void)firefox;
	return (int64_t)function * FUNCTION_TEXTS;
}

static int64_t function_file(const struct firefox *firefox, uint32_t function)
{
	return function_name(firefox, function) + 1;
}

static int64_t function_object(const struct firefox *firefox, uint32_t function)
{
	return function_name(firefox, function) + 2;
}

static int64_t function_resource(const struct firefox *firefox, uint32_t function)
{
	(void)firefox;
	return function;
}

static int64_t function_source(const struct firefox *firefox, uint32_t function)
{
	return *firefox->set->functions[function].file ? (int64_t)function : NO_NUMBER;
}

static int64_t function_line(const struct firefox *firefox, uint32_t function)
{
	return line_number(firefox->set->functions[function].line);
}

static void put_functions(const struct firefox *firefox)
{
	uint32_t count = firefox->set->function_count;

	fprintf(firefox->to, ",\n\"funcTable\":{\"length\":%" PRIu32, count);
	put_column(firefox, "name", count, function_name);
	put_same(firefox, "isJS", count, "false");
	put_same(firefox, "relevantForJS", count, "false");
	put_column(firefox, "resource", count, function_resource);
	put_column(firefox, "source", count, function_source);
	put_column(firefox, "lineNumber", count, function_line);
	put_same(firefox, "columnNumber", count, "null");
	fprintf(firefox->to, "},\n\"sources\":{\"length\":%" PRIu32, count);
	put_same(firefox, "id", count, "null");
	put_column(firefox, "filename", count, function_file);
	put_same(firefox, "startLine", count, "1");
	put_same(firefox, "startColumn", count, "1");
	put_same(firefox, "sourceMapURL", count, "null");
	fprintf(firefox->to, "},\n\"resourceTable\":{\"length\":%" PRIu32, count);
	put_same(firefox, "lib", count, "null");
	put_column(firefox, "name", count, function_object);
	put_same(firefox, "host", count, "null");
	put_same(firefox, "type", count, "1");
	fputs("}", firefox->to);
}

static void put_texts(const struct firefox *firefox)
{
	fputs(",\n\"stringArray\":[", firefox->to);
	for (uint32_t i = 0; i < firefox->set->function_count; i++) {
		const struct set_function *function = &firefox->set->functions[i];

		fputs(i ? ",\n" : "\n", firefox->to);
		json_text_put(firefox->to, function->name);
		putc(',', firefox->to);
		json_text_put(firefox->to, function->file);
		putc(',', firefox->to);
		json_text_put(firefox->to, *function->object ? function->object : "[unknown]");
	}
	putc(']', firefox->to);
}

/* ---- frames: the lines of all locations, those of a location from its outermost function inwards ---- */

static void put_frame_column(const struct firefox *firefox, const char *name,
	int64_t (*number)(const struct firefox *firefox, const struct set_location *location, uint32_t depth))
{
	const struct sample_set *set = firefox->set;

	fprintf(firefox->to, ",\n\"%s\":[", name);
	for (uint32_t i = 0; i < set->location_count; i++)
		for (uint32_t depth = 0; depth < set->locations[i].count; depth++) {
			if (i || depth)
				putc(',', firefox->to);
			put_number(firefox, number(firefox, &set->locations[i], depth));
		}
	putc(']', firefox->to);
}

static const struct set_line *line_at(
	const struct firefox *firefox, const struct set_location *location, uint32_t depth)
{
	return &firefox->set->lines[location->first + location->count - 1 - depth];
}

static int64_t frame_depth(const struct firefox *firefox, const struct set_location *location, uint32_t depth)
{
	(void)firefox;
	(void)location;
	return depth;
}

static int64_t frame_function(const struct firefox *firefox, const struct set_location *location, uint32_t depth)
{
	return line_at(firefox, location, depth)->function;
}

static int64_t frame_line(const struct firefox *firefox, const struct set_location *location, uint32_t depth)
{
	return line_number(line_at(firefox, location, depth)->line);
}

static int64_t frame_category(const struct firefox *firefox, const struct set_location *location, uint32_t depth)
{
	return firefox->set->functions[line_at(firefox, location, depth)->function].kind;
}

static void put_frames(const struct firefox *firefox, uint32_t count)
{
	fprintf(firefox->to, ",\n\"frameTable\":{\"length\":%" PRIu32, count);
	put_same(firefox, "address", count, "-1");
	put_frame_column(firefox, "inlineDepth", frame_depth);
	put_frame_column(firefox, "category", frame_category);
	put_same(firefox, "subcategory", count, "0");
	put_frame_column(firefox, "func", frame_function);
	put_same(firefox, "nativeSymbol", count, "null");
	put_same(firefox, "innerWindowID", count, "0");
	put_frame_column(firefox, "line", frame_line);
	put_same(firefox, "column", count, "null");
	fputs("}", firefox->to);
}

/* ---- stacks: each of the set becomes as many as there are functions at its location ---- */

static void put_stacks(const struct firefox *firefox, uint32_t count)
{
	const struct sample_set *set = firefox->set;
	const char *before = "";

	fprintf(firefox->to, ",\n\"stackTable\":{\"length\":%" PRIu32 ",\n\"frame\":[", count);
	for (uint32_t i = 0; i < set->stack_count; i++)
		for (uint32_t depth = 0; depth < set->locations[set->stacks[i].location].count; depth++) {
			fprintf(firefox->to, "%s%" PRIu32, before, firefox->frame_of[set->stacks[i].location] + depth);
			before = ",";
		}
	fputs("],\n\"prefix\":[", firefox->to);
	before = "";
	for (uint32_t i = 0; i < set->stack_count; i++) {
		uint32_t parent = set->stacks[i].parent, inlined = set->locations[set->stacks[i].location].count - 1;

		if (parent == SET_NONE)
			fprintf(firefox->to, "%snull", before);
		else
			fprintf(firefox->to, "%s%" PRIu32, before, firefox->stack_of[parent]);
		for (uint32_t depth = 0; depth < inlined; depth++)
			fprintf(firefox->to, ",%" PRIu32, firefox->stack_of[i] - inlined + depth);
		before = ",";
	}
	fputs("]}", firefox->to);
}

static void put_tables(const struct firefox *firefox)
{
	const struct sample_set *set = firefox->set;
	uint32_t frames = 0, stacks = 0;

	for (uint32_t i = 0; i < set->location_count; i++) {
		firefox->frame_of[i] = frames;
		frames += set->locations[i].count;
	}
	for (uint32_t i = 0; i < set->stack_count; i++) {
		stacks += set->locations[set->stacks[i].location].count;
		firefox->stack_of[i] = stacks - 1;
	}
	fputs(",\n\"shared\":{\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[]", firefox->to);
	fputs(",\"name\":[],\"functionSize\":[]}", firefox->to);
	put_stacks(firefox, stacks);
	put_frames(firefox, frames);
	put_functions(firefox);
	put_texts(firefox);
	putc('}', firefox->to);
}

/* ---- samples ---- */

static void put_ms(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_MS, ns % NS_PER_MS);
}

/* Each writes a row's value in a column. */
static void put_row_stack(const struct firefox *firefox, const struct set_row *row)
{
	fprintf(firefox->to, "%" PRIu32, firefox->stack_of[firefox->set->sums[row->sum].stack]);
}

static void put_row_time(const struct firefox *firefox, const struct set_row *row)
{
	uint64_t from = firefox->set->facts.from;

	put_ms(firefox->to, row->time > from ? row->time - from : 0);
}

static void put_row_weight(const struct firefox *firefox, const struct set_row *row)
{
	if (firefox->set->ns)
		put_ms(firefox->to, row->ns);
	else
		fprintf(firefox->to, "%" PRIu64, row->samples);
}

/* The CPU time that was used, from which the track's graph is drawn: none while the CPU was idle. */
static void put_row_busy(const struct firefox *firefox, const struct set_row *row)
{
	const struct set_function *leaf = sample_set_leaf(firefox->set, firefox->set->sums[row->sum].stack);

	fprintf(firefox->to, "%" PRIu64, leaf->kind == SET_IDLE ? 0 : row->ns);
}

static bool put_row_column(struct firefox *firefox, uint32_t cpu, const char *name,
	void (*put)(const struct firefox *firefox, const struct set_row *row), uint32_t *count, char **error)
{
	struct row_reader reader = row_reader_open(firefox->set);
	uint64_t whole = firefox->set->samples, rows = 0;
	struct set_row row;

	*count = 0;
	fprintf(firefox->to, "\n\"%s\":[", name);
	while (row_reader_next(&reader, &row) &&
		!set_writing_step(firefox->writing, firefox->column * whole + rows++, firefox->columns * whole)) {
		if (firefox->set->sums[row.sum].who.cpu != cpu)
			continue;
		if ((*count)++)
			putc(',', firefox->to);
		put(firefox, &row);
	}
	fputs("],", firefox->to);
	firefox->column++;
	return row_reader_close(&reader, error);
}

enum { ROW_COLUMNS = 4 };

static bool put_samples(struct firefox *firefox, uint32_t cpu, char **error)
{
	uint32_t count;
	bool whole;

	fputs("\"samples\":{", firefox->to);
	whole = put_row_column(firefox, cpu, "stack", put_row_stack, &count, error) &&
		put_row_column(firefox, cpu, "time", put_row_time, &count, error) &&
		put_row_column(firefox, cpu, "weight", put_row_weight, &count, error) &&
		put_row_column(firefox, cpu, "threadCPUDelta", put_row_busy, &count, error);
	fprintf(firefox->to, "\n\"weightType\":\"%s\",\"length\":%" PRIu32 "}",
		firefox->set->ns ? "tracing-ms" : "samples", count);
	return whole;
}

static bool put_cpu(struct firefox *firefox, uint32_t index, char **error)
{
	uint32_t cpu = firefox->cpus.cpus[index];
	FILE *to = firefox->to;
	bool whole;

	fprintf(to, "%s{\"processType\":\"default\",\"processName\":", index ? ",\n" : "\n");
	json_text_put(to, *firefox->set->facts.machine ? firefox->set->facts.machine : "guest");
	fputs(",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,", to);
	fprintf(to, "\"pausedRanges\":[],\"isMainThread\":%s,\"pid\":\"1\",\"tid\":%" PRIu32 ",\"name\":",
		index ? "false" : "true", index + 1);
	if (cpu == SET_NONE)
		fputs("\"no CPU\",\n", to);
	else
		fprintf(to, "\"CPU %" PRIu32 "\",\n", cpu);
	whole = put_samples(firefox, cpu, error);
	fputs(",\n\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
		"\"category\":[]}}", to);
	return whole;
}

/* ---- the file ---- */

static void put_meta(const struct firefox *firefox)
{
	const struct set_facts *facts = &firefox->set->facts;
	FILE *to = firefox->to;

	fprintf(to, "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"product\":", GECKO_VERSION,
		FORMAT_VERSION);
	json_text_put(to, *firefox->writing->title ? firefox->writing->title : "ktop");
	fputs(",\"importedFrom\":\"ktop\",\"interval\":", to);
	put_ms(to, facts->period ? facts->period : NS_PER_MS);
	fputs(",\"startTime\":", to);
	put_ms(to, facts->began ? facts->began + facts->from : 0);
	fputs(",\"profilingStartTime\":0,\"profilingEndTime\":", to);
	put_ms(to, facts->to - facts->from);
	fputs(",\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\"sourceCodeIsNotOnSearchfox\":true", to);
	fputs(",\"keepProfileThreadOrder\":true,\"markerSchema\":[]", to);
	fputs(",\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]}", to);
	fputs(",\n\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}", to);
	if (facts->cpus)
		fprintf(to, ",\"logicalCPUs\":%" PRIu32, facts->cpus);
	fputs(",\"abi\":", to);
	json_text_put(to, facts->arch);
	fputs(",\"oscpu\":", to);
	json_text_put(to, facts->version);
	fputs(",\"platform\":", to);
	json_text_put(to, facts->kernel);
	fprintf(to, ",\"misc\":\"lost:%" PRIu64 "\"", facts->lost);
	fputs(",\n\"categories\":[", to);
	for (unsigned i = 0; i < SET_KINDS; i++)
		fprintf(to, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", i ? "," : "",
			categories[i].name, categories[i].colour);
	fputs("]},\n\"libs\":[],\n\"pages\":[]", to);
}

static bool put_file(struct firefox *firefox, char **error)
{
	bool whole = true;

	put_meta(firefox);
	put_tables(firefox);
	fputs(",\n\"threads\":[", firefox->to);
	for (uint32_t i = 0; i < firefox->cpus.count && whole; i++)
		whole = put_cpu(firefox, i, error);
	fputs("]}\n", firefox->to);
	return whole;
}

static bool write_firefox(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct firefox firefox = {
		.set = set, .writing = writing, .to = writing->to,
		.frame_of = calloc((size_t)set->location_count + 1, sizeof(uint32_t)),
		.stack_of = calloc((size_t)set->stack_count + 1, sizeof(uint32_t)),
	};
	bool whole;

	cpu_list_init(&firefox.cpus, set);
	firefox.columns = (uint64_t)ROW_COLUMNS * firefox.cpus.count;
	if (firefox.frame_of && firefox.stack_of)
		whole = put_file(&firefox, error);
	else
		whole = util_fail(error, "%s", sample_set_no_memory);
	free(firefox.frame_of);
	free(firefox.stack_of);
	cpu_list_clear(&firefox.cpus);
	return whole;
}

const struct set_format format_firefox = {
	.name = "firefox", .ending = ".firefox.json", .about = "profile for Firefox Profiler, a track for each CPU",
	.rows = true, .lines = true, .write = write_firefox,
};
