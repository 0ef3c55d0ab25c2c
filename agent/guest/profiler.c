/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "agent/base/util.h"
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
		.state = PROFILER_ASKED, .on = on, .keeps = keep, .doubt = doubt,
	};
}

static enum profiler_act begin_line(struct profiler *profiler, uint64_t now)
{
	profiler->state = PROFILER_BY_LINE;
	profiler->sent = true;
	profiler->deadline = now + (uint64_t)PROFILER_LINE_MS * NS_PER_MS;
	return PROFILER_SEND_LINE;
}

/* With `doubt` a line is sent, not a key: the guest's answer to it ends the doubt (profiler_obeyed). */
static enum profiler_act begin(struct profiler *profiler, const struct profiler_facts *facts)
{
	if (!facts->key_path || profiler->doubt)
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
	profiler->doubt = false;
}

void profiler_refused(struct profiler *profiler, const char *why)
{
	if (profiler->state == PROFILER_BY_LINE) {
		snprintf(profiler->text, sizeof(profiler->text), "profiling not turned %s: %s",
			word(profiler), why);
		profiler->deadline = 0;
	}
}
