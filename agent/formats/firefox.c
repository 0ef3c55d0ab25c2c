/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "firefox.h"
#include "firefox_markers.h"
#include "firefox_tracks.h"
#include "agent/formats/writing/json_text.h"

enum { FORMAT_VERSION = 61, GECKO_VERSION = 27 };

/*
 * The categories: by kind of function, and that of interrupts, also of the work that these put off. It is that of the
 * leaf of a stack that ran in one. The grey one is the default.
 */
enum { CATEGORIES = SET_KINDS + 1 };

static const struct { const char *name, *colour; } categories[CATEGORIES] = {
	[SET_KERNEL] = { "Kernel", "orange" }, [SET_MODULE] = { "Module", "brown" }, [SET_USER] = { "User", "yellow" },
	[SET_IDLE] = { "Idle", "transparent" }, [SET_UNKNOWN] = { "Other", "grey" },
	[FIREFOX_INTERRUPT] = { "Interrupt", "red" },
};

_Static_assert((int)FIREFOX_INTERRUPT == (int)SET_KINDS && (int)FIREFOX_OTHER == (int)SET_UNKNOWN &&
	(int)FIREFOX_KERNEL == (int)SET_KERNEL, "markers have these categories");

enum { FUNCTION_TEXTS = 3 };		/* of each function in the list of texts: its name, file and object */

struct firefox {
	const struct sample_set *set;
	const struct set_writing *writing;
	FILE *to;
	struct firefox_tracks *tracks;
	uint32_t *frame_of;		/* by location: the frame of its outermost function; those inlined follow */
	uint32_t *stack_of;		/* by stack: the number of the profile's stack that ends with it */
	uint32_t *interrupt_of;		/* by stack: the same, of an interrupt; SET_NONE: none ran there */
	uint32_t *interrupts;		/* these stacks of the set; each has a frame and a stack of its own */
	uint32_t interrupt_count, frame_count;	/* how many they are; frames of locations */
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
	fputs(firefox->set->function_count ? "" : "\"\"", firefox->to);
	firefox_tracks_put_names(firefox->tracks, firefox->to,
		firefox->set->function_count ? firefox->set->function_count * FUNCTION_TEXTS : 1);
	putc(']', firefox->to);
}

/* ---- frames: the lines of all locations, those of a location from its outermost function inwards ---- */

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

static const struct set_location *leaf_of(const struct firefox *firefox, uint32_t stack)
{
	return &firefox->set->locations[firefox->set->stacks[stack].location];
}

/* The frames of interrupts are those of their leaves once more, in the category of their own. */
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
	for (uint32_t i = 0; i < firefox->interrupt_count; i++) {
		const struct set_location *leaf = leaf_of(firefox, firefox->interrupts[i]);

		putc(',', firefox->to);
		put_number(firefox, number == frame_category ? FIREFOX_INTERRUPT :
			number(firefox, leaf, leaf->count - 1));
	}
	putc(']', firefox->to);
}

static void put_frames(const struct firefox *firefox)
{
	uint32_t count = firefox->frame_count + firefox->interrupt_count;

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

static void put_prefix(const struct firefox *firefox, uint32_t parent)
{
	if (parent == SET_NONE)
		fputs("null", firefox->to);
	else
		fprintf(firefox->to, "%" PRIu32, firefox->stack_of[parent]);
}

static void put_stack_frames(const struct firefox *firefox)
{
	const struct sample_set *set = firefox->set;
	const char *before = "";

	fputs(",\n\"frame\":[", firefox->to);
	for (uint32_t i = 0; i < set->stack_count; i++)
		for (uint32_t depth = 0; depth < leaf_of(firefox, i)->count; depth++) {
			fprintf(firefox->to, "%s%" PRIu32, before, firefox->frame_of[set->stacks[i].location] + depth);
			before = ",";
		}
	for (uint32_t i = 0; i < firefox->interrupt_count; i++)
		fprintf(firefox->to, ",%" PRIu32, firefox->frame_count + i);
	putc(']', firefox->to);
}

static void put_stacks(const struct firefox *firefox, uint32_t count)
{
	const struct sample_set *set = firefox->set;

	fprintf(firefox->to, ",\n\"stackTable\":{\"length\":%" PRIu32, count + firefox->interrupt_count);
	put_stack_frames(firefox);
	fputs(",\n\"prefix\":[", firefox->to);
	for (uint32_t i = 0; i < set->stack_count; i++) {
		uint32_t inlined = leaf_of(firefox, i)->count - 1;

		if (i)
			putc(',', firefox->to);
		put_prefix(firefox, set->stacks[i].parent);
		for (uint32_t depth = 0; depth < inlined; depth++)
			fprintf(firefox->to, ",%" PRIu32, firefox->stack_of[i] - inlined + depth);
	}
	for (uint32_t i = 0; i < firefox->interrupt_count; i++) {
		uint32_t stack = firefox->interrupts[i];

		putc(',', firefox->to);
		if (leaf_of(firefox, stack)->count > 1)
			fprintf(firefox->to, "%" PRIu32, firefox->stack_of[stack] - 1);
		else
			put_prefix(firefox, set->stacks[stack].parent);
	}
	fputs("]}", firefox->to);
}

static bool is_interrupt(uint8_t mode)
{
	const char *name = sample_set_mode(mode);

	return strcmp(name, "irq") == 0 || strcmp(name, "softirq") == 0;
}

/* Numbers all frames and stacks. Returns how many stacks there are without those of interrupts. */
static uint32_t number_all(struct firefox *firefox)
{
	const struct sample_set *set = firefox->set;
	uint32_t stacks = 0;

	for (uint32_t i = 0; i < set->location_count; i++) {
		firefox->frame_of[i] = firefox->frame_count;
		firefox->frame_count += set->locations[i].count;
	}
	for (uint32_t i = 0; i < set->stack_count; i++) {
		stacks += leaf_of(firefox, i)->count;
		firefox->stack_of[i] = stacks - 1;
		firefox->interrupt_of[i] = SET_NONE;
	}
	for (uint32_t i = 0; i < set->sum_count; i++) {
		uint32_t stack = set->sums[i].stack;

		if (!is_interrupt(set->sums[i].who.mode) || firefox->interrupt_of[stack] != SET_NONE)
			continue;
		firefox->interrupt_of[stack] = stacks + firefox->interrupt_count;
		firefox->interrupts[firefox->interrupt_count++] = stack;
	}
	return stacks;
}

static uint32_t stack_of_sum(const void *context, const struct set_sum *sum)
{
	const struct firefox *firefox = context;

	return is_interrupt(sum->who.mode) ? firefox->interrupt_of[sum->stack] : firefox->stack_of[sum->stack];
}

static void put_tables(struct firefox *firefox)
{
	uint32_t stacks = number_all(firefox);

	fputs(",\n\"shared\":{\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[]", firefox->to);
	fputs(",\"name\":[],\"functionSize\":[]}", firefox->to);
	put_stacks(firefox, stacks);
	put_frames(firefox);
	put_functions(firefox);
	put_texts(firefox);
	putc('}', firefox->to);
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
	firefox_put_ms(to, facts->period ? facts->period : NS_PER_MS);
	fputs(",\"startTime\":", to);
	firefox_put_ms(to, facts->began ? facts->began + facts->from : 0);
	fputs(",\"profilingStartTime\":0,\"profilingEndTime\":", to);
	firefox_put_ms(to, facts->to - facts->from);
	fputs(",\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\"sourceCodeIsNotOnSearchfox\":true", to);
	fputs(",\"keepProfileThreadOrder\":true,\"markerSchema\":", to);
	firefox_tracks_put_schemas(firefox->tracks, to);
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
	fprintf(to, ",\"misc\":\"lost:%" PRIu64 " events_lost:%" PRIu64 "\"", facts->lost, facts->events_lost);
	fputs(",\n\"categories\":[", to);
	for (unsigned i = 0; i < CATEGORIES; i++)
		fprintf(to, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", i ? "," : "",
			categories[i].name, categories[i].colour);
	fputs("]},\n\"libs\":[],\n\"pages\":[]", to);
}

static bool put_file(struct firefox *firefox, char **error)
{
	bool whole;

	put_meta(firefox);
	put_tables(firefox);
	fputs(",\n\"threads\":", firefox->to);
	whole = firefox_tracks_put(firefox->tracks, firefox->to, stack_of_sum, firefox, error);
	fputs("}\n", firefox->to);
	return whole;
}

static bool write_firefox(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	size_t stacks = (size_t)set->stack_count + 1;
	struct firefox firefox = {
		.set = set, .writing = writing, .to = writing->to,
		.frame_of = calloc((size_t)set->location_count + 1, sizeof(uint32_t)),
		.stack_of = calloc(stacks, sizeof(uint32_t)), .interrupt_of = calloc(stacks, sizeof(uint32_t)),
		.interrupts = calloc(stacks, sizeof(uint32_t)),
	};
	bool whole = false;

	if (!firefox.frame_of || !firefox.stack_of || !firefox.interrupt_of || !firefox.interrupts)
		util_fail(error, "%s", sample_set_no_memory);
	else if ((firefox.tracks = firefox_tracks_new(set, writing, error)))
		whole = put_file(&firefox, error);
	firefox_tracks_free(firefox.tracks);
	free(firefox.frame_of);
	free(firefox.stack_of);
	free(firefox.interrupt_of);
	free(firefox.interrupts);
	return whole;
}

const struct set_format format_firefox = {
	.name = "firefox",
	.ending = ".firefox.json",
	.about = "profile for Firefox Profiler, tracks of CPUs and threads",
	.rows = true,
	.lines = true,
	.write = write_firefox,
};
