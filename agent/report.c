#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "decode.h"
#include "epoch.h"
#include "export.h"
#include "picture.h"
#include "qmp.h"
#include "report.h"
#include "session.h"
#include "store.h"
#include "symbols.h"
#include "util.h"

enum {
	WAIT_MS = 60000,		/* for the guest to boot and to tell of itself */
	STILL_MS = 10000,		/* for the guest's clock to move */
	CLOSE_MS = 3000,		/* for the guest's last count */
	NAMES_MS = 3000,		/* for source lines */
	NS_PER_MS = 1000000,
};

#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct report_request, member), __VA_ARGS__ }

const struct option_row report_options[] = {
	OPTION("seconds", "N", OPTION_SECONDS, duration_ns, "guest time to profile (5)"),
	OPTION("json", NULL, OPTION_FLAG, json, "the report as JSON"),
	OPTION("folded", "FILE", OPTION_FILE, folded,
		"write the stacks as well, one per line, for flame graphs"),
	OPTION("raw", "DIR", OPTION_TEXT, raw, "record what the guest sends, as a CTF trace"),
	OPTION("top", "N", OPTION_NUMBER, top, "rows of the table, 0 for all (30)"),
	OPTION("sort", "self|total|hits|cpu|function|object|source", OPTION_CHOICE, sort,
		"order of the table"),
	OPTION("rate", "N", OPTION_NUMBER, rate, "samples per second and CPU, 1 to 20000",
		.least = 1, .most = 20000),
	OPTION("sampler", "timer|nmi", OPTION_CHOICE, sampler, "nmi sees code with interrupts off"),
	OPTION("cpu", "N", OPTION_NUMBER, cpu, "only this CPU"),
	OPTION("thread", "NAME", OPTION_TEXT, thread,
		"only threads or processes with this in their name"),
	OPTION("mode", "kernel|user|idle", OPTION_CHOICE, mode, "only samples taken in this mode"),
	OPTION("function", "PATTERN", OPTION_TEXT, function,
		"only functions with this in their name"),
	OPTION("threads", NULL, OPTION_FLAG, threads,
		"folded: the thread's name as the root frame"),
	OPTION("kernel-mark", "no|yes", OPTION_CHOICE, kernel_mark,
		"folded: _[k] behind kernel frames (yes)"),
	{ 0 },
};

const struct report_request report_default = {
	.duration_ns = 5000000000u,
	.kernel_mark = 1,
	.sort = COLUMN_SELF,
	.top = 30,
	.sampler = -1,
	.cpu = EVENT_NONE,
	.mode = -1,
};

static void enter(struct report *report, enum report_state state, uint64_t wait_ms)
{
	report->state = state;
	report->deadline = util_now() + wait_ms * NS_PER_MS;
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
	enter(report, REPORT_WAITING, WAIT_MS);
	return report;
}

void report_free(struct report *report)
{
	const struct command_sink nobody = { 0 };

	if (!report)
		return;
	session_forget(report->session, report);
	if (report->started) {
		/* The line goes out now: nobody may drive the session any further. */
		session_ask(report->session, "stop", &nobody);
		session_profile(report->session, false, &nobody);
	}
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

/* A profiler that cannot be stopped, for the guest hangs or is gone, spoils no answer. */
static void answered(void *context, bool ok, const char *text)
{
	struct report *report = context;

	if (ok) {
		report->answered = true;
	} else if (report->state == REPORT_STOPPING) {
		report->started = false;
		report->end = epoch_now(report->epoch);
		add_note(report, text, "");
		enter(report, REPORT_NAMING, NAMES_MS);
	} else {
		fail(report, text);
	}
}

/* Sends the line of this state once, and goes on when the guest has obeyed. */
static void ask(struct report *report, const char *line, enum report_state next)
{
	const struct command_sink sink = { .context = report, .answered = answered };

	if (!line || report->answered) {
		enter(report, next, 0);
	} else if (!report->asked) {
		report->asked = true;
		session_ask(report->session, line, &sink);
	}
}

static void set_rate(struct report *report)
{
	char *line =
		report->request.rate ? util_format("rate %" PRIu32, report->request.rate) : NULL;

	ask(report, line, REPORT_SAMPLER);
	free(line);
}

static void set_sampler(struct report *report)
{
	int sampler = report->request.sampler;

	ask(report, sampler < 0 ? NULL : sampler == SAMPLER_NMI ? "mode nmi" : "mode timer",
		REPORT_STARTING);
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

static void wait_for_guest(struct report *report)
{
	struct epoch *epoch = session_epoch(report->session);

	if (session_link(report->session) == LINK_UP && epoch->status_known) {
		report->epoch = epoch_hold(epoch);
		enter(report, REPORT_RATE, 0);
	} else if (is_late(report)) {
		fail(report,
			"the guest tells nothing of itself: its kernel has no ktop hook or hangs");
	} else if (session_link(report->session) == LINK_LOST) {
		fail(report, "the VM is gone before its guest told of itself");
	} else if (session_vm(report->session) == VM_PAUSED) {
		fail(report, "the VM is paused; let it run first");
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
	enter(report, REPORT_RUNNING, 0);
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

static void end_window(struct report *report)
{
	bool stop = report->started && session_link(report->session) == LINK_UP &&
		session_epoch(report->session) == report->epoch;

	if (stop) {
		enter(report, REPORT_STOPPING, 0);
	} else {
		report->started = false;
		enter(report, REPORT_NAMING, NAMES_MS);
	}
}

void report_cut(struct report *report, const char *why)
{
	if (report->state < REPORT_RUNNING) {
		fail(report, why);
	} else if (report->state == REPORT_RUNNING) {
		add_note(report, "cut short", why);
		report->end = epoch_now(report->epoch);
		report->question.to = UINT64_MAX;
		end_window(report);
	}
}

static bool is_still(struct report *report)
{
	uint64_t now = epoch_now(report->epoch);

	if (now != report->seen) {
		report->seen = now;
		report->seen_at = util_now();
	}
	return util_now() - report->seen_at > (uint64_t)STILL_MS * NS_PER_MS;
}

static void run(struct report *report)
{
	const struct epoch *epoch = report->epoch;

	if (session_epoch(report->session) != report->epoch)
		report_cut(report, "the guest restarted");
	else if (session_link(report->session) != LINK_UP)
		report_cut(report, "the VM is gone");
	else if (epoch->status_known && !epoch->status.running)
		report_cut(report, "somebody has stopped the profiler");
	else if (is_still(report))
		report_cut(report, "the guest's clock stands still");
	else if (epoch_now(report->epoch) >= report->end)
		end_window(report);
}

static void stop(struct report *report)
{
	if (report->answered) {
		report->started = false;
		report->end = epoch_now(report->epoch);
		enter(report, REPORT_CLOSING, CLOSE_MS);
	} else {
		profile(report, false);
	}
}

/* Has every CPU's last count come, and are its events here or known to be lost? */
static bool is_closed(const struct report *report)
{
	const struct epoch *epoch = report->epoch;

	for (uint32_t i = 0; i < epoch->cpus_seen; i++) {
		const struct cpu_status *told = &epoch->cpus[i].told[STREAM_SAMPLES];
		struct books books =
			decode_books(session_decode(report->session), STREAM_SAMPLES, i);

		if (told->size == 0)
			continue;
		if (told->used || told->taken != books.earlier + books.received + books.lost)
			return false;
	}
	return true;
}

static void close_books(struct report *report)
{
	if (is_closed(report)) {
		enter(report, REPORT_NAMING, NAMES_MS);
	} else if (is_late(report)) {
		add_note(report, "the guest's last count did not come", "");
		enter(report, REPORT_NAMING, NAMES_MS);
	}
}

/* ---- the answer ---- */

static void put_filter(struct report *report)
{
	const struct report_request *request = &report->request;
	struct filter *filter = &report->question.filter;

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

/* A window into a longer profile is as long as the slices that it is made of. */
static double seconds_of(const struct report *report)
{
	const struct table *table = report->table;
	uint64_t span = report->whole ? report->end - report->begin : table->to - table->from;

	return (double)span / 1e9;
}

static void name(struct report *report)
{
	if (!report->table) {
		put_filter(report);
		report->table = query_table(report->epoch->query, &report->question);
		report->seconds = seconds_of(report);
	}
	if (lines_known(report) || is_late(report)) {
		table_sort(report->table, report->epoch->inputs.symbols, report->request.sort,
			false);
		report->state = REPORT_DONE;
	}
}

enum report_state report_step(struct report *report)
{
	static void (*const steps[])(struct report *report) = {
		[REPORT_WAITING] = wait_for_guest,
		[REPORT_RATE] = set_rate,
		[REPORT_SAMPLER] = set_sampler,
		[REPORT_STARTING] = start,
		[REPORT_RUNNING] = run,
		[REPORT_STOPPING] = stop,
		[REPORT_CLOSING] = close_books,
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

	if (report->request.folded && !export_folded(report->request.folded, report->epoch->query,
			&report->epoch->inputs, &report->question, options, &result, error))
		return false;
	if (!report->request.json)
		report_text(report, out);
	else if (!report_json(report, out))
		return util_fail(error, "JSON: no memory; ask for less");
	return fflush(out) == 0 || util_fail(error, "report: not written; is there room?");
}
