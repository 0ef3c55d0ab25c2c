/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "agent/answers/call_tree.h"
#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/export/export_json.h"
#include "agent/export/json_writer.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/stop.h"
#include "agent/query/table.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

static const char *const stream_names[STREAMS] = { "meta", "samples", "trace" };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_guest(struct json_writer *writer, const struct epoch *epoch)
{
	cJSON *guest = cJSON_CreateObject();

	cJSON_AddStringToObject(guest, "kernel", epoch_kernel(epoch));
	cJSON_AddStringToObject(guest, "version", epoch_version(epoch));
	cJSON_AddStringToObject(guest, "arch", epoch->arch);
	json_add_count(guest, "cpus", epoch->cpu_count);
	json_add_count(guest, "clock_hz", epoch->clock_hz);
	json_member(writer, "guest", guest);
}

/* Leaves it out if the boot was not sampled from its beginning. */
static void put_boot(struct json_writer *writer, const struct epoch *epoch)
{
	const struct boot_times times = epoch_boot(epoch);
	cJSON *boot = times.known[PHASE_FIRMWARE] ? cJSON_CreateObject() : NULL;

	for (int phase = 0; boot && phase < PHASES; phase++)
		if (times.known[phase])
			cJSON_AddNumberToObject(boot, boot_phase_words[phase],
				(double)times.at[phase] / (double)NS_PER_SECOND);
	if (boot)
		json_member(writer, "boot", boot);
}

static void put_profiler(struct json_writer *writer, const struct report *report)
{
	const struct status *status = &report->status;
	char remarks[REMARKS_SIZE];

	json_member_text(writer, "sampler", sampler_word(status->sampler));
	if (status->sampler_cpu != EVENT_NONE)
		json_member_count(writer, "sampler_cpu", status->sampler_cpu);
	json_member_count(writer, "rate", status->rate);
	json_member(writer, "seconds", cJSON_CreateNumber(report->seconds));
	json_member(writer, "from", cJSON_CreateNumber((double)report->from / (double)NS_PER_SECOND));
	json_member(writer, "to", cJSON_CreateNumber((double)report->to / (double)NS_PER_SECOND));
	json_member_count(writer, "samples", report->profile->table->samples);
	json_member_count(writer, "weight", report->profile->table->weight);
	json_member_count(writer, "missed", report->profile->table->missed);
	json_member_text(writer, "note", report->note);
	json_member_text(writer, "remark", remarks_text(report->epoch, report->begin, "; ", remarks,
		sizeof(remarks)));
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

static void put_event(struct json_writer *writer, const struct guest_event *kind, uint32_t cpu)
{
	cJSON *row = cJSON_CreateObject();

	json_add_count(row, "cpu", cpu);
	json_add_count(row, "id", kind->id);
	cJSON_AddStringToObject(row, "name", kind->name);
	json_add_count(row, "count", kind->counts[cpu]);
	json_row(writer, row);
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

		if (!kind->described || kind->stream != STREAM_TRACE)
			continue;
		row = cJSON_CreateObject();
		json_add_count(row, "id", kind->id);
		cJSON_AddStringToObject(row, "name", kind->name);
		cJSON_AddStringToObject(row, "fields", kind->fields);
		cJSON_AddBoolToObject(row, "on", guest_events_on(epoch->events, kind->id));
		json_row(writer, row);
	}
	json_end_list(writer);
}

/* `numbers`: by row of the tree, the number of its row here; a row's parent has one. */
static void put_tree_row(struct json_writer *writer, const struct report *report, const struct tree_row *row,
	const uint32_t *numbers)
{
	const struct tree *tree = report->tree->tree;
	const struct function *function = symbols_get(report->epoch->inputs.symbols, row->function);
	const struct tree_row *rows = tree->lists[report->request.tree].rows;
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "name", function->name);
	cJSON_AddStringToObject(object, "object", function->object);
	json_add_count(object, "depth", row->depth);
	if (row->parent != TREE_TOP)
		json_add_count(object, "parent", numbers[row->parent]);
	json_add_count(object, "total", row->total);
	json_add_count(object, "self", row->self);
	json_add_count(object, "samples", row->samples);
	cJSON_AddNumberToObject(object, "total_percent", percent(row->total, tree->weight));
	if (row->parent != TREE_TOP)
		cJSON_AddNumberToObject(object, "parent_percent", percent(row->total, rows[row->parent].total));
	json_row(writer, object);
}

static void put_tree(struct json_writer *writer, const struct report *report)
{
	const struct tree *tree = report->tree ? report->tree->tree : NULL;
	const struct tree_row *row;
	uint32_t *numbers, count = 0;
	size_t at = 0;

	if (!tree)
		return;
	numbers = util_alloc(tree->lists[report->request.tree].count * sizeof(*numbers));
	json_member_text(writer, "tree_order", report->request.tree == TREE_UP ? "up" : "down");
	json_member_count(writer, "tree_missing", report_tree_missing(report));
	json_begin_list(writer, "tree");
	while ((row = report_tree_row(report, &at)) && !stop_now(session_given_up(report->session))) {
		numbers[at - 1] = count++;
		put_tree_row(writer, report, row, numbers);
	}
	json_end_list(writer);
	free(numbers);
}

/* The members of the JSON before its table. */
static void put_facts(const void *context, struct json_writer *writer)
{
	const struct report *report = context;

	put_guest(writer, report->epoch);
	put_boot(writer, report->epoch);
	put_profiler(writer, report);
	put_books(writer, report->profile);
	put_events(writer, report->epoch);
	put_traceable(writer, report->epoch);
	put_tree(writer, report);
	report_annotation_json(report, writer);
}

bool report_json(const struct report *report, FILE *out, char **error)
{
	const struct epoch *epoch = report->epoch;
	const struct export_input input = {
		.query = epoch->query, .inputs = &epoch->inputs, .question = &report->profile->question,
		.table = report->profile->table,
	};
	const struct export_choice choice = json_choice((struct json_options) {
		.facts = put_facts, .context = report, .stop = session_given_up(report->session),
		.cpus = epoch->cpu_count, .set_aside = epoch->sampler,
	});
	struct export *export = export_new(&choice, &input);
	struct export_result result;
	bool good = export_put(export, "JSON", out, &result, error);

	export_free(export);
	return good;
}
