#include <cjson/cJSON.h>
#include <stdlib.h>

#include "decode.h"
#include "epoch.h"
#include "remarks.h"
#include "report.h"
#include "session.h"
#include "symbols.h"
#include "threads.h"

enum { CALLERS = 8 };

static const char *const mode_names[MODES] = { "kernel", "user", "idle" };
static const char *const stream_names[STREAMS] = { "meta", "samples", "trace" };

static void add_count(cJSON *object, const char *name, uint64_t count)
{
	cJSON_AddNumberToObject(object, name, (double)count);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void add_guest(cJSON *root, const struct epoch *epoch)
{
	cJSON *guest = cJSON_AddObjectToObject(root, "guest");

	cJSON_AddStringToObject(guest, "kernel", epoch->kernel);
	cJSON_AddStringToObject(guest, "version", epoch->version);
	cJSON_AddStringToObject(guest, "arch", epoch->arch);
	add_count(guest, "cpus", epoch->cpu_count);
	add_count(guest, "clock_hz", epoch->clock_hz);
}

static void add_profiler(cJSON *root, const struct report *report)
{
	const struct status *status = &report->status;
	char remarks[REMARKS_SIZE];

	cJSON_AddStringToObject(root, "sampler", status->sampler == SAMPLER_NMI ? "nmi" : "timer");
	if (status->sampler == SAMPLER_NMI)
		add_count(root, "sampler_cpu", status->sampler_cpu);
	add_count(root, "rate", status->rate);
	cJSON_AddNumberToObject(root, "seconds", report->seconds);
	add_count(root, "samples", report->table->samples);
	add_count(root, "weight", report->table->weight);
	add_count(root, "missed", report->table->missed);
	cJSON_AddStringToObject(root, "note", report->note);
	cJSON_AddStringToObject(root, "remark",
		remarks_text(report->epoch, remarks, sizeof(remarks)));
}

static void add_book(cJSON *books, const struct report *report, uint32_t cpu, enum stream stream)
{
	struct books book = decode_books(session_decode(report->session), stream, cpu);
	cJSON *row = cJSON_CreateObject();

	cJSON_AddItemToArray(books, row);
	add_count(row, "cpu", cpu);
	cJSON_AddStringToObject(row, "stream", stream_names[stream]);
	add_count(row, "taken", book.earlier + book.received + book.lost);
	add_count(row, "received", book.received);
	add_count(row, "lost", book.lost);
	add_count(row, "earlier", book.earlier);
}

static void add_books(cJSON *root, const struct report *report)
{
	cJSON *books = cJSON_AddArrayToObject(root, "books");

	for (uint32_t cpu = 0; report_has_books(report) && cpu < report->epoch->cpus_seen; cpu++) {
		add_book(books, report, cpu, STREAM_SAMPLES);
		add_book(books, report, cpu, STREAM_TRACE);
	}
}

static void add_events(cJSON *root, const struct epoch *epoch)
{
	cJSON *events = cJSON_AddArrayToObject(root, "events");

	for (uint32_t cpu = 0; cpu < epoch->cpus_seen; cpu++)
		for (uint32_t id = 0; id < EPOCH_IDS; id++) {
			cJSON *row = epoch->cpus[cpu].events[id] ? cJSON_CreateObject() : NULL;

			if (!row)
				continue;
			cJSON_AddItemToArray(events, row);
			add_count(row, "cpu", cpu);
			add_count(row, "id", id);
			cJSON_AddStringToObject(row, "name", epoch->event_names[id]);
			add_count(row, "count", epoch->cpus[cpu].events[id]);
		}
}

static void add_cpus(cJSON *root, const struct report *report)
{
	const struct epoch *epoch = report->epoch;
	cJSON *cpus = cJSON_AddArrayToObject(root, "cpus");
	struct cpu_series *series = calloc(epoch->cpu_count + 1, sizeof(*series));

	if (series)
		query_cpus(epoch->query, &report->question, series, epoch->cpu_count);
	for (uint32_t i = 0; series && i < epoch->cpu_count; i++) {
		cJSON *row = cJSON_CreateObject();

		cJSON_AddItemToArray(cpus, row);
		add_count(row, "cpu", i);
		cJSON_AddBoolToObject(row, "sampler", epoch->cpus[i].sampler);
		for (int mode = 0; mode < MODES; mode++)
			add_count(row, mode_names[mode], series[i].mode[mode]);
		add_count(row, "missed", series[i].missed);
	}
	free(series);
}

static void add_cpu_list(cJSON *function, const struct row *row, uint32_t cpu_count)
{
	cJSON *cpus = cJSON_AddArrayToObject(function, "cpus");

	for (uint32_t i = 0; i < cpu_count && i < 8 * sizeof(row->cpus); i++)
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

static void add_function(cJSON *functions, const struct report *report, const struct row *row)
{
	struct symbols *symbols = report->epoch->inputs.symbols;
	const struct function *function = symbols_get(symbols, row->function);
	const char *line = symbols_line(symbols, row->function);
	cJSON *object = cJSON_CreateObject();

	cJSON_AddItemToArray(functions, object);
	cJSON_AddStringToObject(object, "name", function->name);
	cJSON_AddStringToObject(object, "object", function->object);
	cJSON_AddStringToObject(object, "source", line ? line : "");
	add_count(object, "self", row->self);
	add_count(object, "total", row->total);
	cJSON_AddNumberToObject(object, "self_percent", percent(row->self, report->table->weight));
	cJSON_AddNumberToObject(object, "total_percent",
		percent(row->total, report->table->weight));
	add_count(object, "samples", row->samples);
	add_cpu_list(object, row, report->epoch->cpu_count);
	add_callers(object, report, row->function);
}

bool report_json(const struct report *report, FILE *out)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *functions;
	char *text;

	add_guest(root, report->epoch);
	add_profiler(root, report);
	add_cpus(root, report);
	add_books(root, report);
	add_events(root, report->epoch);
	functions = cJSON_AddArrayToObject(root, "functions");
	for (size_t i = 0; i < report->table->count; i++)
		add_function(functions, report, &report->table->rows[i]);

	text = cJSON_Print(root);
	if (text)
		fprintf(out, "%s\n", text);
	cJSON_free(text);
	cJSON_Delete(root);
	return text;
}
