/* SPDX-License-Identifier: MIT */
/*
 * A profile for Firefox Profiler (profiler.firefox.com): its processed format, version 61. Each CPU is a track. A frame
 * is a function at a location of the set, with what was inlined there. The profile's tables are lists for each column,
 * so the rows are read once for each column of each CPU. A sample weighs its CPU time, in milliseconds.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/name_text.h"
#include "agent/formats/writing/row_reader.h"
#include "agent/formats/writing/set_writing.h"
#include "agent/formats/writing/trace_spans.h"
#include "agent/formats/writing/track_file.h"
#include "agent/samples/sample_set.h"
#include "set_format.h"

/* Markers of a Firefox profile: trace events, and what they tell of threads, interrupts, system calls and locks. */

struct thread_names;

struct firefox_marker {
	uint64_t begin, end;		/* guest ns; equal for an event */
	uint32_t name;			/* of the list of names */
	uint8_t kind;			/* enum span_kind; FIREFOX_EVENT */
	bool lost, open;		/* it ends since events were lost; it has not ended */
	uint8_t untold;			/* of an event alone: bit i: value i is not known */
	/* The event's. Of a span its thread, number, and result, holder or waker; then kind and number of what woke. */
	uint64_t values[TRACE_VALUES];
};

enum { FIREFOX_EVENT = SPAN_KINDS };
enum { FIREFOX_KERNEL, FIREFOX_OTHER = 4, FIREFOX_INTERRUPT };	/* categories (firefox.c) */

/* The names: those of spans, then the kinds of events as they came. */
struct firefox_names {
	const struct set_event_kind **kinds;
	uint32_t count, room;
	bool full;			/* there was no memory for all */
};

/* ---- markers ---- */

#define NUMBER "{\"key\":\"number\",\"label\":\"Number\",\"format\":\"integer\"},"
#define NAME_LABEL "{marker.data.name}"	/* what tables and charts of the profiler show */

/* The fields behind `name` that firefox_marker_put_data writes. */
static const struct { const char *name, *fields; } spans[] = {
	[SPAN_THREAD] = { "running thread", "{\"key\":\"thread\",\"label\":\"Number\",\"format\":\"integer\"}," },
	[SPAN_INTERRUPT] = { "interrupt", NUMBER },
	[SPAN_CALL] = { "system call", NUMBER "{\"key\":\"result\",\"label\":\"Result\",\"format\":\"string\"}," },
	[SPAN_SOFTIRQ] = { "softirq", NUMBER },
	[SPAN_LOCK] = { "lock wait", "{\"key\":\"holder\",\"label\":\"Holder\",\"format\":\"string\"}," },
	[SPAN_HOLD] = { "held lock", "" },
	[SPAN_PAIR] = { "span", "" },
	[SPAN_SLEEP] = { "wait", "" },
	[SPAN_READY] = { "wait for a CPU", "{\"key\":\"waker\",\"label\":\"Woken by\",\"format\":\"string\"}," },
};

enum { SPANS = sizeof(spans) / sizeof(*spans) };

static void firefox_names_clear(struct firefox_names *names, struct budget *budget)
{
	budget_free(budget, names->kinds, names->room * sizeof(const struct set_event_kind *));
}

/* Kinds are few, and events of one kind come in a row. */
static uint32_t firefox_names_of(struct firefox_names *names, struct budget *budget, const struct set_event_kind *kind)
{
	const struct set_event_kind **kinds;

	for (uint32_t i = names->count; i-- > 0;)
		if (names->kinds[i] == kind)
			return SPANS + i;
	kinds = budget_array(budget, names->kinds, names->count, &names->room, sizeof(*kinds));
	names->full = names->full || !kinds;
	if (!kinds)
		return 0;
	names->kinds = kinds;
	kinds[names->count] = kind;
	return SPANS + names->count++;
}

/* Each with a comma before it. */
static void firefox_names_put(const struct firefox_names *names, FILE *to)
{
	for (uint32_t i = 0; i < SPANS; i++)
		fprintf(to, ",\n\"%s\"", spans[i].name);
	for (uint32_t i = 0; i < names->count; i++) {
		fputs(",\n", to);
		json_text_put(to, names->kinds[i]->name);
	}
}

#define DISPLAY "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"]"

static void put_event_schema(const struct set_event_kind *kind, uint32_t number, FILE *to)
{
	fprintf(to, ",\n{\"name\":\"event %" PRIu32 "\",\"tooltipLabel\":\"{marker.name}\",", number);
	fputs("\"tableLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\"," DISPLAY ",\"fields\":[", to);
	for (uint32_t i = 0; i < kind->count; i++) {
		fprintf(to, "%s{\"key\":\"value%" PRIu32 "\",\"label\":", i ? "," : "", i);
		json_text_put(to, kind->values[i].name);
		fputs(",\"format\":\"string\"}", to);
	}
	fputs("]}", to);
}

/* The list of schemas. */
static void firefox_names_put_schemas(const struct firefox_names *names, FILE *to)
{
	putc('[', to);
	for (uint32_t i = 0; i < SPANS; i++) {
		fprintf(to, "%s{\"name\":\"%s\",\"tooltipLabel\":\"" NAME_LABEL "\",", i ? ",\n" : "\n",
			spans[i].name);
		fputs("\"tableLabel\":\"" NAME_LABEL "\",\"chartLabel\":\"" NAME_LABEL "\"," DISPLAY ",\"fields\":["
			"{\"key\":\"name\",\"label\":\"Name\",\"format\":\"string\"},", to);
		fputs(spans[i].fields, to);
		fputs("{\"key\":\"lost\",\"label\":\"Lost\",\"format\":\"string\"},"
			"{\"key\":\"open\",\"label\":\"Under way\",\"format\":\"string\"}]}", to);
	}
	for (uint32_t i = 0; i < names->count; i++)
		put_event_schema(names->kinds[i], i, to);
	putc(']', to);
}

/* Numbers of 64 bits are texts: a reader's numbers are exact up to 53 bits. */
static void put_event(const struct firefox_marker *marker, const struct firefox_names *names, FILE *to)
{
	uint32_t number = marker->name - SPANS;
	const struct set_event_kind *kind = names->kinds[number];

	fprintf(to, "{\"type\":\"event %" PRIu32 "\"", number);
	for (uint32_t i = 0; i < kind->count; i++)
		if (marker->untold & 1u << i)
			continue;
		else if (kind->values[i].is_signed)
			fprintf(to, ",\"value%" PRIu32 "\":\"%" PRId64 "\"", i, (int64_t)marker->values[i]);
		else
			fprintf(to, ",\"value%" PRIu32 "\":\"%" PRIu64 "\"", i, marker->values[i]);
	putc('}', to);
}

/* A marker's fields, and its category. */
static void firefox_marker_put_data(const struct firefox_marker *marker, const struct firefox_names *names,
	const struct sample_set *set, const struct thread_names *threads, FILE *to)
{
	enum span_kind kind = (enum span_kind)marker->kind;
	uint64_t thread = marker->values[0], number = marker->values[1], other = marker->values[2];
	char text[THREAD_NAME], name[TRACE_SPAN_NAME];

	if (marker->kind == FIREFOX_EVENT) {
		put_event(marker, names, to);
		return;
	}
	fprintf(to, "{\"type\":\"%s\",\"name\":", spans[kind].name);
	json_text_put(to, kind == SPAN_THREAD ? thread_names_get(threads, thread, text) :
		trace_span_name(set, kind, number, name));
	if (kind == SPAN_THREAD)
		fprintf(to, ",\"thread\":%" PRIu64, thread);
	else if (kind < SPAN_LOCK)
		fprintf(to, ",\"number\":%" PRIu64, number);
	if (kind == SPAN_LOCK || kind == SPAN_READY) {
		fputs(kind == SPAN_LOCK ? ",\"holder\":" : ",\"waker\":", to);
		json_text_put(to, other < SET_NONE ? thread_names_get(threads, other, text) : !marker->values[3] ? "" :
			trace_span_name(set, (enum span_kind)marker->values[3], marker->values[4], name));
	}
	if (kind == SPAN_CALL && !marker->lost && !marker->open)
		fprintf(to, ",\"result\":\"%" PRId64 "\"", (int64_t)other);
	fputs(marker->open ? ",\"open\":\"not ended\"}" : marker->lost ? ",\"lost\":\"events\"}" : "}", to);
}

static int firefox_marker_category(const struct firefox_marker *marker)
{
	if (span_is_handler((enum span_kind)marker->kind))
		return FIREFOX_INTERRUPT;
	return marker->kind == SPAN_CALL ? FIREFOX_KERNEL : FIREFOX_OTHER;
}

/* ---- firefox ---- */

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

/* Tracks, by number: of each CPU, of what has none, then of each thread of the set. Most CPUs have nothing. */
enum { NO_CPU = TRACE_SPANS_CPUS, THREADS };

struct firefox_tracks {			/* the threads of the profile */
	const struct sample_set *set;
	const struct set_writing *writing;
	struct track_file *rows;	/* struct set_row */
	struct track_file *markers;	/* struct firefox_marker */
	struct firefox_names names;
	struct thread_names threads;
	uint32_t count;			/* of tracks */
	uint32_t first_name;		/* text of the first marker's name */
	uint64_t event_count;		/* of events that were read */
};

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
	firefox->tracks->first_name = firefox->set->function_count ? firefox->set->function_count * FUNCTION_TEXTS : 1;
	firefox_names_put(&firefox->tracks->names, firefox->to);
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

static uint32_t stack_of_sum(const struct firefox *firefox, const struct set_sum *sum)
{
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

/* ---- tracks: reading all samples and events ---- */

static uint32_t track_of_cpu(uint32_t cpu)
{
	return cpu < TRACE_SPANS_CPUS ? cpu : NO_CPU;
}

static bool read_rows(struct firefox_tracks *tracks, char **error)
{
	const struct sample_set *set = tracks->set;
	struct row_reader reader = row_reader_open(set);
	struct set_row row;
	uint64_t count = 0;

	while (row_reader_next(&reader, &row) && !set_writing_step(tracks->writing, count, 2 * set->samples)) {
		const struct set_who *who = &set->sums[row.sum].who;

		track_file_add(tracks->rows, track_of_cpu(who->cpu), &row);
		if (who->thread != SET_NONE)
			track_file_add(tracks->rows, THREADS + who->thread, &row);
		count++;
	}
	return row_reader_close(&reader, error) && track_file_whole(tracks->rows, error);
}

static void no_begin(void *context, const struct trace_span *span)
{
	(void)context;
	(void)span;
}

/* A call is its thread's, and so are waits, locks and pairs of other events; all else is the CPU's. */
static void add_marker(struct firefox_tracks *tracks, const struct trace_span *span, bool open)
{
	bool woken = span->kind == SPAN_READY && span->number == READY_WOKEN;
	const struct firefox_marker marker = {
		.begin = span->begin, .end = span->end, .name = span->kind, .kind = (uint8_t)span->kind,
		.lost = span->lost, .open = open,
		.values = { span->thread, span->number, span->kind == SPAN_LOCK ? span->holder : woken ? span->waker :
			span->kind == SPAN_READY ? SET_NONE : span->result,
			woken ? span->woken_in_kind : 0, woken ? span->woken_in : 0 },
	};
	bool of_thread = span->kind != SPAN_THREAD && !span_is_handler(span->kind);
	uint32_t thread = of_thread ? thread_names_find(&tracks->threads, span->thread) : SET_NONE;

	track_file_add(tracks->markers, thread == SET_NONE ? span->cpu : THREADS + thread, &marker);
}

static void add_span(void *context, const struct trace_span *span)
{
	add_marker(context, span, false);
}

static void add_open(void *context, const struct trace_span *span)
{
	add_marker(context, span, true);
}

static void add_event_marker(struct firefox_tracks *tracks, const struct set_event *event, uint64_t begin,
	uint32_t untold)
{
	struct firefox_marker marker = {
		.begin = begin, .end = event->time, .kind = FIREFOX_EVENT, .untold = (uint8_t)untold,
		.name = firefox_names_of(&tracks->names, tracks->set->budget, event->kind),
	};

	memcpy(marker.values, event->values, event->kind->count * sizeof(*event->values));
	if (!tracks->names.full)
		track_file_add(tracks->markers, event->cpu, &marker);
}

static void add_event(void *context, const struct set_event *event)
{
	add_event_marker(context, event, event->time, 0);
}

static void add_alone(void *context, const struct set_event *event, uint32_t untold)
{
	add_event_marker(context, event, event->time, untold);
}

static void add_lost(void *context, const struct set_event *event, uint64_t since)
{
	add_event_marker(context, event, since, 0);
}

static bool stop_reading(void *context)
{
	struct firefox_tracks *tracks = context;
	uint64_t count = tracks->event_count++;

	return set_writing_step(tracks->writing, count, 2 * count + 2);
}

static bool read_events(struct firefox_tracks *tracks, char **error)
{
	const struct trace_spans_sink sink = {
		tracks, no_begin, add_span, add_open, add_event, add_alone, add_lost, stop_reading,
	};

	return trace_spans_read(tracks->set, &sink, error) &&
		track_file_whole(tracks->markers, error) &&
		(!tracks->names.full || util_fail(error, "%s", sample_set_no_memory));
}

static void tracks_free(struct firefox_tracks *tracks)
{
	if (!tracks)
		return;
	track_file_free(tracks->rows);
	track_file_free(tracks->markers);
	firefox_names_clear(&tracks->names, tracks->set->budget);
	thread_names_clear(&tracks->threads);
	free(tracks);
}

/* NULL with `error` set. */
static struct firefox_tracks *tracks_new(const struct sample_set *set, const struct set_writing *writing,
	char **error)
{
	struct firefox_tracks *tracks = util_alloc(sizeof(*tracks));

	*tracks = (struct firefox_tracks) { .set = set, .writing = writing, .count = THREADS + set->thread_count };
	tracks->rows = track_file_new(set->budget, tracks->count, sizeof(struct set_row));
	tracks->markers = track_file_new(set->budget, tracks->count, sizeof(struct firefox_marker));
	thread_names_init(&tracks->threads, set);
	if (tracks->rows && tracks->markers && read_rows(tracks, error) && read_events(tracks, error))
		return tracks;
	if (!tracks->rows || !tracks->markers)
		util_fail(error, "%s", sample_set_no_memory);
	tracks_free(tracks);
	return NULL;
}

/* ---- tracks: columns ---- */

static void put_ms(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_MS, ns % NS_PER_MS);
}

struct column {
	const struct firefox *firefox;
	const struct firefox_tracks *tracks;
	FILE *to;
	bool begun;			/* a value has been written */
};

static const struct set_sum *sum_of(const struct column *column, const void *record)
{
	const struct set_row *row = record;

	return &column->tracks->set->sums[row->sum];
}

static void put_time(const struct column *column, uint64_t time)
{
	uint64_t from = column->tracks->set->facts.from;

	put_ms(column->to, time > from ? time - from : 0);
}

static void put_comma(struct column *column)
{
	if (column->begun)
		putc(',', column->to);
	column->begun = true;
}

static void put_row_stack(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	fprintf(column->to, "%" PRIu32, stack_of_sum(column->firefox, sum_of(column, record)));
}

static void put_row_time(void *context, const void *record)
{
	put_comma(context);
	put_time(context, ((const struct set_row *)record)->time);
}

static void put_row_weight(void *context, const void *record)
{
	struct column *column = context;
	const struct set_row *row = record;

	put_comma(column);
	if (column->tracks->set->ns)
		put_ms(column->to, row->ns);
	else
		fprintf(column->to, "%" PRIu64, row->samples);
}

/* The CPU time that was used, from which the track's graph is drawn: none while the CPU was idle. */
static void put_row_busy(void *context, const void *record)
{
	struct column *column = context;
	const struct set_row *row = record;
	const struct set_function *leaf = sample_set_leaf(column->tracks->set, sum_of(column, record)->stack);

	put_comma(column);
	fprintf(column->to, "%" PRIu64, leaf->kind == SET_IDLE ? 0 : row->ns);
}

static void put_marker_data(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	firefox_marker_put_data(record, &column->tracks->names, column->tracks->set, &column->tracks->threads,
		column->to);
}

static void put_marker_name(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	fprintf(column->to, "%" PRIu32, column->tracks->first_name + ((const struct firefox_marker *)record)->name);
}

static void put_marker_begin(void *context, const void *record)
{
	put_comma(context);
	put_time(context, ((const struct firefox_marker *)record)->begin);
}

static bool is_instant(const struct firefox_marker *marker)
{
	return marker->kind == FIREFOX_EVENT && marker->begin == marker->end;
}

static void put_marker_end(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	if (is_instant(record))
		fputs("null", column->to);
	else
		put_time(column, ((const struct firefox_marker *)record)->end);
}

/* 0: an instant; 1: an interval. */
static void put_marker_phase(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	putc(is_instant(record) ? '0' : '1', column->to);
}

static void put_marker_category(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	fprintf(column->to, "%d", firefox_marker_category(record));
}

/* ---- tracks: tables ---- */

static void put_track_column(struct column *column, struct track_file *file, uint32_t track, const char *name,
	void (*put)(void *context, const void *record))
{
	fprintf(column->to, "\n\"%s\":[", name);
	column->begun = false;
	track_file_read(file, track, put, column);
	fputs("],", column->to);
}

static void put_samples(struct column *column, uint32_t track)
{
	struct track_file *rows = column->tracks->rows;

	fputs("\"samples\":{", column->to);
	put_track_column(column, rows, track, "stack", put_row_stack);
	put_track_column(column, rows, track, "time", put_row_time);
	put_track_column(column, rows, track, "weight", put_row_weight);
	put_track_column(column, rows, track, "threadCPUDelta", put_row_busy);
	fprintf(column->to, "\n\"weightType\":\"%s\",\"length\":%" PRIu64 "}",
		column->tracks->set->ns ? "tracing-ms" : "samples", track_file_count(rows, track));
}

static void put_markers(struct column *column, uint32_t track)
{
	struct track_file *markers = column->tracks->markers;

	fputs(",\n\"markers\":{", column->to);
	put_track_column(column, markers, track, "data", put_marker_data);
	put_track_column(column, markers, track, "name", put_marker_name);
	put_track_column(column, markers, track, "startTime", put_marker_begin);
	put_track_column(column, markers, track, "endTime", put_marker_end);
	put_track_column(column, markers, track, "phase", put_marker_phase);
	put_track_column(column, markers, track, "category", put_marker_category);
	fprintf(column->to, "\n\"length\":%" PRIu64 "}}", track_file_count(markers, track));
}

/* ---- tracks: the list of them ---- */

/* CPUs are threads of a process of their own. */
static void put_cpu(const struct column *column, uint32_t track, bool first)
{
	const struct set_facts *facts = &column->tracks->set->facts;
	FILE *to = column->to;
	char name[32];

	json_text_put(to, *facts->machine ? facts->machine : "guest");
	if (track == NO_CPU)
		util_print(name, sizeof(name), "no CPU");
	else
		util_print(name, sizeof(name), "CPU %" PRIu32, track);
	fprintf(to, ",\"pid\":\"CPUs\",\"tid\":\"%s\",\"isMainThread\":%s,\"name\":\"%s\"", name,
		first ? "true" : "false", name);
}

/* The main thread has the number of its process, and there is one: threads that were renamed are several. */
static void put_thread(const struct column *column, uint32_t index)
{
	const struct set_thread *thread = &column->tracks->set->threads[index];
	bool main = thread->id == thread->process && thread->id != SET_NONE &&
		thread_names_find(&column->tracks->threads, thread->id) == index;
	FILE *to = column->to;

	json_text_put(to, *thread->process_name ? thread->process_name : "[no process]");
	if (thread->process == SET_NONE)
		fputs(",\"pid\":\"none\"", to);
	else
		fprintf(to, ",\"pid\":\"%" PRIu32 "\"", thread->process);
	if (thread->id == SET_NONE)
		fprintf(to, ",\"tid\":\"thread %" PRIu32 "\"", index);
	else
		fprintf(to, ",\"tid\":%" PRIu32, thread->id);
	fprintf(to, ",\"isMainThread\":%s,\"name\":", main ? "true" : "false");
	json_text_put(to, thread->name);
}

static bool is_used(const struct firefox_tracks *tracks, uint32_t track)
{
	return track_file_count(tracks->rows, track) || track_file_count(tracks->markers, track);
}

static void put_track(struct column *column, uint32_t track, bool first)
{
	fprintf(column->to, "%s{\"processType\":\"default\",\"processName\":", first ? "\n" : ",\n");
	if (track < THREADS)
		put_cpu(column, track, first);
	else
		put_thread(column, track - THREADS);
	fputs(",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		"\"pausedRanges\":[],\"showMarkersInTimeline\":true,\n", column->to);
	put_samples(column, track);
	put_markers(column, track);
}

static bool put_tracks(const struct firefox *firefox, char **error)
{
	struct firefox_tracks *tracks = firefox->tracks;
	FILE *to = firefox->to;
	struct column column = { .firefox = firefox, .tracks = tracks, .to = to };
	bool first = true;

	putc('[', to);
	for (uint32_t i = 0; i < tracks->count && !set_writing_step(tracks->writing, tracks->count + i,
			2 * (uint64_t)tracks->count); i++)
		if (is_used(tracks, i)) {
			put_track(&column, i, first);
			first = false;
		}
	putc(']', to);
	return track_file_whole(tracks->rows, error) && track_file_whole(tracks->markers, error);
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
	fputs(",\"keepProfileThreadOrder\":true,\"markerSchema\":", to);
	firefox_names_put_schemas(&firefox->tracks->names, to);
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
	whole = put_tracks(firefox, error);
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
	else if ((firefox.tracks = tracks_new(set, writing, error)))
		whole = put_file(&firefox, error);
	tracks_free(firefox.tracks);
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
	.events = true,
	.lines = true,
	.write = write_firefox,
};
