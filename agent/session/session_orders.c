/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "agent/export/export_set.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/source/source.h"
#include "agent/wire/decode.h"
#include "mailbox.h"
#include "session_state.h"

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
		.kept = session->source->table->facts(session->source).kept != KEPT_NONE,
	};

	if (ok) {
		lease_profiler_set(&session->lease, session->wanted);
		session->started = session->wanted && (session->started || !session->ran);
	}
	util_print(message.text, sizeof(message.text), "%s", text);
	mailbox_message(session->mailbox, &message);
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
	const struct vitals_cost cost = vitals_cost(epoch);
	const char *machine = session->source->table->facts(session->source).machine;

	return (struct set_facts) {
		.machine = machine ? machine : "",
		.kernel = epoch_kernel(epoch), .version = epoch_version(epoch), .arch = epoch->arch,
		.began = epoch->began, .cpus = epoch->cpu_count,
		.lost = decode_books_all(session->decode, STREAM_SAMPLES).lost,
		.cost_ns = cost.ns, .cost_share = cost.share,
		.zero = epoch_uptime(epoch).zero,
	};
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
		session_save(session, order);
		break;
	case ORDER_PLAY:
		if (session->source->table->play)
			session->source->table->play(session->source, &order->play, util_now());
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

	mailbox_clear_order_fd(session->mailbox);
	while (take_order(session))
		if (util_now() >= end) {
			mailbox_wake_orders(session->mailbox);
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
	return mailbox_message_fd(session->mailbox);
}

void session_clear_message_fd(struct session *session)
{
	mailbox_clear_message_fd(session->mailbox);
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

void session_play(struct session *session, struct play play)
{
	mailbox_order(session->mailbox, &(struct order) { .kind = ORDER_PLAY, .play = play });
}

bool session_message(struct session *session, struct session_message *message)
{
	return mailbox_take_message(session->mailbox, message);
}
