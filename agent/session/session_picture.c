/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/source/source.h"
#include "agent/wire/decode.h"
#include "mailbox.h"
#include "picture.h"
#include "session_state.h"

enum {
	PICTURE_MS = 100,
	SILENT_MS = 1000,
	BRIEF_MS = 500,			/* of which nobody looks at more than a mark */
	SOON_MS = 20,			/* a wish and the first sample wait no longer */
};

/* What a screen says of it: a link that is up may still be silent. */
enum link_state session_shown_link(const struct session *session)
{
	enum link_state state = session_link(session);

	return state == LINK_UP && session->source->table->facts(session->source).silent ?
		LINK_SILENT : state;
}

/*
 * When the next picture is due, given what has changed; UINT64_MAX: not before something does. As
 * long as the last one took is left to what comes: a guest whose pictures are dear is still read.
 */
uint64_t session_picture_due(const struct session *session)
{
	struct source_facts facts = session->source->table->facts(session->source);
	bool changed = session->changed || session->shown_link != session_shown_link(session) ||
		session->shown_vm != facts.vm || session->shown_news != facts.news;
	bool brief = session->wish.brief;
	bool soon = session->wish_is_new || (!session->begun && !brief);
	uint64_t pause = (uint64_t)(soon ? SOON_MS : brief ? BRIEF_MS : PICTURE_MS) * NS_PER_MS;

	if (session->left)
		return UINT64_MAX;		/* nobody looks */
	if (!session->wish_is_new && !changed)
		return session_shown_link(session) == LINK_SILENT ?	/* how long is told */
			session->pictured + (uint64_t)SILENT_MS * NS_PER_MS : UINT64_MAX;
	return session->pictured + (pause > session->picture_took ? pause : session->picture_took);
}

void session_make_picture(struct session *session)
{
	uint64_t begin = util_now();
	struct source_facts facts = session->source->table->facts(session->source);
	char trouble[SESSION_TROUBLE];
	struct picture *picture;
	struct picture_inputs inputs = {
		.epoch = session->epoch,
		.decode = session->decode,
		.meter = &session->meter,
		.wish = &session->wish,
		.link = session_shown_link(session),
		.trouble = session_trouble(session, trouble, sizeof(trouble)),
		.vm = facts.vm,
		.kept = facts.kept,
		.boot = session->epochs,
		.name = facts.machine,
		.play = facts.play,
		.generation = ++session->generation,
	};

	if (session->epoch)
		query_heed(session->epoch->query, &session->given_up);
	picture = picture_new(&inputs);
	if (session->epoch)
		query_heed(session->epoch->query, NULL);
	session->begun = session->begun || (picture->table && picture->table->samples);
	mailbox_picture(session->mailbox, picture);
	session->wish_is_new = session->changed = false;
	session->shown_link = inputs.link;
	session->shown_vm = inputs.vm;
	session->shown_news = facts.news;
	session->pictured = util_now();
	session->picture_took = session->pictured - begin;
}
