/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/answers/profile.h"
#include "agent/cut/kept_recording.h"
#include "agent/export/export_csv.h"
#include "agent/export/export_json.h"
#include "agent/export/export_set.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "agent/query/table.h"
#include "agent/query/table_sort.h"
#include "agent/source/source.h"
#include "agent/wire/metadata.h"
#include "mailbox.h"
#include "profile_facts.h"
#include "saved_recording.h"
#include "saver.h"
#include "session_state.h"

static bool is_table(const struct order *order)
{
	return order->choice.format == &export_json || order->choice.format == &export_csv;
}

/* Says why there is no snapshot. True: there is one. */
static bool can_save(struct session *session, const struct order *order)
{
	if (!session->epoch || !session->epoch->known)
		session_say(session, true, "no snapshot: nothing has come from the guest yet; wait for its first data");
	else if (!is_table(order) && !filter_lacks(&order->excerpt.filter, FILTER_FUNCTION))
		session_say(session, true, "no snapshot: a NAME alone in the filter chooses rows of a table, and this "
			"format has none; filter by under:NAME, or save json or csv");
	else
		return saver_has_room(session->saver);
	return false;
}

static void save_stacks(struct session *session, const struct order *order)
{
	struct epoch *epoch = session->epoch;
	const struct question question = excerpt_question(epoch, &order->excerpt);
	const struct set_facts facts = session_facts(session, epoch);

	saver_save(session->saver, order->text, epoch, NULL, &(struct export_input) {
		.query = epoch->query, .inputs = &epoch->inputs, .question = &question, .facts = &facts,
	}, &order->choice);
}

/* The table of the report of the same question, in its order. */
static struct profile *make_profile(struct session *session, const struct order *order)
{
	const struct moment moment = { .epoch = session->epoch, .decode = session->decode };
	struct profile_request request;
	struct profile *profile;

	memset(&request, 0, sizeof(request));
	request.request.kind = &profile_kind;
	request.request.excerpt = order->excerpt;
	request.callers = order->choice.format == &export_json;
	profile = profile_new(&request, &moment);
	table_sort_named(profile->table, session->epoch->inputs.symbols, COLUMN_SELF);
	return profile;
}

static void put_facts(const void *context, struct json_writer *writer)
{
	const struct profile *profile = context;
	const struct table *table = profile->table;

	profile_facts_json(&(struct profile_facts) {
		.epoch = profile->answer.epoch, .profile = profile, .status = &profile->answer.epoch->status,
		.begin = table->from, .from = table->from, .to = table->to, .note = "",
	}, writer);
}

static void save_table(struct session *session, const struct order *order)
{
	struct profile *profile = make_profile(session, order);
	struct epoch *epoch = session->epoch;
	const struct export_choice json = json_choice((struct json_options) {
		.facts = put_facts, .context = profile, .cpus = epoch->cpu_count, .set_aside = epoch->sampler,
	});

	saver_save(session->saver, order->text, epoch, &profile->answer, &(struct export_input) {
		.query = epoch->query, .inputs = &epoch->inputs, .question = &profile->question,
		.table = profile->table,
	}, order->choice.format == &export_json ? &json : &order->choice);
}

/* Packets have no filter. Those of a replay are in its recording. False: they are not to be had. */
static bool save_cut(struct session *session, const struct order *order, struct question *question)
{
	const struct source_facts facts = session->source->table->facts(session->source);
	uint64_t now = epoch_now(session->epoch);
	bool ends = question->to > now;

	if (!facts.recording || question->filter.count)
		return false;
	if (!question->fine)
		query_cover(session->epoch->query, question);
	if (ends || question->to > now)
		question->to = facts.play.over ? UINT64_MAX : now + 1;
	saver_save_recording(session->saver, order->text, session->epoch, saved_recording_cut(facts.recording,
		facts.play.boot - 1, question->from, question->to));
	return true;
}

static void save_recording(struct session *session, const struct order *order)
{
	const struct source_facts facts = session->source->table->facts(session->source);
	const struct metadata_machine machine = {
		.name = facts.machine, .kernel = session->image ? session->image : facts.kernel,
	};
	struct question question = excerpt_question(session->epoch, &order->excerpt);

	if (!save_cut(session, order, &question))
		saver_save_recording(session->saver, order->text, session->epoch,
			saved_recording_kept(kept_recording_new(session->epoch, &question, &machine)));
}

void session_save(struct session *session, const struct order *order)
{
	if (!can_save(session, order))
		return;
	if (order->choice.format == &export_recording)
		save_recording(session, order);
	else if (is_table(order))
		save_table(session, order);
	else
		save_stacks(session, order);
}
