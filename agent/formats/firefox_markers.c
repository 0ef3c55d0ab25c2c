/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "agent/base/budget.h"
#include "agent/formats/writing/json_text.h"
#include "agent/formats/writing/name_text.h"
#include "agent/formats/writing/trace_spans.h"
#include "firefox_markers.h"

/* The fields are those that `put_span` writes, and the labels what the tables and charts of the profiler show. */
static const struct { const char *name, *label, *fields; } spans[] = {
	[SPAN_THREAD] = { "running thread", "{marker.data.name}",
		"{\"key\":\"name\",\"label\":\"Thread\",\"format\":\"string\"},"
		"{\"key\":\"thread\",\"label\":\"Number\",\"format\":\"integer\"}," },
	[SPAN_INTERRUPT] = { "interrupt", "irq {marker.data.number}",
		"{\"key\":\"number\",\"label\":\"Number\",\"format\":\"integer\"}," },
	[SPAN_CALL] = { "system call", "syscall {marker.data.number}",
		"{\"key\":\"number\",\"label\":\"Number\",\"format\":\"integer\"},"
		"{\"key\":\"result\",\"label\":\"Result\",\"format\":\"string\"}," },
};

enum { SPANS = sizeof(spans) / sizeof(*spans) };

void firefox_names_clear(struct firefox_names *names, struct budget *budget)
{
	budget_free(budget, names->kinds, names->room * sizeof(const struct set_event_kind *));
}

/* Kinds are few, and events of one kind come in a row. */
uint32_t firefox_names_of(struct firefox_names *names, struct budget *budget, const struct set_event_kind *kind)
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

void firefox_names_put(const struct firefox_names *names, FILE *to)
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

void firefox_names_put_schemas(const struct firefox_names *names, FILE *to)
{
	putc('[', to);
	for (uint32_t i = 0; i < SPANS; i++) {
		fprintf(to, "%s{\"name\":\"%s\",\"tooltipLabel\":\"%s\",", i ? ",\n" : "\n", spans[i].name,
			spans[i].label);
		fprintf(to, "\"tableLabel\":\"%s\",\"chartLabel\":\"%s\"," DISPLAY ",\"fields\":[%s", spans[i].label,
			spans[i].label, spans[i].fields);
		fputs("{\"key\":\"lost\",\"label\":\"Lost\",\"format\":\"string\"}]}", to);
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
		if (kind->values[i].is_signed)
			fprintf(to, ",\"value%" PRIu32 "\":\"%" PRId64 "\"", i, (int64_t)marker->values[i]);
		else
			fprintf(to, ",\"value%" PRIu32 "\":\"%" PRIu64 "\"", i, marker->values[i]);
	putc('}', to);
}

void firefox_marker_put_data(const struct firefox_marker *marker, const struct firefox_names *names,
	const struct thread_names *threads, FILE *to)
{
	uint64_t thread = marker->values[0], number = marker->values[1];
	char text[THREAD_NAME];

	if (marker->kind == FIREFOX_EVENT) {
		put_event(marker, names, to);
		return;
	}
	fprintf(to, "{\"type\":\"%s\"", spans[marker->kind].name);
	if (marker->kind == SPAN_THREAD) {
		fputs(",\"name\":", to);
		json_text_put(to, thread_names_get(threads, thread, text));
		fprintf(to, ",\"thread\":%" PRIu64, thread);
	} else {
		fprintf(to, ",\"number\":%" PRIu64, number);
	}
	if (marker->kind == SPAN_CALL && !marker->lost)
		fprintf(to, ",\"result\":\"%" PRId64 "\"", (int64_t)marker->values[2]);
	fputs(marker->lost ? ",\"lost\":\"events\"}" : "}", to);
}

int firefox_marker_category(const struct firefox_marker *marker)
{
	if (marker->kind == SPAN_INTERRUPT)
		return FIREFOX_INTERRUPT;
	return marker->kind == SPAN_CALL ? FIREFOX_KERNEL : FIREFOX_OTHER;
}
