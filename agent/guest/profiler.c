/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/vm/link.h"
#include "agent/vm/state_words.h"
#include "epoch.h"
#include "profiler.h"

static const char *word(const struct profiler *profiler)
{
	return profiler->on ? "on" : "off";
}

void profiler_want(struct profiler *profiler, bool on, bool keep)
{
	bool waits = profiler->state != PROFILER_IDLE;
	bool doubt = waits && (profiler->on != on ? profiler->sent : profiler->doubt);

	*profiler = (struct profiler) {
		.state = PROFILER_ASKED, .on = on, .keeps = keep, .doubt = doubt, .line_out = profiler->line_out,
	};
}

static enum profiler_act begin_line(struct profiler *profiler, uint64_t now)
{
	profiler->state = PROFILER_BY_LINE;
	profiler->sent = profiler->line_out = true;
	profiler->deadline = now + (uint64_t)PROFILER_LINE_MS * NS_PER_MS;
	return PROFILER_SEND_LINE;
}

/*
 * With `doubt` a line is sent, not a key: the guest's answer to it ends the doubt (profiler_obeyed). So it is while an
 * older line may still be in the port: a key would overtake it, and then the guest would obey the older one last.
 */
static enum profiler_act begin(struct profiler *profiler, const struct profiler_facts *facts)
{
	if (!facts->key_path || profiler->doubt || profiler->line_out)
		return begin_line(profiler, facts->now);
	profiler->state = PROFILER_BY_KEY;
	profiler->sent = profiler->key_tried = true;
	profiler->deadline = facts->now + (uint64_t)PROFILER_KEY_MS * NS_PER_MS;
	profiler->pressed = facts->guest_now;
	return PROFILER_PRESS_KEYS;
}

static enum profiler_act confirm(struct profiler *profiler)
{
	const char *way = profiler->state == PROFILER_ASKED ? "already" :
		profiler->state == PROFILER_BY_KEY ? "by key" :
		profiler->state == PROFILER_KEPT ? "the guest answers again" :
		profiler->key_tried ? "by port: the key did not arrive" : "by port: the guest takes no keys";

	snprintf(profiler->text, sizeof(profiler->text), "profiling %s (%s)", word(profiler), way);
	profiler->state = PROFILER_IDLE;
	return PROFILER_DONE;
}

/* Says once that the wish is kept, though it may be sent, and kept again, many times. */
static enum profiler_act keep(struct profiler *profiler, const char *hindrance)
{
	bool told = profiler->told;

	snprintf(profiler->text, sizeof(profiler->text), "profiling %s when the guest answers: %s",
		profiler->on ? "starts" : "stops", hindrance ? hindrance : "it is silent");
	profiler->state = PROFILER_KEPT;
	profiler->told = true;
	return told ? PROFILER_WAIT : PROFILER_KEEP;
}

static enum profiler_act give_up(struct profiler *profiler, const struct profiler_facts *facts)
{
	const char *hindrance = facts->hindrance;

	if (profiler->keeps && (hindrance || facts->silent))
		return keep(profiler, hindrance);
	if (!profiler->text[0])
		snprintf(profiler->text, sizeof(profiler->text), "profiling not turned %s: %s",
			word(profiler), hindrance ? hindrance :
			"the guest answered neither by key nor by port; does its hook run?");
	profiler->state = PROFILER_IDLE;
	return PROFILER_FAILED;
}

/* By its own time, the guest has not had PROFILER_KEY_MS since the key was pressed: the key may still work. */
static bool is_behind(const struct profiler *profiler, const struct profiler_facts *facts)
{
	return profiler->state == PROFILER_BY_KEY && profiler->deadline && !facts->hindrance && !facts->silent &&
		facts->guest_now - profiler->pressed < (uint64_t)PROFILER_KEY_MS * NS_PER_MS &&
		facts->now < profiler->deadline + (uint64_t)PROFILER_BUSY_MS * NS_PER_MS;
}

enum profiler_act profiler_step(struct profiler *profiler, const struct profiler_facts *facts)
{
	if (profiler->state == PROFILER_IDLE)
		return PROFILER_WAIT;
	if (facts->status_known && facts->running != profiler->on)
		profiler->doubt = false;	/* the contrary wish has been met, and can come no more */
	if (facts->status_known && facts->running == profiler->on && !profiler->doubt)
		return confirm(profiler);
	if (profiler->state == PROFILER_KEPT)
		return facts->hindrance || facts->silent ? PROFILER_WAIT : begin(profiler, facts);
	if (profiler->state == PROFILER_ASKED)
		return facts->hindrance ? give_up(profiler, facts) : begin(profiler, facts);
	if (facts->now < profiler->deadline || is_behind(profiler, facts))
		return PROFILER_WAIT;
	if (profiler->state == PROFILER_BY_KEY)
		return begin_line(profiler, facts->now);
	return give_up(profiler, facts);
}

void profiler_no_key(struct profiler *profiler)
{
	if (profiler->state == PROFILER_BY_KEY)
		profiler->deadline = 0;
}

void profiler_obeyed(struct profiler *profiler)
{
	profiler->doubt = profiler->line_out = false;
}

void profiler_refused(struct profiler *profiler, const char *why)
{
	profiler->line_out = false;
	if (profiler->state == PROFILER_BY_LINE) {
		snprintf(profiler->text, sizeof(profiler->text), "profiling not turned %s: %s",
			word(profiler), why);
		profiler->deadline = 0;
	}
}

/* ---- what is wanted of it ---- */

enum { HINDRANCE = 160 };

struct profiler_want {			/* somebody who waits for the outcome */
	struct command_sink sink;
	bool keep;
};

static void answer(const struct profiler_want *want, bool ok, const char *text)
{
	if (want->sink.answered)
		want->sink.answered(want->sink.context, ok, text);
}

static void add(struct profiler_drive *drive, const struct profiler_want *want)
{
	drive->wants = util_grow(drive->wants, drive->want_count + 1, sizeof(*want));
	drive->wants[drive->want_count++] = *want;
}

/*
 * Tells the outcome to all who wait. With `keeps`, those who asked with `keep` are told true and go on waiting; the
 * others are told false and are done.
 */
static void answer_all(struct profiler_drive *drive, bool keeps, bool ok)
{
	struct profiler_want *wants = drive->wants;
	size_t count = drive->want_count;
	char text[sizeof(drive->profiler.text)];

	/* A sink may ask for the next thing from inside its call, so the list is put in order first. */
	strcpy(text, drive->profiler.text);
	drive->wants = NULL;
	drive->want_count = 0;
	for (size_t i = 0; keeps && i < count; i++)
		if (wants[i].keep)
			add(drive, &wants[i]);
	for (size_t i = 0; i < count; i++)
		answer(&wants[i], keeps ? wants[i].keep : ok, text);
	free(wants);
}

static void finish(struct profiler_drive *drive, bool ok)
{
	answer_all(drive, false, ok);
}

/* The wish is kept from now on. For those who asked without `keep`, it has failed. */
static void tell_kept(struct profiler_drive *drive)
{
	answer_all(drive, true, false);
}

void profiler_drive_want(struct profiler_drive *drive, bool on, bool keep,
	const struct command_sink *sink)
{
	struct profiler *profiler = &drive->profiler;
	const struct profiler_want want = { *sink, keep };
	bool shares;

	profiler_drive_forget(drive, sink->context);
	/* Others wait for the same: this one shares the outcome. */
	shares = drive->want_count && profiler->state != PROFILER_IDLE && profiler->on == on;
	if (drive->want_count && !shares) {
		snprintf(profiler->text, sizeof(profiler->text), "profiling not turned %s: a "
			"later request turns it %s; ask again if that is "
			"wrong", on ? "off" : "on", on ? "on" : "off");
		finish(drive, false);
	}
	if (shares && profiler->state == PROFILER_KEPT && !keep) {
		answer(&want, false, profiler->text);
		return;
	}
	if (!shares)
		profiler_want(profiler, on, keep);
	profiler->keeps = profiler->keeps || keep;
	add(drive, &want);
}

enum kept_wish profiler_drive_kept(const struct profiler_drive *drive)
{
	const struct profiler *profiler = &drive->profiler;

	return profiler->state == PROFILER_IDLE || !profiler->told ? KEPT_NONE :
		profiler->on ? KEPT_ON : KEPT_OFF;
}

void profiler_drive_forget(struct profiler_drive *drive, const void *context)
{
	size_t left = 0;

	for (size_t i = 0; i < drive->want_count; i++)
		if (drive->wants[i].sink.context != context)
			drive->wants[left++] = drive->wants[i];
	drive->want_count = left;
}

void profiler_drive_clear(struct profiler_drive *drive)
{
	free(drive->wants);
	*drive = (struct profiler_drive) { 0 };
}

static const char *hindrance_of(const struct profiler_guest *guest, char text[HINDRANCE])
{
	enum vm_state vm = link_vm(guest->link);
	const struct state_words *words;

	if (vm == VM_PAUSED || vm == VM_GONE)
		return state_words_of_vm(vm)->trouble;
	if (guest->state == LINK_UP)
		return NULL;
	words = state_words_of_link(guest->state, link_by(guest->link));
	snprintf(text, HINDRANCE, "nothing is known of the guest: %s", words->trouble);
	return text;
}

static enum profiler_act decide(struct profiler_drive *drive, const struct profiler_guest *guest)
{
	const struct epoch *epoch = guest->epoch;
	char hindrance[HINDRANCE];
	const struct profiler_facts facts = {
		.now = util_now(), .guest_now = epoch ? epoch_now(epoch) : 0,
		.key_path = epoch && link_qmp(guest->link) && link_facts(guest->link)->i8042 &&
			epoch->keys_on_count && epoch->keys_off_count,
		.status_known = epoch && epoch->status_known,
		.running = epoch && epoch->status.running,
		.silent = link_silent(guest->link),
		.hindrance = hindrance_of(guest, hindrance),
	};

	return profiler_step(&drive->profiler, &facts);
}

static void press_keys(struct profiler_drive *drive, const struct profiler_guest *guest)
{
	const struct epoch *epoch = guest->epoch;
	bool on = drive->profiler.on;

	if (!qmp_send_keys(link_qmp(guest->link), on ? epoch->keys_on : epoch->keys_off,
			on ? epoch->keys_on_count : epoch->keys_off_count))
		profiler_no_key(&drive->profiler);
}

static void line_answered(void *context, bool ok, const char *text)
{
	struct profiler_drive *drive = context;
	char *why = commands_unanswered(text) ? util_copy(text, strlen(text)) :
		util_format("the guest refuses: %.80s; try again", text);

	if (ok)
		profiler_obeyed(&drive->profiler);
	else
		profiler_refused(&drive->profiler, why);
	free(why);
}

static void send_line(struct profiler_drive *drive, const struct profiler_guest *guest)
{
	const struct command_sink sink = { .context = drive, .answered = line_answered };

	commands_send(guest->commands, link_socket(guest->link),
		drive->profiler.on ? "start" : "stop", sink, util_now());
}

void profiler_drive_step(struct profiler_drive *drive, const struct profiler_guest *guest)
{
	enum profiler_act act;

	while ((act = decide(drive, guest)) != PROFILER_WAIT) {
		if (act == PROFILER_PRESS_KEYS)
			press_keys(drive, guest);
		else if (act == PROFILER_SEND_LINE)
			send_line(drive, guest);
		else if (act == PROFILER_KEEP)
			tell_kept(drive);
		else
			finish(drive, act == PROFILER_DONE);
	}
}

bool profiler_drive_waits(const struct profiler_drive *drive)
{
	enum profiler_state state = drive->profiler.state;

	return state != PROFILER_IDLE && state != PROFILER_KEPT;
}
