/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <cjson/cJSON.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/export/json_writer.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/guest/remarks.h"
#include "agent/query/question/filter.h"
#include "agent/query/table.h"
#include "profile_facts.h"

static const char *const stream_names[STREAMS] = { "meta", "samples", "trace" };

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

/* For how long it was up at time `to`. */
static void put_guest(struct json_writer *writer, const struct epoch *epoch, const struct uptime *up, uint64_t to)
{
	cJSON *guest = cJSON_CreateObject();

	cJSON_AddStringToObject(guest, "kernel", epoch_kernel(epoch));
	cJSON_AddStringToObject(guest, "version", epoch_version(epoch));
	cJSON_AddStringToObject(guest, "arch", epoch->arch);
	json_add_count(guest, "cpus", epoch->cpu_count);
	json_add_count(guest, "clock_hz", epoch->clock_hz);
	if (uptime_is_guests(up, to))
		cJSON_AddNumberToObject(guest, "uptime", seconds(uptime_shown(up->begun, to)));
	if (up->both || up->by == UPTIME_MACHINE)
		cJSON_AddNumberToObject(guest, "machine_uptime", seconds(uptime_shown(up->reset, to)));
	json_member(writer, "guest", guest);
}

/* Leaves it out if the boot was not sampled from its beginning. */
static void put_boot(struct json_writer *writer, const struct epoch *epoch)
{
	const struct boot_times times = epoch_boot(epoch);
	cJSON *boot = times.known[PHASE_FIRMWARE] ? cJSON_CreateObject() : NULL;

	for (int phase = 0; boot && phase < PHASES; phase++)
		if (times.known[phase])
			cJSON_AddNumberToObject(boot, boot_phase_words[phase], seconds(times.at[phase]));
	if (boot)
		json_member(writer, "boot", boot);
}

/* Leaves it out if all code has a name, and so have nearly all callers. */
static void put_incomplete(struct json_writer *writer, const struct profile_facts *facts)
{
	const struct profile *profile = facts->profile;
	double callers = profile_unnamed_callers(profile);
	char reason[REMARKS_INCOMPLETE];
	cJSON *incomplete;

	if (!profile->unnamed && !(callers > 0))
		return;
	incomplete = cJSON_CreateObject();
	cJSON_AddNumberToObject(incomplete, "share", (double)profile->unnamed / (double)profile->table->weight);
	if (callers > 0)
		cJSON_AddNumberToObject(incomplete, "callers", callers);
	cJSON_AddStringToObject(incomplete, "reason",
		remarks_incomplete(facts->epoch, facts->from, facts->to, reason));
	json_member(writer, "incomplete", incomplete);
}

static void put_profiler(struct json_writer *writer, const struct profile_facts *facts, int64_t zero)
{
	const struct table *table = facts->profile->table;
	const struct status *status = facts->status;
	char remarks[REMARKS_SIZE];

	json_member_text(writer, "sampler", sampler_word(status->sampler));
	if (status->sampler_cpu != EVENT_NONE)
		json_member_count(writer, "sampler_cpu", status->sampler_cpu);
	json_member_count(writer, "rate", status->rate);
	json_member(writer, "seconds", cJSON_CreateNumber(seconds(facts->to - facts->from)));
	json_member(writer, "from", cJSON_CreateNumber(seconds(uptime_shown(zero, facts->from))));
	json_member(writer, "to", cJSON_CreateNumber(seconds(uptime_shown(zero, facts->to))));
	if (filter_off_cpu(&facts->profile->question.filter))	/* these are waits; their weight is in us */
		json_member_text(writer, "of", filter_off_mode(&facts->profile->question.filter));
	json_member_count(writer, "samples", table->samples);
	json_member_count(writer, "weight", table->weight);
	json_member_count(writer, "missed", table->missed);
	json_member_count(writer, "leftovers", facts->epoch->leftovers);
	json_member_text(writer, "note", facts->note);
	json_member_text(writer, "remark", remarks_text(facts->epoch, facts->begin, facts->profile->outside, "; ",
		remarks, sizeof(remarks)));
}

static void put_book(struct json_writer *writer, uint32_t cpu, enum stream stream, const struct books *book)
{
	cJSON *row = cJSON_CreateObject();

	json_add_count(row, "cpu", cpu);
	cJSON_AddStringToObject(row, "stream", stream_names[stream]);
	json_add_count(row, "taken", book->earlier + book->received + book->lost);
	json_add_count(row, "received", book->received);
	json_add_count(row, "lost", book->lost);
	json_add_count(row, "earlier", book->earlier);
	json_row(writer, row);
}

static void put_books(struct json_writer *writer, const struct profile *profile)
{
	json_begin_list(writer, "books");
	for (uint32_t cpu = 0; profile->books && cpu < profile->cpu_count; cpu++) {
		put_book(writer, cpu, STREAM_SAMPLES, &profile->books[cpu].samples);
		put_book(writer, cpu, STREAM_TRACE, &profile->books[cpu].trace);
	}
	json_end_list(writer);
}

enum { FORMS = 2, FORM = 64 };		/* events that one stands for; bytes of a name */

/* Of the hook's own: "syscall_whole" stands for "syscall_enter" and "syscall_exit". Returns for how many. */
static int forms_of(const struct guest_event *kind, char forms[FORMS][FORM])
{
	const char *end = strrchr(kind->name, '_');
	bool whole = end && strcmp(end, "_whole") == 0, began = end && strcmp(end, "_began") == 0;

	if ((!whole && !began) || kind->stream != STREAM_TRACE || kind->id >= EVENT_TRACE_FIRST)
		return 0;
	for (int i = 0; i < FORMS; i++)
		util_print(forms[i], FORM, "%.*s%s", (int)(end - kind->name), kind->name, i ? "_exit" : "_enter");
	return whole ? 2 : 1;
}

static void put_forms(cJSON *row, const struct guest_event *kind)
{
	char forms[FORMS][FORM];
	int count = forms_of(kind, forms);
	cJSON *list = count ? cJSON_AddArrayToObject(row, "stands_for") : NULL;

	for (int i = 0; i < count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(forms[i]));
}

static void put_event(struct json_writer *writer, const struct guest_event *kind, uint32_t cpu)
{
	cJSON *row = cJSON_CreateObject();

	json_add_count(row, "cpu", cpu);
	json_add_count(row, "id", kind->id);
	cJSON_AddStringToObject(row, "name", kind->name);
	json_add_count(row, "count", kind->counts[cpu]);
	put_forms(row, kind);
	json_row(writer, row);
}

static uint64_t count_of(const struct guest_event *kind)
{
	uint64_t count = 0;

	for (uint32_t cpu = 0; cpu < kind->room; cpu++)
		count += kind->counts[cpu];
	return count;
}

/* How many came, be it as one of two that are one event. */
static uint64_t came(const struct epoch *epoch, const struct guest_event *wanted)
{
	uint64_t count = 0;
	const struct guest_event *kind;

	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u) {
		char forms[FORMS][FORM];
		int stands = forms_of(kind, forms);

		for (int i = 0; i < stands; i++)
			count += strcmp(forms[i], wanted->name) == 0 ? count_of(kind) : 0;
	}
	return count + count_of(wanted);
}

static void put_events(struct json_writer *writer, const struct epoch *epoch)
{
	const struct guest_event *kind;

	json_begin_list(writer, "events");
	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u)
		for (uint32_t cpu = 0; cpu < kind->room; cpu++)
			if (kind->counts[cpu])
				put_event(writer, kind, cpu);
	json_end_list(writer);
}

/* The events that the guest can trace, and which of them are on. */
static void put_traceable(struct json_writer *writer, const struct epoch *epoch)
{
	const struct guest_event *kind;

	json_begin_list(writer, "traceable");
	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u) {
		cJSON *row;

		if (!kind->described || kind->stream != STREAM_TRACE || kind->id < EVENT_TRACE_FIRST)
			continue;
		row = cJSON_CreateObject();
		json_add_count(row, "id", kind->id);
		cJSON_AddStringToObject(row, "name", kind->name);
		cJSON_AddStringToObject(row, "fields", kind->fields);
		cJSON_AddBoolToObject(row, "on", guest_events_on(epoch->events, kind->id));
		json_add_count(row, "count", came(epoch, kind));
		json_row(writer, row);
	}
	json_end_list(writer);
}

void profile_facts_json(const struct profile_facts *facts, struct json_writer *writer)
{
	const struct uptime up = epoch_uptime(facts->epoch);

	put_guest(writer, facts->epoch, &up, facts->to);
	put_boot(writer, facts->epoch);
	put_profiler(writer, facts, up.zero);
	put_incomplete(writer, facts);
	put_books(writer, facts->profile);
	put_events(writer, facts->epoch);
	put_traceable(writer, facts->epoch);
}
