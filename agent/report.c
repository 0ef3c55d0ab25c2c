#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "decode.h"
#include "epoch.h"
#include "export.h"
#include "link.h"
#include "picture.h"
#include "qmp.h"
#include "report.h"
#include "session.h"
#include "store.h"
#include "symbols.h"
#include "util.h"

enum {
	BOOT_WAITS = 6,			/* longest wait for a guest that sends, but not who it is */
	CLOSE_MS = 3000,		/* for the guest's last count */
	NAMES_MS = 3000,		/* for source lines, and for more of the guest's names */
	LONG_NAMES_MS = 60000,	/* also for what was inlined, and for servers */
	TROUBLE = 256,			/* bytes of a remark */
	NS_PER_MS = 1000000,
};

static void enter(struct report *report, enum report_state state)
{
	static const uint64_t wait_ms[] = {
		[REPORT_CLOSING] = CLOSE_MS, [REPORT_NAMING] = NAMES_MS, [REPORT_FAILED] = 0,
	};

	report->state = state;
	report->deadline = util_now() + wait_ms[state] * NS_PER_MS;
	report->asked = report->answered = false;
}

static bool is_late(const struct report *report)
{
	return util_now() >= report->deadline;
}

static void fail(struct report *report, const char *what)
{
	report->error = util_copy(what, strlen(what));
	report->state = REPORT_FAILED;
}

struct report *report_new(struct session *session, const struct report_request *request)
{
	struct report *report = util_alloc(sizeof(*report));

	report->session = session;
	report->request = *request;
	report->sampler_before = -1;
	report->seen_at = util_now();
	report->deadline = report->seen_at + BOOT_WAITS * request->wait_ns;
	return report;
}

static const char *sampler_line(int sampler)
{
	return sampler == SAMPLER_NMI ? "mode nmi" : "mode timer";
}

static void send_rate(struct report *report, uint32_t rate, const struct command_sink *sink)
{
	char *line = util_format("rate %" PRIu32, rate);

	session_ask(report->session, line, sink);
	free(line);
}

/* The lines go out now: nobody may drive the session any further. */
static void give_back(struct report *report)
{
	const struct command_sink nobody = { 0 };

	if (report->started) {
		session_ask(report->session, "stop", &nobody);
		session_profile(report->session, false, &nobody);
	}
	if (report->rate_before)
		send_rate(report, report->rate_before, &nobody);
	if (report->sampler_before >= 0)
		session_ask(report->session, sampler_line(report->sampler_before), &nobody);
}

void report_free(struct report *report)
{
	if (!report)
		return;
	session_forget(report->session, report);
	give_back(report);
	table_free(report->table);
	epoch_release(report->epoch);
	free(report->error);
	free(report);
}

static void add_note(struct report *report, const char *what, const char *why)
{
	size_t used = strlen(report->note);

	snprintf(report->note + used, sizeof(report->note) - used, "%s%s%s%s",
		used ? "; " : "", what, *why ? ": " : "", why);
}

/* ---- what the guest is asked for ---- */

static bool is_up(const struct report *report)
{
	return session_link(report->session) == LINK_UP;
}

/* The guest is still at it: until then, functions may be [unknown]. */
static bool names_come(const struct report *report)
{
	return is_up(report) && symbols_being_told(report->epoch->inputs.symbols);
}

/* While they come, there is time for more. */
static bool awaits_names(struct report *report)
{
	uint64_t told = symbols_generation(report->epoch->inputs.symbols);
	uint64_t end = util_now() + (uint64_t)NAMES_MS * NS_PER_MS;

	if (!names_come(report))
		return false;
	if (told != report->told && !report->hurried && report->deadline < end)
		report->deadline = end;
	report->told = told;
	return !is_late(report);
}

/* Nothing more is wanted of it. */
static void leave_guest(struct report *report)
{
	report->started = false;
	report->rate_before = 0;
	report->sampler_before = -1;
	enter(report, REPORT_NAMING);
	if ((report->request.inlined || session_fetches(report->session)) && !report->hurried)
		report->deadline = util_now() + (uint64_t)LONG_NAMES_MS * NS_PER_MS;
}

/*
 * What cannot be stopped, or set up as before, for the guest hangs or is gone, spoils nothing of
 * the answer.
 */
static void answered(void *context, bool ok, const char *text)
{
	struct report *report = context;

	if (ok) {
		report->answered = true;
	} else if (report->state >= REPORT_STOPPING) {
		if (report->started)
			report->end = epoch_now(report->epoch);
		add_note(report, text, "");
		leave_guest(report);
	} else {
		fail(report, text);
	}
}

static void ask_rate(struct report *report, uint32_t rate)
{
	const struct command_sink sink = { .context = report, .answered = answered };

	report->asked = true;
	send_rate(report, rate, &sink);
}

static void ask_sampler(struct report *report, int sampler)
{
	const struct command_sink sink = { .context = report, .answered = answered };

	report->asked = true;
	session_ask(report->session, sampler_line(sampler), &sink);
}

static void set_sampler(struct report *report)
{
	int before = (int)report->epoch->status.sampler, wanted = report->request.sampler;

	if (wanted < 0 || report->answered) {
		enter(report, REPORT_RATE);
	} else if (!report->asked) {
		report->sampler_before = wanted == before ? -1 : before;
		ask_sampler(report, wanted);
	}
}

static void set_rate(struct report *report)
{
	uint32_t before = report->epoch->status.rate, wanted = report->request.rate;

	if (!wanted || report->answered) {
		enter(report, REPORT_STARTING);
	} else if (!report->asked) {
		report->rate_before = wanted == before ? 0 : before;
		ask_rate(report, wanted);
	}
}

static void set_rate_back(struct report *report)
{
	if (!report->rate_before || report->answered) {
		report->rate_before = 0;
		enter(report, REPORT_SAMPLER_BACK);
	} else if (!report->asked) {
		ask_rate(report, report->rate_before);
	}
}

static void set_sampler_back(struct report *report)
{
	if (report->sampler_before < 0 || report->answered)
		leave_guest(report);
	else if (!report->asked)
		ask_sampler(report, report->sampler_before);
}

static void profile(struct report *report, bool on)
{
	const struct command_sink sink = { .context = report, .answered = answered };

	if (report->asked)
		return;
	report->asked = true;
	session_profile(report->session, on, &sink);
}

/* ---- the window ---- */

/* Has what moves while the guest does been the same for as long as one waits? */
static bool is_still(struct report *report, uint64_t moves)
{
	uint64_t now = util_now();

	if (moves != report->seen) {
		report->seen = moves;
		report->seen_at = now;
	}
	return now - report->seen_at > report->request.wait_ns;
}

static void fail_silent(struct report *report)
{
	char trouble[TROUBLE], *why;

	session_trouble(report->session, trouble, sizeof(trouble));
	why = util_format("the guest says nothing of itself in %.4g s: %s (--wait waits longer)",
		(double)report->request.wait_ns / 1e9,
		trouble[0] ? trouble : link_trouble(session_link(report->session)));

	fail(report, why);
	free(why);
}

static void wait_for_guest(struct report *report)
{
	struct epoch *epoch = session_epoch(report->session);
	uint64_t bytes = decode_counts(session_decode(report->session)).bytes;

	if (session_link(report->session) == LINK_UP && epoch->status_known) {
		report->epoch = epoch_hold(epoch);
		enter(report, REPORT_SAMPLER);
	} else if (session_link(report->session) == LINK_LOST) {
		fail(report, "the VM is gone before its guest told of itself");
	} else if (session_vm(report->session) == VM_PAUSED) {
		fail(report, "the VM is paused; let it run first");
	} else if (is_still(report, bytes) || is_late(report)) {
		fail_silent(report);
	}
}

/* With a profiler that was off before, all that comes is asked for; else the window's slices. */
static void begin_window(struct report *report)
{
	report->begin = report->seen = epoch_now(report->epoch);
	report->end = report->begin + report->request.duration_ns;
	report->seen_at = util_now();
	report->whole = report->started;
	report->question.to = report->whole ? UINT64_MAX : report->end;
	enter(report, REPORT_RUNNING);
}

/* Asked for by whole slices: the one in which this time lies is to be in it. */
static uint64_t whole_slice(uint64_t from)
{
	return from > STORE_SLICE_NS / 2 ? from - STORE_SLICE_NS / 2 + 1 : 0;
}

static void start(struct report *report)
{
	uint64_t now = epoch_now(report->epoch);

	if (report->answered) {
		begin_window(report);
	} else if (!report->asked && report->epoch->status.running) {
		report->question.from = now;
		begin_window(report);
	} else if (!report->asked) {
		/* Nothing was sampled before: what comes from here on is ours, to the last. */
		report->question.from = whole_slice(now);
		report->started = true;
		profile(report, true);
	}
}

static bool is_there(const struct report *report)
{
	return session_link(report->session) == LINK_UP &&
		session_epoch(report->session) == report->epoch;
}

static void end_window(struct report *report)
{
	report->status = report->epoch->status;
	report->status.note = (struct text){ 0 };
	if (!is_there(report))
		leave_guest(report);
	else
		enter(report, report->started ? REPORT_STOPPING : REPORT_RATE_BACK);
}

void report_cut(struct report *report, const char *why)
{
	report->hurried = true;
	if (report->state < REPORT_RUNNING) {
		fail(report, why);
	} else if (report->state == REPORT_NAMING) {
		report->deadline = 0;
	} else if (report->state == REPORT_RUNNING) {
		add_note(report, "cut short", why);
		report->end = epoch_now(report->epoch);
		report->question.to = UINT64_MAX;
		end_window(report);
	}
}

/* What came before is shown all the same. */
static void cut_still(struct report *report)
{
	char trouble[TROUBLE] = "", *whole;
	const char *why = session_vm(report->session) == VM_PAUSED ? "the VM is paused" :
		is_up(report) ? "the guest's clock stands still" : "the guest's port is lost";

	if (is_up(report))
		session_trouble(report->session, trouble, sizeof(trouble));
	report->error = util_format("the report is cut short: %s for %.4g s; %s (--wait waits longer)",
		why, (double)report->request.wait_ns / 1e9,
		trouble[0] ? trouble : "is the guest hanging?");
	whole = util_format("%s%s%s", why, trouble[0] ? ": " : "", trouble);
	report_cut(report, whole);
	free(whole);
}

/* A port that is lost may come back: it is waited for as a guest that stands still. */
static void run(struct report *report)
{
	const struct epoch *epoch = report->epoch;

	if (session_epoch(report->session) != report->epoch)
		report_cut(report, "the guest restarted");
	else if (!is_up(report) && session_vm(report->session) == VM_GONE)
		report_cut(report, "the VM is gone");
	else if (is_up(report) && epoch->status_known && !epoch->status.running)
		report_cut(report, "somebody has stopped the profiler");
	else if (is_still(report, epoch_now(epoch)))
		cut_still(report);
	else if (epoch_now(report->epoch) >= report->end)
		end_window(report);
}

static void stop(struct report *report)
{
	if (report->answered) {
		report->started = false;
		report->end = epoch_now(report->epoch);
		enter(report, REPORT_CLOSING);
	} else {
		profile(report, false);
	}
}

/* Has the last count come, and are its events here or known to be lost? */
static bool is_closed(const struct report *report, uint32_t cpu, enum stream stream)
{
	const struct cpu_status *told = &report->epoch->cpus[cpu].told[stream];
	struct books books = decode_books(session_decode(report->session), stream, cpu);

	return told->size == 0 || (!told->enabled && told->used == 0 &&
		told->taken == books.earlier + books.received + books.lost);
}

static bool all_closed(const struct report *report)
{
	bool closed = true;

	for (uint32_t cpu = 0; cpu < report->epoch->cpus_seen; cpu++)
		closed &= is_closed(report, cpu, STREAM_SAMPLES) &&
			is_closed(report, cpu, STREAM_TRACE);
	return closed;
}

static void close_books(struct report *report)
{
	if (all_closed(report)) {
		enter(report, REPORT_RATE_BACK);
	} else if (is_late(report)) {
		add_note(report, "the guest's last count did not come", "");
		enter(report, REPORT_RATE_BACK);
	}
}

/* ---- the answer ---- */

static void put_filter(struct report *report)
{
	const struct report_request *request = &report->request;
	struct filter *filter = &report->question.filter;

	report->question.inlined = request->inlined;
	report->question.callers = request->json ? CALLERS_ALL : CALLERS_NONE;
	filter->cpu = request->cpu;
	filter->modes = request->mode < 0 ? 0 : 1u << request->mode;
	if (request->thread)
		strncat(filter->thread, request->thread, sizeof(filter->thread) - 1);
	if (request->function)
		strncat(filter->pattern, request->function, sizeof(filter->pattern) - 1);
}

static bool lines_known(const struct report *report)
{
	struct symbols *symbols = report->epoch->inputs.symbols;
	bool known = true;

	for (size_t i = 0; i < report->table->count; i++)
		known &= symbols_line(symbols, report->table->rows[i].function) != NULL;
	return known;
}

/* Addresses in the stacks of which it is not known what was inlined there, where that is wanted. */
static uint32_t unread(const struct report *report)
{
	return report->request.inlined && report->request.folded ?
		query_unread(report->epoch->query, &report->question) : 0;
}

/* A window into a longer profile is as long as the slices that it is made of. */
static double seconds_of(const struct report *report)
{
	const struct table *table = report->table;
	uint64_t span = report->whole ? report->end - report->begin : table->to - table->from;

	return (double)span / 1e9;
}

/* Gaps have no thread and no mode: what they are a share of has all of them. */
static double missed_share(const struct report *report)
{
	struct question all = report->question;
	struct table *table;
	double share;

	all.filter = (struct filter){ .cpu = report->question.filter.cpu };
	table = query_table(report->epoch->query, &all);
	share = table->missed ?
		(double)table->missed / (double)(table->missed + table->weight) : 0;
	table_free(table);
	return share;
}

static void note_unread(struct report *report, uint32_t count)
{
	char *what = util_format("at %" PRIu32 " addresses it is not known yet what is inlined", count);

	if (count)
		add_note(report, what, "");
	free(what);
}

static void name(struct report *report)
{
	uint32_t left;

	if (!report->table) {
		if (awaits_names(report))
			return;
		put_filter(report);
		report->table = query_table(report->epoch->query, &report->question);
		report->seconds = seconds_of(report);
		report->missed = missed_share(report);
	}
	left = unread(report);
	if ((lines_known(report) && left == 0) || is_late(report)) {
		note_unread(report, left);
		if (names_come(report))
			add_note(report, "the guest has not yet told all names of its kernel", "");
		table_sort(report->table, report->epoch->inputs.symbols, report->request.sort,
			false);
		report->state = REPORT_DONE;
	}
}

enum report_state report_step(struct report *report)
{
	static void (*const steps[])(struct report *report) = {
		[REPORT_WAITING] = wait_for_guest,
		[REPORT_SAMPLER] = set_sampler,
		[REPORT_RATE] = set_rate,
		[REPORT_STARTING] = start,
		[REPORT_RUNNING] = run,
		[REPORT_STOPPING] = stop,
		[REPORT_CLOSING] = close_books,
		[REPORT_RATE_BACK] = set_rate_back,
		[REPORT_SAMPLER_BACK] = set_sampler_back,
		[REPORT_NAMING] = name,
	};

	if (report->state < REPORT_DONE)
		steps[report->state](report);
	return report->state;
}

bool report_has_books(const struct report *report)
{
	return session_epoch(report->session) == report->epoch;
}

bool report_write(struct report *report, FILE *out, char **error)
{
	const struct folded_options options = {
		.kernel_mark = report->request.kernel_mark,
		.thread_first = report->request.threads,
	};
	struct export_result result;

	if (!report->request.json)
		report_text(report, out);
	else if (!report_json(report, out))
		return util_fail(error, "JSON: no memory; ask for less");
	if (fflush(out) != 0)
		return util_fail(error, "report: not written: %s; make room there", strerror(errno));
	return !report->request.folded || export_folded(report->request.folded,
		report->epoch->query, &report->epoch->inputs, &report->question, options, &result,
		error);
}
