/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/profile.h"
#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "agent/cut/kept_recording.h"
#include "agent/export/export_csv.h"
#include "agent/export/export_json.h"
#include "agent/export/save_format.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/names/kernel_function.h"
#include "agent/names/symbols.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "agent/query/table.h"
#include "agent/source/source.h"
#include "agent/vm/state_words.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "flight.h"
#include "post_mortem.h"
#include "profile_facts.h"
#include "saver.h"
#include "session_state.h"
#include "subscription.h"

/* ---- messages ---- */

void session_say(struct session *session, bool failed, const char *text)
{
	struct session_message message = { .failed = failed };

	util_print(message.text, sizeof(message.text), "%s", text);
	mailbox_message(session->mailbox, &message);
}

void session_remark(struct session *session, const char *text)
{
	free(session->remark);
	session->remark = util_copy(text, strlen(text));
	session->changed = true;
}

static void tell_done(void *context, bool ok, const char *text)
{
	struct session *session = context;
	struct session_message message = {
		.failed = !ok, .profiler = true,
		.kept = session_source(session).kept != KEPT_NONE,
	};

	if (ok) {
		lease_profiler_set(&session->lease, session->wanted);
		session->started = session->wanted && (session->started || !session->ran);
	}
	util_print(message.text, sizeof(message.text), "%s", text);
	mailbox_message(session->mailbox, &message);
}

/* ---- what is saved ---- */

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
	profile = (struct profile *)profile_kind.make(&request.request, &moment);
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
	const struct source_facts facts = session_source(session);
	uint64_t now = epoch_now(session->epoch);
	bool ends = question->to > now;

	if (!facts.recording || question->filter.count)
		return false;
	if (!question->fine)
		query_cover(session->epoch->query, question);
	if (ends || question->to > now)
		question->to = facts.play.over ? UINT64_MAX : now + 1;
	saver_save_cut(session->saver, order->text, session->epoch, &(struct saver_cut) {
		.folder = facts.recording, .boot = facts.play.boot - 1, .from = question->from, .to = question->to,
	});
	return true;
}

static void save_recording(struct session *session, const struct order *order)
{
	const struct metadata_machine machine = session_machine(session);
	struct question question = excerpt_question(session->epoch, &order->excerpt);

	if (!save_cut(session, order, &question))
		saver_save_kept(session->saver, order->text, session->epoch,
			kept_recording_new(session->epoch, &question, &machine));
}

static void save(struct session *session, const struct order *order)
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

/* What led up to now. A recording that is played has it. */
static void keep(struct session *session, const char *path)
{
	const struct metadata_machine machine = session_machine(session);

	if (!session->flight)
		session_say(session, true, "not recorded: a recording has it already; save a range of it by F9");
	else if (!session->epoch)
		session_say(session, true,
			"not recorded: nothing has come from the guest yet; wait for its first data");
	else if (saver_has_room(session->saver))
		saver_save_flight(session->saver, path, session->epoch,
			flight_cut_new(session->flight, SESSION_LEAD_MS * NS_PER_MS, &machine));
}

/* The last moments of a machine that answers no more. */
static void read_dead(struct session *session, const char *path)
{
	const struct metadata_machine machine = session_machine(session);

	if (!session->source->table->lend)
		session_say(session, true, "the machine's memory was not read: this is a recording; go to its end");
	else if (session->dead)
		session_say(session, true, "not yet: the machine's memory is still read; wait for it");
	else
		session->dead = post_mortem_new(session->source, session->decode, path, &machine);
}

/* ---- orders, in the ingest thread ---- */

bool session_ordered(const struct session *session)
{
	return session->ordered;
}

void session_ask(struct session *session, const char *line, const struct command_sink *sink)
{
	session->source->table->ask(session->source, line, sink);
}

void session_profile(struct session *session, bool on, const struct command_sink *sink)
{
	session->source->table->run(session->source, on, false, sink);
}

void session_stop_owed(struct session *session)
{
	session->source->table->run(session->source, false, true, &(struct command_sink) { 0 });
}

void session_forget(struct session *session, const void *context)
{
	session->source->table->forget(session->source, context);
}

struct set_facts session_facts(const struct session *session, const struct epoch *epoch)
{
	const struct vitals_cost cost = vitals_cost(epoch, STREAM_SAMPLES);
	const char *machine = session_source(session).machine;
	const struct trace_number *numbers;
	uint32_t number_count = guest_events_numbers(epoch->events, &numbers);

	return (struct set_facts) {
		.numbers = numbers, .number_count = number_count,
		.machine = machine ? machine : "",
		.kernel = epoch_kernel(epoch), .version = epoch_version(epoch), .arch = epoch->arch,
		.began = epoch->began, .cpus = epoch->cpu_count,
		.lost = decode_books_all(session->decode, STREAM_SAMPLES).lost,
		.cost_ns = cost.ns, .cost_share = cost.share,
		.zero = epoch_uptime(epoch).zero,
	};
}

/* ---- marks ---- */

enum { MARK_BYTES = 63 };		/* of a text, at most */

/* A guest that knows no line `mark` answers with the forms of all lines. */
static void tell_mark(void *context, bool ok, const char *text)
{
	bool known = strncmp(text, "mark", 4) == 0, old = strncmp(text, "usage: start", 12) == 0;
	char *said = old ? util_format("no mark: the hook in this guest is older than marks; put a newer one there") :
		util_format("%s: %s", ok ? "marked" : "no mark", known ? text + 4 + strspn(text + 4, ": ") : text);

	session_say(context, !ok, said);
	free(said);
}

static bool traces_marks(const struct epoch *epoch)
{
	const struct guest_event *kind;

	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u)
		if (strcmp(kind->name, "mark") == 0 && guest_events_on(epoch->events, kind->id))
			return true;
	return false;
}

/* Why no event can be asked for, in fresh memory; NULL: one can. `what`: "no mark". */
static char *no_event(const struct session *session, const char *what)
{
	const char *vm = state_words_of_vm(session_source(session).vm)->trouble;
	const struct epoch *epoch = session->epoch;

	if (vm)
		return util_format("%s: %s", what, vm);
	if (session_link(session) != LINK_UP)
		return util_format("%s: nothing is known of the guest: %s", what, session_words(session)->trouble);
	if (epoch->status.sampler == SAMPLER_STUB)
		return util_format("%s: the gdb stub traces no events; --source hook takes the hook in its kernel",
			what);
	if (epoch->status_known && !epoch->status.running)
		return util_format("%s: nothing is traced while profiling is off; start it, then again", what);
	return NULL;
}

/*
 * The guest answers lines in their order: its answer to the second one says how both went. What it would cut off of the
 * text (docs/wire.md, Control) is not sent, so that the answer has what it keeps.
 */
static void mark(struct session *session, const char *text)
{
	char *why = no_event(session, "no mark"), line[sizeof("mark ") + MARK_BYTES];

	util_print(line, sizeof(line), "mark %s", text);
	if (!why && !traces_marks(session->epoch))
		session_ask(session, "events +mark", &(struct command_sink) { .answered = NULL });
	if (why)
		session_say(session, true, why);
	else
		session_ask(session, line, &(struct command_sink) { .context = session, .answered = tell_mark });
	free(why);
}

/* ---- functions ---- */

/* The guest has answered: there may be another one. Takes over the text. */
static void function_answered(struct session *session, bool failed, char *said)
{
	session_say(session, failed, said);
	free(said);
	free(session->function);
	free(session->function_line);
	session->function = session->function_line = NULL;
}

/* True: whether it is traced is not known, and that was said. */
static bool function_unanswered(struct session *session, bool ok, const char *text)
{
	bool unanswered = !ok && commands_unanswered(text);

	if (unanswered)
		function_answered(session, true, util_format("%s: not known whether it is traced: %s",
			session->function, text));
	return unanswered;
}

static void tell_function(void *context, bool ok, const char *text)
{
	struct session *session = context;
	const char *name = session->function, *why = strstr(text, ": ");

	if (!function_unanswered(session, ok, text))
		function_answered(session, !ok, ok ?
			util_format("%s is traced: Events has how often, and how long; again ends it", name) :
			util_format("%s: not traced: %s; name fewer, or see docs/untouched.md", name,
			why ? why + 2 : text));
}

/* Whether it is traced the plugin knows, whoever chose it: what it refuses to leave out, it is asked to take in. */
static void tell_left_out(void *context, bool ok, const char *text)
{
	struct session *session = context;

	if (function_unanswered(session, ok, text))
		return;
	if (ok) {
		function_answered(session, false, util_format("%s is no longer traced", session->function));
		return;
	}
	session_ask(session, "events +function", &(struct command_sink) { .answered = NULL });
	session_ask(session, session->function_line,
		&(struct command_sink) { .context = session, .answered = tell_function });
}

/* Why it cannot be asked for, in fresh memory; NULL: it can. */
static char *no_function(const struct session *session)
{
	char *why = session->function ? util_format("no function: the guest has still to answer for %s; again, then",
		session->function) : no_event(session, "no function");

	if (!why && session->epoch->status.sampler != SAMPLER_OUTSIDE)
		return util_format("no function: only ktop's plugin in QEMU traces functions of a kernel, where TCG "
			"runs it, not KVM; start QEMU by `ktop run --source plugin`");
	if (!why && (session_reads_names(session) || !symbols_kernel_is_placed(session->epoch->inputs.symbols)))
		return util_format("no function: the kernel's names are not known yet; wait, then again");
	return why;
}

static void trace_function(struct session *session, const char *name, uint64_t address)
{
	struct kernel_function found;
	char *why = no_function(session), *line;

	if (!why && !kernel_function_at(session->epoch->inputs.symbols, address, &found))
		why = util_format("no function: %s is not known to the file of the kernel; name that file by --kernel",
			name);
	if (why) {
		session_say(session, true, why);
		free(why);
		return;
	}
	session->function = util_copy(name, strlen(name));
	session->function_line = kernel_function_line(&found, name);
	line = util_format("function -%" PRIx64, found.function->address);
	session_ask(session, line, &(struct command_sink) { .context = session, .answered = tell_left_out });
	free(line);
}

static void obey(struct session *session, const struct order *order)
{
	const struct command_sink done = { .context = session, .answered = tell_done };

	switch (order->kind) {
	case ORDER_PROFILER:
		session->ordered = true;
		session->wanted = order->on;
		session->ran = session->epoch && session->epoch->status_known && session->epoch->status.running;
		session->source->table->run(session->source, order->on, true, &done);
		break;
	case ORDER_SNAPSHOT:
		save(session, order);
		break;
	case ORDER_KEEP:
		keep(session, order->text);
		break;
	case ORDER_DEAD:
		read_dead(session, order->text);
		break;
	case ORDER_PLAY:
		if (session->source->table->play)
			session->source->table->play(session->source, &order->play, util_now());
		break;
	case ORDER_MARK:
		mark(session, order->text);
		break;
	case ORDER_FUNCTION:
		trace_function(session, order->text, order->address);
		break;
	}
}

static bool take_order(struct session *session)
{
	struct order order;

	if (!mailbox_take_order(session->mailbox, &order))
		return false;
	obey(session, &order);
	free(order.text);
	return true;
}

void session_take_orders(struct session *session)
{
	uint64_t end = util_now() + (uint64_t)TURN_MS * NS_PER_MS;

	wakeup_clear(mailbox_orders(session->mailbox));
	while (take_order(session))
		if (util_now() >= end) {
			wakeup_send(mailbox_orders(session->mailbox));
			return;
		}
}

void session_finish_orders(struct session *session)
{
	while (take_order(session))
		;
}

/* ---- any thread ---- */

int session_message_fd(const struct session *session)
{
	return wakeup_fd(mailbox_messages(session->mailbox));
}

void session_clear_message_fd(struct session *session)
{
	wakeup_clear(mailbox_messages(session->mailbox));
}

void session_run_profiler(struct session *session, bool on)
{
	mailbox_order(session->mailbox, &(struct order) { .kind = ORDER_PROFILER, .on = on });
}

void session_snapshot(struct session *session, const char *path, const struct excerpt *excerpt,
	const struct export_choice *choice)
{
	mailbox_order(session->mailbox, &(struct order) {
		.kind = ORDER_SNAPSHOT,
		.text = util_copy(path, strlen(path)),
		.excerpt = *excerpt,
		.choice = *choice,
	});
}

void session_keep(struct session *session, const char *path)
{
	mailbox_order(session->mailbox, &(struct order) { .kind = ORDER_KEEP, .text = util_copy(path, strlen(path)) });
}

void session_read_dead(struct session *session, const char *path)
{
	mailbox_order(session->mailbox, &(struct order) { .kind = ORDER_DEAD, .text = util_copy(path, strlen(path)) });
}

void session_play(struct session *session, struct play play)
{
	mailbox_order(session->mailbox, &(struct order) { .kind = ORDER_PLAY, .play = play });
}

void session_mark(struct session *session, const char *text)
{
	mailbox_order(session->mailbox, &(struct order) { .kind = ORDER_MARK, .text = util_copy(text, strlen(text)) });
}

void session_trace_function(struct session *session, const char *name, uint64_t address)
{
	mailbox_order(session->mailbox, &(struct order) { .kind = ORDER_FUNCTION, .address = address,
		.text = util_copy(name, strlen(name)) });
}

bool session_message(struct session *session, struct session_message *message)
{
	return mailbox_take_message(session->mailbox, message);
}
