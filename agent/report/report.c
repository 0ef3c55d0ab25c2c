/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/annotation.h"
#include "agent/answers/call_tree.h"
#include "agent/answers/profile.h"
#include "agent/base/job.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/lease.h"
#include "agent/query/query.h"
#include "agent/query/question/grouping.h"
#include "agent/query/stop.h"
#include "agent/session/session.h"
#include "agent/session/capture.h"
#include "agent/store/sample_log.h"
#include "agent/store/store.h"
#include "agent/vm/link.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/state_words.h"
#include "agent/wire/decode.h"
#include "report.h"
#include "report_file.h"
#include "report_parts.h"

enum {
	BOOT_WAITS = 6,			/* a guest that sends bytes, but not its facts, has so many times --wait */
	CLOSE_MS = 3000,		/* longest wait for the guest's last count */
	TROUBLE = 256,			/* bytes of a remark */
};

void report_enter(struct report *report, enum report_state state)
{
	static const uint64_t wait_ms[] = {
		[REPORT_CLOSING] = CLOSE_MS, [REPORT_NAMING] = REPORT_NAMES_MS, [REPORT_FAILED] = 0,
	};

	report->state = state;
	report->deadline = util_now() + wait_ms[state] * NS_PER_MS;
	report->asked = report->answered = false;
}

bool report_is_late(const struct report *report)
{
	return util_now() >= report->deadline;
}

void report_fail(struct report *report, const char *what)
{
	report->error = util_copy(what, strlen(what));
	report->state = REPORT_FAILED;
}

void report_note(struct report *report, const char *what, const char *why)
{
	size_t used = strlen(report->note);

	util_print(report->note + used, sizeof(report->note) - used, "%s%s%s%s",
		used ? "; " : "", what, *why ? ": " : "", why);
}

/* Events have rows of their own: of these groups there are some. */
static bool groups_events(int by)
{
	return by == GROUP_FUNCTION || by == GROUP_LINE || by == GROUP_PROCESS || by == GROUP_THREAD ||
		by == GROUP_CPU || by == GROUP_LOCK;
}

char *report_options_mistake(const struct report_request *request)
{
	bool folded = request->files[EXPORT_FOLDED];

	if (request->events && !groups_events(request->by))
		return util_format("--by %s: without effect on --events, whose rows are by function, line, thread, "
			"process, cpu or lock; leave one of them out", group_words[request->by]);
	if (!request->events && request->by == GROUP_LOCK)
		return util_format("--by lock: without effect: it is for report --events; leave it out");
	if (request->baseline && !request->events && !request->allocations)
		return util_format("--baseline: without effect: it is for report --events and --allocations; "
			"`ktop diff` compares profiles");
	if (request->out)			/* which has rules of its own (report_export_mistake) */
		return NULL;
	if (!folded && (request->threads || request->inlined || !request->kernel_mark))
		return util_format("--%s: without effect: it is for --folded; leave it out",
			request->threads ? "threads" : request->inlined ? "inline" : "kernel-mark");
	if (request->least != REPORT_LEAST && request->tree < 0)
		return util_format("--least: without effect: it is for --tree; leave it out");
	return NULL;
}

struct report *report_new(struct session *session, const struct report_request *request)
{
	struct report *report = util_alloc(sizeof(*report));

	report->session = session;
	report->request = *request;
	report->seen_at = util_now();
	report->deadline = report->seen_at + BOOT_WAITS * request->wait_ns;
	report->error = report_options_mistake(request);
	for (int i = 0; i < EXPORTS && !report->error; i++)
		report->error = request->files[i] ? report_file_mistake(request->files[i]) : NULL;
	if (request->out && !report->error)
		report->error = report_export_mistake(request);
	if (report->error)
		report->state = REPORT_FAILED;
	else if (request->raw)
		report->capture = capture_new(session, &(struct recording_options) { .folder = request->raw });
	return report;
}

struct capture *report_take_capture(struct report *report)
{
	struct capture *capture = report->capture;

	report->capture = NULL;
	return capture;
}

void report_free(struct report *report)
{
	if (!report)
		return;
	session_forget(report->session, report);
	report_give_back(report);
	subscription_leave(report->subscription);
	answer_free((struct answer *)report->profile);
	answer_free((struct answer *)report->tree);
	answer_free((struct answer *)report->annotation);
	answer_free((struct answer *)report->events);
	answer_free((struct answer *)report->memory);
	answer_free((struct answer *)report->timeline);
	answer_free((struct answer *)report->threads);
	export_free(report->export);
	report_export_end_log(report);
	sample_log_release(report->log);
	epoch_release(report->epoch);
	job_leave(report->file);		/* a file that is being written is still finished */
	capture_leave(report->capture);
	free(report->unwritten);
	free(report->error);
	free(report);
}

bool report_is_up(const struct report *report)
{
	return session_link(report->session) == LINK_UP && !session_over(report->session);
}

/* The VM is gone, or, without QMP, its port is. */
static bool is_alone(const struct report *report)
{
	enum vm_state vm = session_source(report->session).vm;

	return vm == VM_GONE || (vm == VM_UNKNOWN && session_link(report->session) == LINK_LOST);
}

void report_take_boot(struct report *report, struct epoch *epoch)
{
	report->epoch = epoch_hold(epoch);
	report->subscription = session_subscribe(report->session, NULL, epoch);
}

/* ---- the window ---- */

/* True: `moves`, a count that changes while the guest runs, has not changed for more than `ns`. */
static bool is_still(struct report *report, uint64_t moves, uint64_t ns)
{
	uint64_t now = util_now();

	if (moves != report->seen) {
		report->seen = moves;
		report->seen_at = now;
	}
	return now - report->seen_at > ns;
}

static void fail_silent(struct report *report)
{
	char trouble[TROUBLE], *why;

	session_trouble(report->session, trouble, sizeof(trouble));
	why = util_format("the guest has told nothing of itself in %.4g s: %s (--wait waits longer)",
		(double)report->request.wait_ns / (double)NS_PER_SECOND,
		trouble[0] ? trouble : session_words(report->session)->trouble);

	report_fail(report, why);
	free(why);
}

static void fail_paused(struct report *report)
{
	char *why = util_format("no report: %s", state_words_of_vm(VM_PAUSED)->trouble);

	report_fail(report, why);
	free(why);
}

static void fail_alone(struct report *report)
{
	const struct epoch *epoch = session_epoch(report->session);

	session_forget(report->session, report);	/* nobody answers */
	report_fail(report, epoch && epoch->known ? "no report: the VM has ended; start it again" :
		"no report: the VM ended before its guest told anything of itself; start it again");
}

static void wait_for_guest(struct report *report)
{
	struct epoch *epoch = session_epoch(report->session);
	uint64_t bytes = decode_counts(session_decode(report->session)).bytes;

	if (session_source(report->session).play.there) {
		report_take_recording(report);
	} else if (report_looks_back(&report->request)) {
		report_take_past(report);
	} else if (is_alone(report)) {
		fail_alone(report);
	} else if (session_source(report->session).vm == VM_PAUSED) {
		fail_paused(report);
	} else if (session_link(report->session) == LINK_UP && epoch->status_known) {
		report_take_boot(report, epoch);
		report_export_log(report);
		report_enter(report, REPORT_SAMPLER);
		report_refuse_cpu(report);
	} else if (is_still(report, bytes, report->request.wait_ns) || report_is_late(report)) {
		fail_silent(report);
	}
}

/* If all samples are this report's, the excerpt has no end: it has all that come. Else it ends with the window. */
static void begin_window(struct report *report)
{
	report->begin = report->seen = epoch_now(report->epoch);
	report->end = report->begin + report->request.duration_ns;
	report->seen_at = util_now();
	report->excerpt.until_ns = report->whole ? 0 : report->end;
	report_enter(report, REPORT_RUNNING);
}

/*
 * Where a range has to begin to have the whole slice in which `from` lies: a range has the slices whose middle is in it
 * (span_find).
 */
static uint64_t whole_slice(uint64_t from)
{
	return from > STORE_SLICE_NS / 2 ? from - STORE_SLICE_NS / 2 + 1 : 0;
}

/*
 * True: another report's last samples are still to come, or lie in the present slice. While the guest's clock stands
 * still, the present slice does not end, so that wait is bounded.
 */
static bool awaits_others(struct report *report)
{
	const struct lease *lease = report_lease(report);
	uint64_t now = epoch_now(report->epoch);

	return lease->closing ||
		(lease->closed && now >= lease->closed && now < lease->closed + STORE_SLICE_NS &&
		!is_still(report, now, report->request.wait_ns));
}

/* The profiler is on already. If another report has it on, this one shares the lease. If not, it stays on. */
static void join(struct report *report)
{
	report->started = report_lease(report)->profiler > 0;
	report_lease(report)->profiler += report->started;
	report->excerpt.zero_ns = epoch_now(report->epoch);
	begin_window(report);
	if (report->request.boot) {
		report->begin = report->excerpt.zero_ns = 0;
		report->end = report->excerpt.until_ns = report->request.duration_ns;
	}
}

static void start(struct report *report)
{
	if (report->answered) {
		begin_window(report);
	} else if (!report->asked && report->epoch->status.running && !report_lease(report)->closing) {
		join(report);
	} else if (!report->asked && !awaits_others(report)) {
		/* Nothing is being sampled: all samples from here on are this report's. */
		report->excerpt.zero_ns = whole_slice(epoch_now(report->epoch));
		report->whole = report->started = true;
		report_lease(report)->profiler++;
		report_profile(report, true);
	}
}

/* The guest can be told, and still is in the report's boot. */
static bool is_there(const struct report *report)
{
	return session_link(report->session) == LINK_UP &&
		session_epoch(report->session) == report->epoch;
}

/* If somebody else wants the profiler on, it stays on. What is sampled after the window is theirs. */
static void end_window(struct report *report)
{
	report->status = report->epoch->status;
	report->status.note = (struct text) { 0 };
	if (session_epoch(report->session) == report->epoch && report->started &&
			(report_lease(report)->profiler > 1 || report_lease(report)->kept)) {
		report->whole = report_return_profiler(report);
		report->excerpt.until_ns = report->end;
	}
	if (report->waited)
		report->excerpt.until_ns = report->end;
	if (!is_there(report))
		report_leave_guest(report);
	else
		report_enter(report, report->started ? REPORT_STOPPING : REPORT_RATE_BACK);
}

static void fail_early(struct report *report, const char *why)
{
	char *text = util_format("no report: %s before it began; start it again", why);

	report_fail(report, text);
	free(text);
}

static char *interrupted(const struct report *report)
{
	return report->request.out ? util_format("%s: not written: interrupted; take it again", report->request.out) :
		util_format("no report: interrupted; ask again");
}

/* True: there is nothing to show, or the file is not wanted any more. */
static bool is_given_up(const struct report *report)
{
	const struct report_request *request = &report->request;

	return stop_now(session_given_up(report->session)) ||
		(report->state < REPORT_RUNNING && request->recording) ||
		(report->state == REPORT_NAMING && (request->out || (request->recording && !report->profile)));
}

static void give_up(struct report *report)
{
	char *why = interrupted(report);

	report_export_cut(report);
	report_fail(report, why);
	free(why);
}

/* Before the window there is no report; in the window it ends; after it, only the wait for names ends. */
static void cut(struct report *report, const char *why)
{
	report->hurried = true;
	if (report->epoch)
		epoch_walk_held(report->epoch, true);
	if (is_given_up(report)) {
		give_up(report);
	} else if (report->state < REPORT_RUNNING) {
		fail_early(report, why);
	} else if (report->state == REPORT_WRITING) {
		report_export_cut(report);
	} else if (report->state == REPORT_NAMING) {
		report->deadline = 0;
	} else if (report->state == REPORT_RUNNING) {
		report_note(report, "cut short", why);
		util_print(report->cut, sizeof(report->cut), "%s", why);
		if (!report->waited)
			report->end = epoch_now(report->epoch);
		report->excerpt.until_ns = 0;
		end_window(report);
	}
}

void report_cut(struct report *report, const char *why, uint64_t late)
{
	report->cut_at = util_now();
	report->late = late;
	cut(report, why);
}

/* The guest stands still. The report is an error, but shows what came before. */
static void cut_still(struct report *report)
{
	char trouble[TROUBLE] = "", *whole;
	const char *why = session_source(report->session).vm == VM_PAUSED ? "the VM is paused" :
		report_is_up(report) ? "the guest's clock stands still" : "the guest's port is lost";

	if (report_is_up(report))
		session_trouble(report->session, trouble, sizeof(trouble));
	report->error = util_format("the report is cut short: %s for %.4g s; %s (--wait waits longer)",
		why, (double)report->request.wait_ns / (double)NS_PER_SECOND,
		trouble[0] ? trouble : "is the guest hanging?");
	whole = util_format("%s%s%s", why, trouble[0] ? ": " : "", trouble);
	cut(report, whole);
	free(whole);
}

/* The window ends early, and nobody asked for that. The report is an error, but shows what came before. */
static void cut_failed(struct report *report, const char *why)
{
	report->error = util_format("the report is cut short: %s; what came before is shown", why);
	cut(report, why);
}

/* A guest that has ended its own VM has only been shorter than was asked for. */
static void cut_gone(struct report *report)
{
	const struct source_facts facts = session_source(report->session);

	if (facts.ended && facts.ended_well)
		cut(report, facts.ended);
	else
		cut_failed(report, facts.ended ? facts.ended : "the VM is gone");
}

/* Before the window there is no report. After it, there is nobody to be set as before. */
static void leave_gone(struct report *report)
{
	const struct source_facts facts = session_source(report->session);
	bool known = facts.ended || facts.vm != VM_GONE;

	if (report->state < REPORT_RUNNING) {
		fail_alone(report);
		return;
	}
	report_note(report, known ? "the VM has ended" : "the VM is gone", report->state > REPORT_CLOSING ? "" :
		"its last count did not come, so more samples may be lost than are told");
	if (report->state == REPORT_STOPPING)
		report->end = epoch_now(report->epoch);
	session_forget(report->session, report);
	report_leave_guest(report);
}

/* QMP has told that the guest goes no further, while QEMU stays (-no-shutdown, -action panic=pause). */
static void cut_ended(struct report *report, enum vm_state vm)
{
	if (vm == VM_PANICKED)
		cut_failed(report, "the guest's kernel has panicked");
	else
		cut(report, "the machine was shut down");
	leave_gone(report);
}

/*
 * What samples lack is read out of the guest's memory only while it is sampled: so it is sampled on, until all samples
 * of the window have what there is. That wait ends by itself: what makes no progress is given up (raw_samples.h).
 */
static bool awaits_memory(struct report *report)
{
	report->waited = epoch_awaits(report->epoch, report->end) || report->waited;
	return epoch_awaits(report->epoch, report->end);
}

/* A port that is lost may come back: the report waits for it as for a guest that stands still. */
static void run(struct report *report)
{
	const struct epoch *epoch = report->epoch;
	enum vm_state vm = session_source(report->session).vm;

	if (session_epoch(report->session) != report->epoch)
		cut_failed(report, "the guest restarted");
	else if (!report_is_up(report) && vm == VM_GONE)
		cut_gone(report);
	else if (report_is_up(report) && epoch->status_known && !epoch->status.running)
		cut_failed(report, "somebody has stopped the profiler");
	else if ((vm == VM_PANICKED || vm == VM_SHUTDOWN) && is_still(report, epoch_now(epoch), NS_PER_SECOND))
		cut_ended(report, vm);
	else if (is_still(report, epoch_now(epoch), report->request.wait_ns))
		cut_still(report);
	else if (epoch_now(epoch) >= report->end && !awaits_memory(report))
		end_window(report);
}

static void stop(struct report *report)
{
	if (report->answered) {
		if (!report->waited)
			report->end = epoch_now(report->epoch);
		report_enter(report, REPORT_CLOSING);
	} else if (!report->asked) {
		report->closing = true;
		report_lease(report)->closing++;
		report_return_profiler(report);
		report_profile(report, false);
	}
}

static void close_books(struct report *report)
{
	if (!report_books_closed(report) && !report_is_late(report))
		return;
	if (!report_books_closed(report))
		report_note(report, "the guest's last count did not come: more samples may be "
			"lost than are told; report again", "");
	report_end_closing(report);
	if (!report->excerpt.until_ns)		/* samples of other reports from now on are not ours */
		report->excerpt.until_ns = report_lease(report)->closed + STORE_SLICE_NS / 2 + 1;
	report_enter(report, REPORT_RATE_BACK);
}

enum report_state report_step(struct report *report)
{
	static void (*const steps[])(struct report *) = {
		[REPORT_WAITING] = wait_for_guest,
		[REPORT_SAMPLER] = report_set_sampler,
		[REPORT_RATE] = report_set_rate,
		[REPORT_STARTING] = start,
		[REPORT_RUNNING] = run,
		[REPORT_STOPPING] = stop,
		[REPORT_CLOSING] = close_books,
		[REPORT_RATE_BACK] = report_set_rate_back,
		[REPORT_SAMPLER_BACK] = report_set_sampler_back,
		[REPORT_NAMING] = report_find_answer,
		[REPORT_WRITING] = report_write_file,
	};

	if (report->state < REPORT_NAMING && session_source(report->session).unsure)
		;				/* the next steps know more */
	else if (session_source(report->session).vm == VM_GONE && report->state != REPORT_RUNNING && report->epoch &&
			report->state < REPORT_NAMING)
		leave_gone(report);
	else if (report->state < REPORT_DONE)
		steps[report->state](report);
	report_leave_silent(report);
	return report->state;
}

static bool put(struct report *report, FILE *out, char **error)
{
	bool good = true;

	query_heed(report->epoch->query, session_given_up(report->session));
	if (report->request.out)
		good = report_export_tell(report, out, error);
	else if (report->request.json)
		good = report_json(report, out, error);
	else
		report_text(report, out);
	query_heed(report->epoch->query, NULL);
	return good;
}

bool report_write(struct report *report, FILE *out, char **error)
{
	bool written = put(report, out, error);
	int why;

	if (stop_now(session_given_up(report->session)) && (!written || !report->request.out)) {
		free(*error);
		*error = interrupted(report);
		return false;
	}
	if (!written)
		return false;
	if (fflush(out) != 0) {
		why = errno;
		return util_fail(error, "standard output: not written: %s; %s",
			why == EINTR ? "interrupted" : strerror(why), util_write_remedy(why));
	}
	return !report->unwritten || util_fail(error, "%s", report->unwritten);
}
