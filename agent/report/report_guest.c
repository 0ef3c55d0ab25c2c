/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/guest/commands.h"
#include "agent/guest/epoch.h"
#include "agent/guest/lease.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "report.h"
#include "report_parts.h"

enum {
	LONG_NAMES_MS = 60000,		/* longest wait for names, if inlined functions or servers make it slow */
};

/* These control lines are in fresh memory. */
static char *rate_line(uint32_t rate)
{
	return util_format("rate %" PRIu32, rate);
}

/* `mode` is the earlier name of the word `sampler`: hooks of all versions take it. From outside, it is the timer. */
static char *sampler_line(enum sampler sampler)
{
	return util_format("mode %s", sampler_word(sampler_is_outside(sampler) ? SAMPLER_TIMER : sampler));
}

struct lease *report_lease(const struct report *report)
{
	return session_lease(report->session);
}

void report_end_closing(struct report *report)
{
	if (!report->closing)
		return;
	report->closing = false;
	report_lease(report)->closing--;
	report_lease(report)->closed = epoch_now(report->epoch);
}

/* True: the guest's last count has come, and all events that it counts have arrived or are known to be lost. */
static bool is_closed(const struct report *report, uint32_t cpu, enum stream stream)
{
	const struct cpu_status *told = &report->epoch->cpus[cpu].told[stream];
	struct books books = decode_books(session_decode(report->session), stream, cpu);

	return told->size == 0 || (!told->enabled && told->used == 0 &&
		told->taken == books.earlier + books.received + books.lost);
}

bool report_books_closed(const struct report *report)
{
	bool closed = true;

	for (uint32_t cpu = 0; cpu < report->epoch->cpus_seen; cpu++)
		closed &= is_closed(report, cpu, STREAM_SAMPLES) &&
			is_closed(report, cpu, STREAM_TRACE);
	return closed;
}

bool report_return_profiler(struct report *report)
{
	bool last = report->started && lease_return_profiler(report_lease(report));

	report->started = false;
	return last;
}

/* True: this was the last holder, and the setting is to be set as it was before. */
static bool return_setting(bool *taken, struct lease_setting *setting)
{
	bool last = *taken && lease_return(setting);

	*taken = false;
	return last;
}

/* Notes that nobody waits for the line's answer. Frees the line. */
static void note_unconfirmed(struct report *report, char *line)
{
	char *what = util_format("the guest did not confirm that it is as before (`%s`); `ktop "
		"ctl %s` tells it again", line, line);

	report_note(report, what, "");
	free(what);
	free(line);
}

/* Sends the line, and waits for no answer. A VM that is gone is sent nothing. Frees the line. */
static void set_back_unseen(struct report *report, struct lease_setting *setting, char *line)
{
	lease_settled(setting);
	if (session_source(report->session).vm == VM_GONE) {
		free(line);
		return;
	}
	session_ask(report->session, line, &(struct command_sink) { 0 });
	note_unconfirmed(report, line);
}

/* The profiler could not be stopped. If nobody else wants it on, it is stopped when the guest can hear. */
static void owe_stop(struct report *report)
{
	const struct lease *lease = report_lease(report);

	if (!lease->profiler && !lease->kept)
		session_stop_owed(report->session);
}

void report_give_back(struct report *report)
{
	const struct command_sink nobody = { 0 };
	struct lease *lease = report_lease(report);
	bool gone = session_source(report->session).vm == VM_GONE;

	report_end_closing(report);
	if (report_return_profiler(report) && !gone) {
		session_ask(report->session, "stop", &nobody);
		session_stop_owed(report->session);
	}
	if (return_setting(&report->rate_taken, &lease->rate))
		set_back_unseen(report, &lease->rate, rate_line(lease->rate.before));
	if (return_setting(&report->sampler_taken, &lease->sampler))
		set_back_unseen(report, &lease->sampler, sampler_line(lease->sampler.before));
}

/*
 * After report_cut somebody waits until `late`. Three quarters of that time are for the guest and for names. In the
 * last quarter the session takes out what was plugged in.
 */
static uint64_t waits_until(const struct report *report)
{
	return report->late > report->cut_at ?
		report->cut_at + (report->late - report->cut_at) / 4 * 3 : report->cut_at;
}

void report_leave_guest(struct report *report)
{
	report_give_back(report);
	report_enter(report, REPORT_NAMING);
	if (report->late)
		report->deadline = waits_until(report);
	else if ((report->request.inlined || report->request.lines || session_fetches(report->session)) &&
			!report->hurried)
		report->deadline = util_now() + (uint64_t)LONG_NAMES_MS * NS_PER_MS;
}

void report_leave_silent(struct report *report)
{
	const struct lease *lease = report_lease(report);

	if (!report->late || report->state < REPORT_STOPPING || report->state >= REPORT_NAMING ||
			util_now() < waits_until(report))
		return;
	if (report->state == REPORT_STOPPING) {
		session_ask(report->session, "stop", &(struct command_sink) { 0 });
		owe_stop(report);
		note_unconfirmed(report, util_format("stop"));
	} else if (report->state == REPORT_CLOSING) {
		report_note(report, "the guest's last count did not come: more samples may be "
			"lost than are told; report again", "");
	} else if (report->asked) {
		note_unconfirmed(report, report->state == REPORT_RATE_BACK ?
			rate_line(lease->rate.before) : sampler_line(lease->sampler.before));
	}
	report_leave_guest(report);
}

static void fail_refused(struct report *report, const char *text)
{
	const char *what = report->state == REPORT_SAMPLER ? "sampler" :
		report->state == REPORT_RATE ? "rate" : NULL;
	char *why = !what ? util_format("%s", text) :
		commands_unanswered(text) ? util_format("no report: --%s: %s", what, text) :
		util_format("no report: --%s: the guest refuses it: %s; leave it out", what, text);

	report_fail(report, why);
	free(why);
}

static void leave_on(struct report *report)
{
	report->end = epoch_now(report->epoch);
	owe_stop(report);
	report_note(report, report->stays ? "the live ktop turns profiling off when the guest answers" :
		"profiling stays on: type `ktop ctl --qmp SOCKET stop` when the guest answers", "");
}

/*
 * The guest has answered a line, or will not. If it hangs or is gone after the window, so that it cannot be stopped or
 * set back, the report is still good: a note says so.
 */
static void answered(void *context, bool ok, const char *text)
{
	struct report *report = context;

	if (ok) {
		report->answered = true;
	} else if (session_source(report->session).vm == VM_GONE) {
		;				/* the next step says so */
	} else if (report->state >= REPORT_STOPPING) {
		report_note(report, text, "");
		if (report->state == REPORT_STOPPING)
			leave_on(report);
		report_leave_guest(report);
	} else {
		fail_refused(report, text);
	}
}

/* Sends a line whose answer ends the present state. Frees the line. */
static void ask(struct report *report, char *line)
{
	const struct command_sink sink = { .context = report, .answered = answered };

	report->asked = true;
	session_ask(report->session, line, &sink);
	free(line);
}

static void fail_lent(struct report *report, const char *option)
{
	char *why = util_format("--%s: another report runs with another value; leave the option "
		"out, or wait until that one ends", option);

	report_fail(report, why);
	free(why);
}

void report_set_sampler(struct report *report)
{
	enum sampler wanted = sampler_chosen(report->request.sampler);

	if (report->request.sampler < 0 || report->answered) {
		report_enter(report, REPORT_RATE);
	} else if (!report->asked) {
		report->sampler_taken = lease_take(&report_lease(report)->sampler, wanted,
			report->epoch->status.sampler);
		if (report->sampler_taken)
			ask(report, sampler_line(wanted));
		else
			fail_lent(report, "sampler");
	}
}

void report_set_rate(struct report *report)
{
	uint32_t wanted = report->request.rate;

	if (!wanted || report->answered) {
		report_enter(report, REPORT_STARTING);
	} else if (!report->asked) {
		report->rate_taken = lease_take(&report_lease(report)->rate, wanted,
			report->epoch->status.rate);
		if (report->rate_taken)
			ask(report, rate_line(wanted));
		else
			fail_lent(report, "rate");
	}
}

void report_set_rate_back(struct report *report)
{
	struct lease_setting *setting = &report_lease(report)->rate;

	if (report->asked && report->answered)
		lease_settled(setting);
	if (report->answered || (!report->asked && !report->rate_taken))
		report_enter(report, REPORT_SAMPLER_BACK);
	else if (!report->asked && return_setting(&report->rate_taken, setting))
		ask(report, rate_line(setting->before));
}

void report_set_sampler_back(struct report *report)
{
	struct lease_setting *setting = &report_lease(report)->sampler;

	if (report->asked && report->answered)
		lease_settled(setting);
	if (report->answered || (!report->asked && !report->sampler_taken))
		report_leave_guest(report);
	else if (!report->asked && return_setting(&report->sampler_taken, setting))
		ask(report, sampler_line(setting->before));
}

void report_profile(struct report *report, bool on)
{
	const struct command_sink sink = { .context = report, .answered = answered };

	report->asked = true;
	session_profile(report->session, on, &sink);
}

void report_refuse_cpu(struct report *report)
{
	uint32_t cpu = report->request.cpu, count = report->epoch->cpu_count;
	char *why;

	if (cpu == EVENT_NONE || cpu < count || !count)
		return;
	why = util_format("--cpu %" PRIu32 ": the guest has %" PRIu32 " CPUs; give 0 to %" PRIu32, cpu,
		count, count - 1);
	report_fail(report, why);
	free(why);
}
