/* SPDX-License-Identifier: MIT */
/* The keys that control the playing of a recording. */
#include <stdlib.h>

#include "agent/answers/vitals.h"
#include "agent/base/util.h"
#include "tui/terminal/keys.h"
#include "screen_state.h"

#define JUMP_NS ((int64_t)(10 * NS_PER_SECOND))

static void say(struct screen *screen, const struct play *play, uint64_t now)
{
	const struct play_state *state = &screen->vitals->play;
	char *text = NULL;

	if (play->kind == PLAY_PAUSE)
		text = util_format("%s", state->playing ? "paused; {profile} plays on" : "playing");
	else if (play->kind == PLAY_NEXT_BOOT && state->boot == state->boots)
		text = util_format("this is the recording's last boot");
	else if (play->kind == PLAY_NEXT_BOOT || play->kind == PLAY_PREVIOUS_BOOT)
		text = util_format("another boot, from its beginning");
	else if (play->kind == PLAY_STEP)
		text = util_format("one step, a tenth of a second; {profile} plays on");
	else if (play->kind == PLAY_TO || play->kind == PLAY_BY)
		text = util_format("reading up to that time");
	else
		text = util_format("%s", play->kind == PLAY_FASTER ? "twice as fast" : "half as fast");
	screen_say(screen, now, text);
	free(text);
}

/* A jump leaves the time to which a zero and a window that was frozen or moved belong: all end. */
static void order(struct screen *screen, const struct play *play, uint64_t now)
{
	bool jumps = play->kind >= PLAY_TO;

	if (jumps) {
		screen->scope.zero_ns = 0;
		scope_live(&screen->scope);
	}
	say(screen, play, now);
	screen->feed.play(screen->feed.self, play);
}

bool screen_play(struct screen *screen, enum action action, uint64_t now)
{
	static const struct { enum action action; struct play play; } rows[] = {
		{ ACTION_RUN, { PLAY_PAUSE, 0 } },
		{ ACTION_FASTER, { PLAY_FASTER, 0 } },
		{ ACTION_SLOWER, { PLAY_SLOWER, 0 } },
		{ ACTION_STEP, { PLAY_STEP, 0 } },
		{ ACTION_EARLIER, { PLAY_BY, -JUMP_NS } },
		{ ACTION_LATER, { PLAY_BY, JUMP_NS } },
		{ ACTION_NEXT_BOOT, { PLAY_NEXT_BOOT, 0 } },
		{ ACTION_PREVIOUS_BOOT, { PLAY_PREVIOUS_BOOT, 0 } },
	};

	if (!screen->vitals || !screen->vitals->play.there)
		return false;
	if (action == ACTION_TIME)
		screen_open_prompt(screen, ASKED_TIME);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].action == action) {
			order(screen, &rows[i].play, now);
			return true;
		}
	return action == ACTION_TIME;
}

/* Jumps to the time that is typed in the prompt. */
void screen_play_to(struct screen *screen, uint64_t now)
{
	struct play play;
	char *error = NULL;

	if (play_parse(screen->prompt.text, &play, &error)) {
		play.ns += play.kind == PLAY_TO && screen->vitals ? screen->vitals->answer.zero : 0;
		order(screen, &play, now);
	} else {
		status_say(&screen->status, true, error, now);
	}
	free(error);
}
