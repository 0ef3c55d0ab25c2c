/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/row_reader.h"
#include "agent/formats/writing/thread_names.h"
#include "agent/formats/writing/trace_spans.h"
#include "agent/formats/writing/track_file.h"
#include "agent/samples/sample_set.h"
#include "firefox_markers.h"
#include "firefox_tracks.h"
#include "agent/formats/writing/set_writing.h"

/* Tracks, by number: of each CPU, of what has none, then of each thread of the set. Most CPUs have nothing. */
enum { NO_CPU = TRACE_SPANS_CPUS, THREADS };

struct firefox_tracks {
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

/* ---- reading ---- */

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

/* A call is its thread's; all else is the CPU's. */
static void add_span(void *context, const struct trace_span *span)
{
	struct firefox_tracks *tracks = context;
	const struct firefox_marker marker = {
		.begin = span->begin, .end = span->end, .name = span->kind, .kind = (uint8_t)span->kind,
		.lost = span->lost, .values = { span->thread, span->number, span->result },
	};
	uint32_t thread = span->kind == SPAN_CALL ? thread_names_find(&tracks->threads, span->thread) : SET_NONE;

	track_file_add(tracks->markers, thread == SET_NONE ? span->cpu : THREADS + thread, &marker);
}

static void add_event(void *context, const struct set_event *event)
{
	struct firefox_tracks *tracks = context;
	struct firefox_marker marker = {
		.begin = event->time, .end = event->time, .kind = FIREFOX_EVENT,
		.name = firefox_names_of(&tracks->names, tracks->set->budget, event->kind),
	};

	memcpy(marker.values, event->values, event->kind->count * sizeof(*event->values));
	if (!tracks->names.full)
		track_file_add(tracks->markers, event->cpu, &marker);
}

static bool stop(void *context)
{
	struct firefox_tracks *tracks = context;
	uint64_t count = tracks->event_count++;

	return set_writing_step(tracks->writing, count, 2 * count + 2);
}

static bool read_events(struct firefox_tracks *tracks, char **error)
{
	const struct trace_spans_sink sink = { tracks, no_begin, add_span, add_event, stop };

	return trace_spans_read(tracks->set, &sink, error) &&
		track_file_whole(tracks->markers, error) &&
		(!tracks->names.full || util_fail(error, "%s", sample_set_no_memory));
}

struct firefox_tracks *firefox_tracks_new(const struct sample_set *set, const struct set_writing *writing,
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
	firefox_tracks_free(tracks);
	return NULL;
}

void firefox_tracks_free(struct firefox_tracks *tracks)
{
	if (!tracks)
		return;
	track_file_free(tracks->rows);
	track_file_free(tracks->markers);
	firefox_names_clear(&tracks->names, tracks->set->budget);
	thread_names_clear(&tracks->threads);
	free(tracks);
}

void firefox_tracks_put_schemas(const struct firefox_tracks *tracks, FILE *to)
{
	firefox_names_put_schemas(&tracks->names, to);
}

void firefox_tracks_put_names(struct firefox_tracks *tracks, FILE *to, uint32_t first)
{
	tracks->first_name = first;
	firefox_names_put(&tracks->names, to);
}

/* ---- columns ---- */

void firefox_put_ms(FILE *to, uint64_t ns)
{
	fprintf(to, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_MS, ns % NS_PER_MS);
}

struct column {
	const struct firefox_tracks *tracks;
	FILE *to;
	uint32_t (*stack_of)(const void *context, const struct set_sum *sum);
	const void *context;
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

	firefox_put_ms(column->to, time > from ? time - from : 0);
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
	fprintf(column->to, "%" PRIu32, column->stack_of(column->context, sum_of(column, record)));
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
		firefox_put_ms(column->to, row->ns);
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
	firefox_marker_put_data(record, &column->tracks->names, &column->tracks->threads, column->to);
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

static bool is_event(const struct firefox_marker *marker)
{
	return marker->kind == FIREFOX_EVENT;
}

static void put_marker_end(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	if (is_event(record))
		fputs("null", column->to);
	else
		put_time(column, ((const struct firefox_marker *)record)->end);
}

/* 0: an instant; 1: an interval. */
static void put_marker_phase(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	putc(is_event(record) ? '0' : '1', column->to);
}

static void put_marker_category(void *context, const void *record)
{
	struct column *column = context;

	put_comma(column);
	fprintf(column->to, "%d", firefox_marker_category(record));
}

/* ---- tables ---- */

static void put_column(struct column *column, struct track_file *file, uint32_t track, const char *name,
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
	put_column(column, rows, track, "stack", put_row_stack);
	put_column(column, rows, track, "time", put_row_time);
	put_column(column, rows, track, "weight", put_row_weight);
	put_column(column, rows, track, "threadCPUDelta", put_row_busy);
	fprintf(column->to, "\n\"weightType\":\"%s\",\"length\":%" PRIu64 "}",
		column->tracks->set->ns ? "tracing-ms" : "samples", track_file_count(rows, track));
}

static void put_markers(struct column *column, uint32_t track)
{
	struct track_file *markers = column->tracks->markers;

	fputs(",\n\"markers\":{", column->to);
	put_column(column, markers, track, "data", put_marker_data);
	put_column(column, markers, track, "name", put_marker_name);
	put_column(column, markers, track, "startTime", put_marker_begin);
	put_column(column, markers, track, "endTime", put_marker_end);
	put_column(column, markers, track, "phase", put_marker_phase);
	put_column(column, markers, track, "category", put_marker_category);
	fprintf(column->to, "\n\"length\":%" PRIu64 "}}", track_file_count(markers, track));
}

/* ---- tracks ---- */

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

bool firefox_tracks_put(struct firefox_tracks *tracks, FILE *to,
	uint32_t (*stack_of)(const void *context, const struct set_sum *sum), const void *context, char **error)
{
	struct column column = { .tracks = tracks, .to = to, .stack_of = stack_of, .context = context };
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
