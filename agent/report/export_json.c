/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/names/threads.h"
#include "agent/query/stop.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "report.h"

enum { CALLERS = 8 };

/*
 * A report goes out member by member, and a list row by row: it may be far larger than the memory
 * that is left.
 */
struct writer {
	FILE *out;
	const char *before;		/* what goes before the next member or row */
	bool failed;			/* no memory for one */
};

static const char *const mode_names[MODES] = { "kernel", "user", "idle" };
static const char *const stream_names[STREAMS] = { "meta", "samples", "trace" };

static void add_count(cJSON *object, const char *name, uint64_t count)
{
	cJSON_AddNumberToObject(object, name, (double)count);
}

/* Takes the value. */
static void put_value(struct writer *writer, cJSON *value)
{
	char *text = cJSON_PrintUnformatted(value);

	writer->failed |= !text;
	fputs(text ? text : "null", writer->out);
	cJSON_free(text);
	cJSON_Delete(value);
}

/* Names need no escapes: they are ours. */
static void put_member(struct writer *writer, const char *name, cJSON *value)
{
	fprintf(writer->out, "%s\"%s\": ", writer->before, name);
	put_value(writer, value);
	writer->before = ",\n";
}

static void begin_list(struct writer *writer, const char *name)
{
	fprintf(writer->out, "%s\"%s\": [", writer->before, name);
	writer->before = "\n";
}

static void put_row(struct writer *writer, cJSON *row)
{
	fputs(writer->before, writer->out);
	put_value(writer, row);
	writer->before = ",\n";
}

static void end_list(struct writer *writer)
{
	fputs("]", writer->out);
	writer->before = ",\n";
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_guest(struct writer *writer, const struct epoch *epoch)
{
	cJSON *guest = cJSON_CreateObject();

	cJSON_AddStringToObject(guest, "kernel", epoch->kernel);
	cJSON_AddStringToObject(guest, "version", epoch->version);
	cJSON_AddStringToObject(guest, "arch", epoch->arch);
	add_count(guest, "cpus", epoch->cpu_count);
	add_count(guest, "clock_hz", epoch->clock_hz);
	put_member(writer, "guest", guest);
}

static void put_count(struct writer *writer, const char *name, uint64_t count)
{
	put_member(writer, name, cJSON_CreateNumber((double)count));
}

static void put_text(struct writer *writer, const char *name, const char *text)
{
	put_member(writer, name, cJSON_CreateString(text));
}

static void put_profiler(struct writer *writer, const struct report *report)
{
	const struct status *status = &report->status;
	char remarks[REMARKS_SIZE];

	put_text(writer, "sampler", status->sampler == SAMPLER_NMI ? "nmi" : "timer");
	if (status->sampler_cpu != EVENT_NONE)
		put_count(writer, "sampler_cpu", status->sampler_cpu);
	put_count(writer, "rate", status->rate);
	put_member(writer, "seconds", cJSON_CreateNumber(report->seconds));
	put_count(writer, "samples", report->table->samples);
	put_count(writer, "weight", report->table->weight);
	put_count(writer, "missed", report->table->missed);
	put_text(writer, "note", report->note);
	put_text(writer, "remark", remarks_text(report->epoch, report->begin, "; ", remarks,
		sizeof(remarks)));
}

static void put_book(struct writer *writer, const struct report *report, uint32_t cpu,
	enum stream stream)
{
	struct books book = decode_books(session_decode(report->session), stream, cpu);
	cJSON *row = cJSON_CreateObject();

	add_count(row, "cpu", cpu);
	cJSON_AddStringToObject(row, "stream", stream_names[stream]);
	add_count(row, "taken", book.earlier + book.received + book.lost);
	add_count(row, "received", book.received);
	add_count(row, "lost", book.lost);
	add_count(row, "earlier", book.earlier);
	put_row(writer, row);
}

static void put_books(struct writer *writer, const struct report *report)
{
	begin_list(writer, "books");
	for (uint32_t cpu = 0; report_has_books(report) && cpu < report->epoch->cpus_seen; cpu++) {
		put_book(writer, report, cpu, STREAM_SAMPLES);
		put_book(writer, report, cpu, STREAM_TRACE);
	}
	end_list(writer);
}

static void put_event(struct writer *writer, const struct guest_event *kind, uint32_t cpu)
{
	cJSON *row = cJSON_CreateObject();

	add_count(row, "cpu", cpu);
	add_count(row, "id", kind->id);
	cJSON_AddStringToObject(row, "name", kind->name);
	add_count(row, "count", kind->counts[cpu]);
	put_row(writer, row);
}

static void put_events(struct writer *writer, const struct epoch *epoch)
{
	const struct guest_event *kind;

	begin_list(writer, "events");
	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u)
		for (uint32_t cpu = 0; cpu < kind->room; cpu++)
			if (kind->counts[cpu])
				put_event(writer, kind, cpu);
	end_list(writer);
}

/* What the guest can trace, and which of it is on. */
static void put_traceable(struct writer *writer, const struct epoch *epoch)
{
	const struct guest_event *kind;

	begin_list(writer, "traceable");
	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u) {
		cJSON *row;

		if (!kind->described || kind->stream != STREAM_TRACE)
			continue;
		row = cJSON_CreateObject();
		add_count(row, "id", kind->id);
		cJSON_AddStringToObject(row, "name", kind->name);
		cJSON_AddStringToObject(row, "fields", kind->fields);
		cJSON_AddBoolToObject(row, "on", guest_events_on(epoch->events, kind->id));
		put_row(writer, row);
	}
	end_list(writer);
}

static void put_cpus(struct writer *writer, const struct report *report)
{
	const struct epoch *epoch = report->epoch;
	struct cpu_series *series = calloc(epoch->cpu_count + 1, sizeof(*series));

	begin_list(writer, "cpus");
	if (series)
		query_cpus(epoch->query, &report->question, series, epoch->cpu_count);
	for (uint32_t i = 0; series && i < epoch->cpu_count; i++) {
		cJSON *row = cJSON_CreateObject();

		add_count(row, "cpu", i);
		cJSON_AddBoolToObject(row, "sampler", epoch->sampler == i);
		for (int mode = 0; mode < MODES; mode++)
			add_count(row, mode_names[mode], series[i].mode[mode]);
		add_count(row, "missed", series[i].missed);
		put_row(writer, row);
	}
	end_list(writer);
	free(series);
}

static void add_cpu_list(cJSON *function, const struct table *table, const struct row *row,
	uint32_t cpu_count)
{
	cJSON *cpus = cJSON_AddArrayToObject(function, "cpus");

	for (uint32_t i = 0; i < cpu_count && i < 64 * table->words; i++)
		if (row->cpus[i / 64] >> i % 64 & 1)
			cJSON_AddItemToArray(cpus, cJSON_CreateNumber(i));
}

static void add_callers(cJSON *function, const struct report *report, uint32_t id)
{
	struct caller callers[CALLERS];
	size_t count = query_callers(report->epoch->query, &report->question, id, callers, CALLERS);
	cJSON *list = cJSON_AddArrayToObject(function, "callers");

	for (size_t i = 0; i < count; i++) {
		cJSON *caller = cJSON_CreateObject();

		cJSON_AddItemToArray(list, caller);
		cJSON_AddStringToObject(caller, "name",
			symbols_get(report->epoch->inputs.symbols, callers[i].function)->name);
		add_count(caller, "weight", callers[i].weight);
	}
}

static void put_function(struct writer *writer, const struct report *report, const struct row *row)
{
	struct symbols *symbols = report->epoch->inputs.symbols;
	const struct function *function = symbols_get(symbols, row->function);
	const char *line = symbols_line(symbols, row->function);
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "name", function->name);
	cJSON_AddStringToObject(object, "object", function->object);
	cJSON_AddStringToObject(object, "source", line ? line : "");
	add_count(object, "self", row->self);
	add_count(object, "total", row->total);
	cJSON_AddNumberToObject(object, "self_percent", percent(row->self, report->table->weight));
	cJSON_AddNumberToObject(object, "total_percent",
		percent(row->total, report->table->weight));
	add_count(object, "samples", row->samples);
	add_cpu_list(object, report->table, row, report->epoch->cpu_count);
	add_callers(object, report, row->function);
	put_row(writer, object);
}

bool report_json(const struct report *report, FILE *out)
{
	struct writer writer = { .out = out, .before = "{\n" };

	put_guest(&writer, report->epoch);
	put_profiler(&writer, report);
	put_cpus(&writer, report);
	put_books(&writer, report);
	put_events(&writer, report->epoch);
	put_traceable(&writer, report->epoch);
	begin_list(&writer, "functions");
	for (size_t i = 0; i < report->table->count && !stop_now(session_given_up(report->session)); i++)
		put_function(&writer, report, &report->table->rows[i]);
	end_list(&writer);
	fputs("\n}\n", out);
	return !writer.failed;
}
