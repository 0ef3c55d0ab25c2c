/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/source/source.h"
#include "session_state.h"
#include "subscription.h"

enum { SILENT_MS = 1000 };		/* between two answers while the guest is silent: they tell for how long */

/* The link's state as a screen shows it: a link that is up may be silent. */
enum link_state session_shown_link(const struct session *session)
{
	enum link_state state = session_link(session);

	return state == LINK_UP && session->source->table->facts(session->source).silent ?
		LINK_SILENT : state;
}

static uint64_t silence_due(const struct session *session)
{
	return session->shown_link == LINK_SILENT ? session->noticed + (uint64_t)SILENT_MS * NS_PER_MS :
		UINT64_MAX;
}

/* Counts `news` up if an answer would tell anything that the last ones did not. */
static void notice(struct session *session)
{
	struct source_facts facts = session->source->table->facts(session->source);
	enum link_state link = session_shown_link(session);
	uint64_t now = util_now();

	if (!session->changed && session->shown_link == link && session->shown_vm == facts.vm &&
			session->shown_news == facts.news && now < silence_due(session))
		return;
	session->changed = false;
	session->shown_link = link;
	session->shown_vm = facts.vm;
	session->shown_news = facts.news;
	session->noticed = now;
	session->news++;
}

uint64_t session_answers_due(struct session *session)
{
	uint64_t answers, silence;

	if (session->left)
		return UINT64_MAX;		/* nobody reads any more */
	notice(session);
	answers = subscriptions_due(session->subscriptions, session->epoch, session->news);
	silence = silence_due(session);
	return answers < silence ? answers : silence;
}

void session_make_answers(struct session *session)
{
	struct source_facts facts = session->source->table->facts(session->source);
	char trouble[SESSION_TROUBLE];
	const struct moment moment = {
		.epoch = session->epoch,
		.decode = session->decode,
		.meter = &session->meter,
		.link = session->shown_link,
		.trouble = session_trouble(session, trouble, sizeof(trouble)),
		.remark = session->remark,
		.by = facts.by,
		.vm = facts.vm,
		.kept = facts.kept,
		.play = facts.play,
		.name = facts.machine,
		.stop = &session->given_up,
	};

	subscriptions_answer(session->subscriptions, &moment, session->news);
}

/* ---- any thread ---- */

struct subscription *session_subscribe(struct session *session, struct wakeup *wakeup, struct epoch *boot)
{
	return subscription_new(session->subscriptions, wakeup, boot);
}

void session_unsubscribe(struct subscription *subscription)
{
	subscription_leave(subscription);
}

void session_request(struct subscription *subscription, const struct request *request)
{
	subscription_ask(subscription, request);
}

struct answer *session_answer(struct subscription *subscription)
{
	return subscription_take(subscription);
}
