/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/samples/sample_set.h"
#include "chrome.h"
#include "chrome_events.h"
#include "agent/formats/writing/cpu_list.h"
#include "agent/formats/writing/frame_list.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/row_reader.h"
#include "agent/formats/writing/text_list.h"

/* An event that is not over. Of the thread's, `function` is an index of threads. */
struct open_event {
	uint32_t function;
	uint64_t samples, ns;
};

struct track {
	struct open_event *events;	/* the thread's, then those of functions, the root first */
	uint32_t count, room;
	uint64_t end;			/* of its last sample */
};

struct chrome {
	const struct sample_set *set;
	FILE *to;
	struct cpu_list cpus;
	struct track *tracks;		/* by index in `cpus` */
	struct frame_list frames;
	struct text_list functions;	/* names and kinds */
};

static void put_function(FILE *to, const void *context, uint32_t index)
{
	static const char *const kinds[SET_KINDS] = { "kernel", "module", "user", "idle", "unknown" };
	const struct sample_set *set = context;

	json_text_put(to, set->functions[index].name);
	fprintf(to, ",\"cat\":\"%s\"", kinds[set->functions[index].kind]);
}

static void put_thread(const struct chrome *chrome, uint32_t index)
{
	json_text_put(chrome->to, index == SET_NONE ? "[no thread]" : chrome->set->threads[index].name);
	fputs(",\"cat\":\"thread\"", chrome->to);
}

/*
 * Beginnings and ends are events of their own, in the order in which they lie inside of each other. An event with a
 * duration would be ambiguous: which of two that last equally long is inside of the other? And tools add times as
 * floating point numbers: an end may then come behind the next beginning. The end has the name, too: some tools
 * compare it.
 */
static void put_event(const struct chrome *chrome, uint32_t track, uint32_t depth, const char *phase, uint64_t time)
{
	const struct open_event *event = &chrome->tracks[track].events[depth];

	fprintf(chrome->to, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%" PRIu32, phase, track + 1);
	fprintf(chrome->to, ",\"ts\":%" PRIu64 ".%03" PRIu64 ",\"name\":", time / 1000, time % 1000);
	if (depth)
		text_list_put(&chrome->functions, event->function, chrome->to);
	else
		put_thread(chrome, event->function);
}

static void put_args(const struct chrome *chrome, const struct open_event *event, bool thread)
{
	fprintf(chrome->to, ",\"args\":{\"samples\":%" PRIu64 ",\"ns\":%" PRIu64, event->samples, event->ns);
	if (thread && event->function != SET_NONE && chrome->set->threads[event->function].id != SET_NONE)
		fprintf(chrome->to, ",\"thread\":%" PRIu32, chrome->set->threads[event->function].id);
	fputs("}}", chrome->to);
}

/* Ends events until so many are left, the innermost first. */
static void end_events(struct chrome *chrome, uint32_t index, uint32_t left)
{
	struct track *track = &chrome->tracks[index];

	while (track->count > left) {
		put_event(chrome, index, --track->count, "E", track->end);
		put_args(chrome, &track->events[track->count], track->count == 0);
	}
}

static void begin_event(struct chrome *chrome, uint32_t index, uint32_t function, uint64_t begin)
{
	struct track *track = &chrome->tracks[index];

	if (track->count == track->room) {
		track->room = 2 * track->room + 64;
		track->events = util_grow(track->events, track->room, sizeof(*track->events));
	}
	track->events[track->count] = (struct open_event) { .function = function };
	put_event(chrome, index, track->count++, "B", begin);
	putc('}', chrome->to);
}

/* How many of the open events the row is in, too: its thread and frames, from the root on. */
static uint32_t common_events(const struct chrome *chrome, const struct track *track, uint32_t thread)
{
	uint32_t same = 0;

	if (track->count == 0 || track->events[0].function != thread)
		return 0;
	while (same + 1 < track->count && same < chrome->frames.count &&
		track->events[same + 1].function == chrome->frames.frames[same].function)
		same++;
	return same + 1;
}

/*
 * When a row began that ends now. A sample stands for the time before it. Samples do not come at equal distances: less
 * than a period that nothing stands for is no gap. Rows of one time, where times are rounded, follow each other.
 */
static uint64_t begin_of(const struct set_facts *facts, const struct track *track, const struct set_row *row)
{
	uint64_t begin;

	if (facts->grain)
		return row->time > track->end ? row->time : track->end;
	begin = row->time > row->ns ? row->time - row->ns : 0;
	return begin <= track->end + facts->period ? track->end : begin;
}

static void add_row(struct chrome *chrome, const struct set_row *row)
{
	const struct set_facts *facts = &chrome->set->facts;
	const struct set_sum *sum = &chrome->set->sums[row->sum];
	uint32_t index = cpu_list_index(&chrome->cpus, sum->who.cpu), same;
	struct track *track = &chrome->tracks[index];
	uint64_t begin = begin_of(facts, track, row);

	frame_list_read(&chrome->frames, chrome->set, sum->stack);
	same = begin == track->end ? common_events(chrome, track, sum->who.thread) : 0;
	end_events(chrome, index, same);
	if (same == 0)
		begin_event(chrome, index, sum->who.thread, begin);
	for (uint32_t i = track->count - 1; i < chrome->frames.count; i++)
		begin_event(chrome, index, chrome->frames.frames[i].function, begin);
	track->end = facts->grain ? begin + row->ns : row->time > begin ? row->time : begin;
	for (uint32_t i = 0; i < track->count; i++) {
		track->events[i].samples += row->samples;
		track->events[i].ns += row->ns;
	}
}

static void put_text_fact(FILE *to, const char *before, const char *name, const char *text)
{
	fprintf(to, "%s\"%s\":", before, name);
	json_text_put(to, text);
}

static void put_head(const struct chrome *chrome, const char *title)
{
	const struct set_facts *facts = &chrome->set->facts;
	FILE *to = chrome->to;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{", to);
	put_text_fact(to, "", "title", title);
	put_text_fact(to, ",", "machine", facts->machine);
	put_text_fact(to, ",", "kernel", facts->kernel);
	put_text_fact(to, ",", "version", facts->version);
	put_text_fact(to, ",", "arch", facts->arch);
	fprintf(to, ",\"samples\":\"%" PRIu64 "\",\"lost\":\"%" PRIu64 "\"", chrome->set->samples, facts->lost);
	fprintf(to, ",\"events_lost\":\"%" PRIu64 "\"", facts->events_lost);
	fprintf(to, ",\"period_ns\":\"%" PRIu64 "\",\"grain_ns\":\"%" PRIu64 "\"},\n", facts->period, facts->grain);
	fputs("\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":", to);
	json_text_put(to, *facts->machine ? facts->machine : "guest");
	fputs("}}", to);
	for (uint32_t i = 0; i < chrome->cpus.count; i++) {
		fprintf(to,
			",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32 ",\"name\":\"thread_name\",\"args\":{\"name\":",
			i + 1);
		if (chrome->cpus.cpus[i] == SET_NONE)
			fputs("\"no CPU\"}}", to);
		else
			fprintf(to, "\"CPU %" PRIu32 "\"}}", chrome->cpus.cpus[i]);
	}
}

static bool put_file(struct chrome *chrome, const struct set_writing *writing, char **error)
{
	struct row_reader reader = row_reader_open(chrome->set);
	struct set_row row;
	uint64_t count = 0;
	bool whole;

	put_head(chrome, writing->title);
	while (row_reader_next(&reader, &row) && !set_writing_step(writing, count++, chrome->set->samples))
		add_row(chrome, &row);
	for (uint32_t i = 0; i < chrome->cpus.count; i++)
		end_events(chrome, i, 0);
	whole = row_reader_close(&reader, error) && chrome_events_put(chrome->set, writing, error);
	fputs("\n]}\n", writing->to);
	return whole;
}

static bool write_chrome(const struct sample_set *set, const struct set_writing *writing, char **error)
{
	struct chrome chrome = { .set = set, .to = writing->to };
	bool whole;

	cpu_list_init(&chrome.cpus, set);
	chrome.tracks = util_alloc((chrome.cpus.count + 1) * sizeof(*chrome.tracks));
	if (text_list_make(&chrome.functions, set->function_count, put_function, set))
		whole = put_file(&chrome, writing, error);
	else
		whole = util_fail(error, "%s", sample_set_no_memory);
	for (uint32_t i = 0; i < chrome.cpus.count; i++)
		free(chrome.tracks[i].events);
	free(chrome.tracks);
	cpu_list_clear(&chrome.cpus);
	frame_list_clear(&chrome.frames);
	text_list_clear(&chrome.functions);
	return whole;
}

const struct set_format format_chrome = {
	.name = "chrome",
	.ending = ".trace.json",
	.about = "trace for Perfetto and chrome://tracing, a track for each CPU",
	.rows = true,
	.lines = true,
	.write = write_chrome,
};
