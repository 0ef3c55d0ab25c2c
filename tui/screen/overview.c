/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/util.h"
#include "agent/export/save_format.h"
#include "agent/fleet/fleet.h"
#include "machine.h"
#include "overview.h"
#include "snapshot.h"

static const uint64_t pause_ns = 100 * NS_PER_MS;	/* between two answers over all */
static const uint64_t soon_ns = 50 * NS_PER_MS;	/* after a new question: most machines have answered it by then */
static const uint64_t all_ns = 500 * NS_PER_MS;	/* for the others: a person waits this long without a thought */

enum { SAYINGS = 64 };			/* messages that are kept to be shown together */

struct overview {
	struct machine *machines;
	size_t count;
	const char **names;
	struct fleet *fleet;
	bool asks[FEED_QUESTIONS];	/* the screen asks this question */
	const struct answer_kind *shown;	/* what the view asks for; NULL: nothing yet */
	uint64_t next[FEED_QUESTIONS];	/* when the next answer is due */
	bool changed[FEED_QUESTIONS];	/* a machine has answered since the last one */
	uint64_t whole_until;		/* until then the view's answer waits for each machine that is up */
	struct saying *sayings;		/* the machines' messages since the last order */
	size_t saying_count;
};

struct saying {
	size_t machine;
	struct session_message message;
};

struct overview *overview_new(struct machine *machines, size_t count, struct budget *budget)
{
	struct overview *overview = util_alloc(sizeof(*overview));

	overview->machines = machines;
	overview->count = count;
	overview->names = util_alloc(count * sizeof(*overview->names));
	for (size_t i = 0; i < count; i++)
		overview->names[i] = machines[i].name;
	overview->fleet = fleet_new(overview->names, count, budget);
	for (int i = 0; i < FEED_QUESTIONS; i++)
		overview->changed[i] = true;
	return overview;
}

void overview_free(struct overview *overview)
{
	if (!overview)
		return;
	fleet_free(overview->fleet);
	free(overview->names);
	free(overview->sayings);
	free(overview);
}

/*
 * Asks each machine in its own times and function ids. These change with the machine's answers, too: it meets new
 * functions, or boots anew. So the machines are asked again after each answer.
 */
static void ask_vitals(struct overview *overview)
{
	for (size_t i = 0; i < overview->count; i++) {
		struct vitals_request request = fleet_vitals_request(overview->fleet, i);

		machine_ask(&overview->machines[i], READER_ALL, FEED_VITALS,
			overview->asks[FEED_VITALS] ? &request.request : NULL);
	}
}

static void ask_view(struct overview *overview)
{
	for (size_t i = 0; i < overview->count; i++) {
		struct annotation_request annotation = fleet_annotation_request(overview->fleet, i);
		struct call_tree_request tree = fleet_tree_request(overview->fleet, i);
		struct function_request functions = fleet_function_request(overview->fleet, i);
		struct function_page_request page = fleet_page_request(overview->fleet, i);
		struct heat_request heat = fleet_heat_request(overview->fleet, i);
		const struct request *request = overview->shown == &heat_map_kind ? &heat.request :
			overview->shown == &annotation_kind ? &annotation.request :
			overview->shown == &function_page_kind ? &page.request :
			overview->shown == &call_tree_kind ? &tree.request : &functions.request;

		machine_ask(&overview->machines[i], READER_ALL, FEED_VIEW,
			overview->asks[FEED_VIEW] ? request : NULL);
	}
}

static void ask_line(struct overview *overview)
{
	struct time_line_request request = fleet_time_line_request(overview->fleet);

	for (size_t i = 0; i < overview->count; i++)
		machine_ask(&overview->machines[i], READER_ALL, FEED_LINE,
			overview->asks[FEED_LINE] ? &request.request : NULL);
}

/*
 * Takes the machines' answers. Any of them may change the fleet's answers of both kinds: a machine's table tells the
 * period by which the weights of its CPUs become time, for example.
 */
static void take(struct overview *overview)
{
	for (size_t i = 0; i < overview->count; i++)
		for (int k = 0; k < FEED_QUESTIONS; k++) {
			struct answer *answer = machine_answer(&overview->machines[i], READER_ALL,
				(enum feed_question)k);

			if (!answer)
				continue;
			fleet_take(overview->fleet, i, answer);
			for (int question = 0; question < FEED_QUESTIONS; question++)
				overview->changed[question] = true;
		}
}

static bool is_up(const struct machine *machine)
{
	return machine->known && machine->link == LINK_UP;
}

/* A machine that is up has not answered the view's question yet: without it, the sums would be those of the others. */
static bool lacks_one(const struct overview *overview)
{
	for (size_t i = 0; i < overview->count; i++)
		if (is_up(&overview->machines[i]) && overview->machines[i].readers[READER_ALL][FEED_VIEW].awaited)
			return true;
	return false;
}

struct answer *overview_answer(struct overview *overview, enum feed_question question, uint64_t now)
{
	take(overview);
	if (!overview->asks[question] || !overview->changed[question] || now < overview->next[question])
		return NULL;
	if (question == FEED_VIEW && now < overview->whole_until && lacks_one(overview))
		return NULL;
	ask_vitals(overview);
	ask_view(overview);
	ask_line(overview);
	overview->changed[question] = false;
	overview->next[question] = now + pause_ns;
	if (question == FEED_LINE)
		return &fleet_time_line(overview->fleet, now)->answer;
	if (question != FEED_VITALS && overview->shown == &heat_map_kind)
		return &fleet_heat(overview->fleet, now)->answer;
	if (question != FEED_VITALS && overview->shown == &annotation_kind)
		return &fleet_annotation(overview->fleet, now)->answer;
	if (question != FEED_VITALS && overview->shown == &function_page_kind)
		return &fleet_page(overview->fleet, now)->answer;
	if (question != FEED_VITALS && overview->shown == &call_tree_kind)
		return &fleet_tree(overview->fleet, now)->answer;
	return question == FEED_VITALS ? &fleet_vitals(overview->fleet, now)->answer :
		&fleet_functions(overview->fleet, now)->answer;
}

static bool is_asked(const struct overview *overview, enum feed_question question,
	const struct request *request)
{
	const struct fleet *fleet = overview->fleet;

	return overview->asks[question] == (request != NULL) &&
		(!request || fleet_is_asked(fleet, request));
}

void overview_ask(struct overview *overview, enum feed_question question, const struct request *request,
	uint64_t now)
{
	const struct answer_kind *kind = request ? request->kind : NULL;
	bool same = is_asked(overview, question, request) && (question != FEED_VIEW || kind == overview->shown);

	if (question == FEED_VIEW)
		overview->shown = kind;
	overview->asks[question] = request;
	if (!same && request)
		fleet_request(overview->fleet, request);
	if (question == FEED_VITALS)
		ask_vitals(overview);
	else if (question == FEED_LINE)
		ask_line(overview);
	else
		ask_view(overview);
	if (same)
		return;
	overview->next[question] = now + soon_ns;
	if (question == FEED_VIEW && now >= overview->whole_until)	/* keys that are held do not prolong it */
		overview->whole_until = now + all_ns;
}

void overview_look_away(struct overview *overview)
{
	for (int i = 0; i < FEED_QUESTIONS; i++)
		overview->asks[i] = false;
	for (size_t i = 0; i < overview->count; i++)
		machine_look_away(&overview->machines[i], READER_ALL);
}

/* Messages from now on tell how the new order went. */
static void begin_order(struct overview *overview)
{
	overview->saying_count = 0;
}

static size_t count_up(const struct overview *overview)
{
	size_t up = 0;

	for (size_t i = 0; i < overview->count; i++)
		up += is_up(&overview->machines[i]);
	return up;
}

bool overview_running(const struct overview *overview)
{
	size_t running = 0;

	for (size_t i = 0; i < overview->count; i++)
		running += is_up(&overview->machines[i]) && machine_runs(&overview->machines[i]);
	return running != 0 && running == count_up(overview);
}

void overview_run_profiler(struct overview *overview, bool on)
{
	bool any = count_up(overview) != 0;

	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++)
		if (is_up(&overview->machines[i]) || !any)
			machine_run_profiler(&overview->machines[i], on);
}

void overview_snapshot(struct overview *overview, const struct excerpt *shown, size_t format)
{
	time_t now = time(NULL);

	fleet_look(overview->fleet, shown);
	begin_order(overview);
	for (size_t i = 0; i < overview->count; i++) {
		struct machine *machine = &overview->machines[i];
		const struct export_choice choice = save_format_choice(format, machine->name);
		char *kernel = util_format("all-%u-%s", machine->number,
			machine->name + strcspn(machine->name, " "));
		struct excerpt excerpt = fleet_excerpt(overview->fleet, i);
		char name[SNAPSHOT_NAME];

		machine_snapshot(machine,
			snapshot_name(kernel, now, save_format_at(format).ending, name), &excerpt, &choice);
		free(kernel);
	}
}

/* A machine's newer message about its profiler replaces the one that said that the wish is kept. Failures stay. */
static void drop_older(struct overview *overview, size_t machine)
{
	size_t left = 0;

	for (size_t i = 0; i < overview->saying_count; i++) {
		const struct saying *saying = &overview->sayings[i];

		if (saying->machine != machine || !saying->message.kept)
			overview->sayings[left++] = *saying;
	}
	overview->saying_count = left;
}

void overview_gather(struct overview *overview, size_t machine, struct session_message *message)
{
	struct session_message said = { .text = "" };

	if (message->profiler)
		drop_older(overview, machine);
	if (overview->saying_count == SAYINGS)		/* the status line has no room for so many: begin anew */
		overview->saying_count = 0;
	overview->sayings = util_grow(overview->sayings, overview->saying_count + 1,
		sizeof(*overview->sayings));
	overview->sayings[overview->saying_count++] = (struct saying) { machine, *message };
	for (size_t i = 0; i < overview->saying_count; i++) {
		const struct saying *saying = &overview->sayings[i];
		size_t used = strlen(said.text);

		util_print(said.text + used, sizeof(said.text) - used, "%s%s: %s", used ? "; " : "",
			overview->machines[saying->machine].name, saying->message.text);
		said.failed = said.failed || saying->message.failed;
	}
	*message = said;
}
