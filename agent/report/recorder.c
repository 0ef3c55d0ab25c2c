/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/answers/event_table.h"
#include "agent/base/duration_text.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/guest_events.h"
#include "agent/session/session.h"
#include "agent/session/capture.h"
#include "agent/session/flight.h"
#include "agent/trace/span.h"
#include "agent/wire/metadata.h"
#include "agent/wire/event.h"
#include "recorder.h"
#include "report.h"

#define OPTION(word, takes, what, member, text, ...) \
	{ .name = word, .value = takes, .help = text, .kind = what, \
		.offset = offsetof(struct recorder_request, member), __VA_ARGS__ }

/* How long a recording waits for a guest that is silent: it may reboot, or be paused. 116 days. */
static const uint64_t forever_ns = NS_PER_SECOND * 10000000;

/* "NAME>DURATION". False: it is something else. */
static bool read_when(const char *text, char name[EVENT_TEXT], uint64_t *bound)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", NS_PER_MS }, { "s", NS_PER_SECOND },
	};
	const char *sign = strchr(text, '>');
	char *end = NULL;
	double number = sign ? strtod(sign + 1, &end) : -1;

	if (!sign || sign == text || sign - text >= EVENT_TEXT || end == sign + 1 || !(number >= 0 && number < 1e7))
		return false;
	util_print(name, EVENT_TEXT, "%.*s", (int)(sign - text), text);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0)
			return (*bound = (uint64_t)(number * units[i].ns)) || true;
	return false;
}

static bool recorder_check_when(const char *text, char **error)
{
	char name[EVENT_TEXT];
	uint64_t bound;

	return strcmp(text, "panic") == 0 || read_when(text, name, &bound) ||
		util_fail(error, "not understood: it is no NAME and time; give panic, or as in 'syscall>50ms'");
}

const struct option_row recorder_options[] = {
	OPTION("output", "DIR", OPTION_FOLDER, folder, "a new or an empty folder for it (or -o "
		"DIR)", .letter = 'o'),
	OPTION("seconds", "N", OPTION_SECONDS, duration_ns,
		"seconds of guest time to record (else until Ctrl-C)"),
	OPTION("wait", "N", OPTION_SECONDS, wait_ns, "seconds to wait for the guest's first data (10)"),
	OPTION("max-size", "MIB", OPTION_NUMBER, part_mib, "size at which a part ends and the next begins",
		.least = 1, .most = 1 << 20),
	OPTION("max-files", "N", OPTION_NUMBER, parts, "how many parts to keep; the oldest is removed",
		.least = 1, .most = 1 << 20),
	OPTION("raw-stacks", NULL, OPTION_FLAG, raw_stacks,
		"keep registers and bytes of stacks, to walk these anew later"),
	OPTION("rate", "N", OPTION_NUMBER, rate, "samples per second on each CPU, 1 to 20000",
		.least = 1, .most = 20000),
	OPTION("sampler", SAMPLER_CHOICES, OPTION_CHOICE, sampler, "nmi sees code with interrupts off; none: the guest "
		"only traces"),
	OPTION("rolling", "N", OPTION_SECONDS, lead_ns,
		"keep the last N seconds in memory, and record these at the end"),
	OPTION("when", "WHAT", OPTION_TEXT, when, "end when the guest panics (panic), or something of that NAME in "
		"Events takes longer: 'syscall>50ms'", .check = recorder_check_when),
	{ 0 },
};

const struct recorder_request recorder_default = {
	.wait_ns = REPORT_WAIT_SECONDS * NS_PER_SECOND,
	.sampler = -1,
};

struct recorder {
	struct session *session;
	struct recorder_request request;
	struct capture *capture;	/* NULL: there is `flight` */
	struct flight *flight;		/* the session's; NULL: there is `capture` */
	uint64_t kept;			/* guest ns of it that were recorded */
	bool short_of_memory;		/* more was to be */
	char *said;			/* why it ended, of --when; NULL: it did not */
	bool waits;			/* the guest cannot meet --when as it is, and that was said */
	uint64_t looked;		/* guest ns of the present boot: up to there nothing met --when */
	struct report *report;		/* of the present boot, to have the profiler on; NULL: the recording is over */
	uint64_t left_ns;		/* guest time still to be recorded */
	char *ended;			/* why it ended early; NULL: it did not */
	const char *cut;		/* why recorder_cut was called; NULL: it was not */
	bool failed;			/* the first boot's report failed, and nothing was recorded */
};

static void begin_boot(struct recorder *recorder, uint64_t wait_ns)
{
	struct report_request request = report_default;

	recorder->looked = 0;
	request.duration_ns = recorder->left_ns;
	request.wait_ns = wait_ns;
	request.rate = recorder->request.rate;
	request.sampler = recorder->request.sampler;
	recorder->report = report_new(recorder->session, &request);
}

struct recorder *recorder_new(struct session *session, const struct recorder_request *request)
{
	struct recorder *recorder = util_alloc(sizeof(*recorder));
	const struct recording_options options = {
		.folder = request->folder,
		.part_bytes = (uint64_t)request->part_mib << 20,
		.parts = request->parts,
		.walks = !request->raw_stacks,
	};

	recorder->session = session;
	recorder->request = *request;
	recorder->left_ns = request->duration_ns ? request->duration_ns : forever_ns;
	if (request->lead_ns)
		recorder->flight = session_flight(session, request->lead_ns);
	else
		recorder->capture = capture_new(session, &options);
	begin_boot(recorder, request->wait_ns);
	return recorder;
}

void recorder_free(struct recorder *recorder)
{
	if (!recorder)
		return;
	report_free(recorder->report);
	capture_leave(recorder->capture);
	free(recorder->said);
	free(recorder->ended);
	free(recorder);
}

/* What was recorded so far; of a flight, whether it is anything. */
static struct recording_sums sums_of(const struct recorder *recorder)
{
	const bool any = recorder->report && recorder->report->begin;

	return recorder->capture ? capture_sums(recorder->capture) : (struct recording_sums) { .samples = any };
}

static bool has_restarted(const struct recorder *recorder)
{
	const struct report *report = recorder->report;

	return report->epoch && session_epoch(recorder->session) != report->epoch && !recorder->cut;
}

/* Goes on with the next boot, for what is left of the time. Nothing is spent of it if the window never began. */
static void go_on(struct recorder *recorder)
{
	const struct report *report = recorder->report;
	uint64_t past = report->begin ? epoch_now(report->epoch) - report->begin : 0;

	report_free(recorder->report);
	recorder->left_ns -= past < recorder->left_ns ? past : recorder->left_ns - 1;
	begin_boot(recorder, forever_ns);
}

/*
 * The recording is over. Keeps the reason if it ended early. Where profiling was on already, samples may have been
 * recorded before a report that was cut had begun.
 */
static void end_boot(struct recorder *recorder)
{
	const struct report *report = recorder->report;
	const struct recording_sums sums = sums_of(recorder);
	const char *ended = report->cut[0] ? report->cut : NULL;

	if (report->state == REPORT_FAILED && recorder->cut && sums.samples) {
		ended = recorder->cut;
	} else if (report->state == REPORT_FAILED) {
		recorder->failed = recorder->flight ? !report->begin : sums.boots < 2;
		ended = report->error;
	}
	recorder->ended = ended ? util_copy(ended, strlen(ended)) : NULL;
	report_free(recorder->report);
	recorder->report = NULL;
}

/* Do rows whose names begin with `of` have such a name, or begin with it? */
static bool may_begin(const char *name, const char *of)
{
	size_t size = strlen(of);

	return strncmp(name, of, size) == 0 ? !name[size] || name[size] == ' ' : strstr(of, name) == of;
}

/* Of these the guest names the numbers beforehand. `of`: what stands before the number; without names, any may come. */
static bool may_be_called(const struct guest_events *events, enum trace_role role, const char *name, const char *of)
{
	const bool named = role == ROLE_CALL_BEGIN || role == ROLE_IRQ_BEGIN || role == ROLE_SOFTIRQ_BEGIN;
	const char *rest = strlen(name) > strlen(of) ? name + strlen(of) + 1 : "";
	const struct trace_number *numbers;
	uint32_t count = guest_events_numbers(events, &numbers);
	bool any = false;

	if (!named || (*rest >= '0' && *rest <= '9'))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (numbers[i].role == role && *numbers[i].name) {
			any = true;
			if (strstr(numbers[i].name, rest) == numbers[i].name)
				return true;
		}
	return !any;
}

/* Something whose name begins so, and that takes time, may come of events of this kind. */
static bool may_give(const struct guest_events *events, const struct guest_event *kind, const char *name)
{
	static const struct { enum trace_role role; const char *of; } spans[] = {
		{ ROLE_CALL_BEGIN, "syscall" }, { ROLE_IRQ_BEGIN, "irq" }, { ROLE_SOFTIRQ_BEGIN, "softirq" },
		{ ROLE_LOCK_WAIT, "lock" }, { ROLE_LOCK_ACQUIRED, "hold" }, { ROLE_SWITCH, "sleep" },
		{ ROLE_SWITCH, "blocked" }, { ROLE_SWITCH, "wake to run" }, { ROLE_SWITCH, "preempted" },
	};
	const enum trace_role role = trace_role_named(kind->name);
	char pair[FIELD_NAME_SIZE];

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		if (spans[i].role == role && may_begin(name, spans[i].of))
			return may_be_called(events, role, name, spans[i].of);
	return role == ROLE_NONE && strcmp(trace_pair_name(kind->name, pair), kind->name) != 0 &&
		may_begin(name, pair);
}

/* Says once that nothing of that name can come as the guest is now. What it has, it tells within a second. */
static void say_if_it_waits(struct recorder *recorder, const struct epoch *epoch, const char *name)
{
	const struct guest_event *kind, *off = NULL;
	char *text;

	if (recorder->waits || !epoch->status_known || epoch_now(epoch) < recorder->report->begin + NS_PER_SECOND)
		return;
	for (uint32_t id = 0; (kind = guest_events_from(epoch->events, id)); id = kind->id + 1u)
		if (kind->stream == STREAM_TRACE && may_give(epoch->events, kind, name)) {
			if (guest_events_on(epoch->events, kind->id))
				return;
			off = off ? off : kind;
		}
	recorder->waits = true;
	text = off ? util_format("--when %s: waits: the guest does not trace that; `ktop ctl events +%.*s` has it do "
			"so", recorder->request.when, (int)strcspn(off->name, "_"), off->name) :
		util_format("--when %s: waits: the guest has no event of this name that takes time; `ktop ctl events` "
			"lists what it has", recorder->request.when);
	session_say(recorder->session, true, text);
	free(text);
}

enum { LOOK_MS = 100 };			/* guest time between two looks for --when */

/* Something of that name has ended since the last look, and has taken longer. It says what. */
static void look_for(struct recorder *recorder, const char *name, uint64_t bound)
{
	struct epoch *epoch = session_epoch(recorder->session);
	const struct moment moment = { .epoch = epoch, .decode = session_decode(recorder->session) };
	const uint64_t now = epoch_now(epoch);
	struct event_request request;
	struct event_table *table;
	char text[EVENT_TEXT], took[DURATION_TEXT];

	if (now < recorder->looked + LOOK_MS * NS_PER_MS)
		return;
	say_if_it_waits(recorder, epoch, name);
	memset(&request, 0, sizeof(request));
	request.request.kind = &event_table_kind;
	request.request.excerpt.zero_ns = recorder->looked;
	table = (struct event_table *)event_table_kind.make(&request.request, &moment);
	for (uint32_t i = 0; i < table->count && !recorder->said; i++) {
		const struct event_row *row = &table->rows[i];

		if (row->is.max > bound && strstr(event_row_text(row, EVENT_BY_NAME, text), name) == text)
			recorder->said = util_format("%s took %s", text, duration_text(row->is.max, 3, took));
	}
	recorder->looked = table->to > recorder->looked ? table->to : recorder->looked;
	answer_free(&table->answer);
}

/* Ends it if what was asked for has come. */
static void heed_when(struct recorder *recorder)
{
	const char *when = recorder->request.when;
	char name[EVENT_TEXT];
	uint64_t bound;

	if (!when || recorder->said || !session_epoch(recorder->session))
		return;
	if (read_when(when, name, &bound))
		look_for(recorder, name, bound);
	else if (session_source(recorder->session).vm == VM_PANICKED)
		recorder->said = util_format("the guest has panicked");
	if (recorder->said)
		recorder_cut(recorder, recorder->said, UINT64_MAX);
}

/* The report's table is not wanted. So a boot is done as soon as its report would begin to make the table. */
static void step_boot(struct recorder *recorder)
{
	struct report *report = recorder->report;
	enum report_state state = report_step(report);

	if (state == REPORT_RUNNING)
		report->request.wait_ns = forever_ns;
	if (state == REPORT_RUNNING)
		heed_when(recorder);
	if (state >= REPORT_RUNNING && state < REPORT_NAMING && recorder->capture && capture_failed(recorder->capture))
		recorder_cut(recorder, "the data cannot be written", UINT64_MAX);
	if (state < REPORT_NAMING)
		return;
	if (has_restarted(recorder))		/* the report has failed if its profiler was just being turned on */
		go_on(recorder);
	else
		end_boot(recorder);
}

bool recorder_step(struct recorder *recorder)
{
	if (recorder->report)
		step_boot(recorder);
	return !recorder->report && !(recorder->capture && capture_writes(recorder->capture));
}

void recorder_cut(struct recorder *recorder, const char *why, uint64_t late)
{
	recorder->cut = why;
	if (recorder->report)
		report_cut(recorder->report, why, late);
}

/* What led up to the end. */
static bool write_flight(struct recorder *recorder, struct recording_sums *sums, char **error)
{
	const struct metadata_machine machine = session_machine(recorder->session);
	struct flight_cut *cut = flight_cut_new(recorder->flight, recorder->request.lead_ns, &machine);
	bool good = flight_cut_write(cut, recorder->request.folder, sums, error);

	recorder->kept = flight_cut_span(cut);
	recorder->short_of_memory = flight_cut_is_short(cut);
	flight_cut_free(cut);
	return good;
}

bool recorder_write(struct recorder *recorder, FILE *out, char **error)
{
	struct recording_sums sums = sums_of(recorder);
	const char *ended = recorder->ended;
	struct capture *capture = recorder->capture;

	recorder->capture = NULL;
	if (recorder->flight && !recorder->failed && !write_flight(recorder, &sums, error))
		return false;
	if (!recorder->failed)
		fprintf(out, "%s: recorded: samples and gaps %" PRIu64 ", other events %" PRIu64 ", boots %" PRIu32
			", %.1f MB%s%s\n", recorder->request.folder, sums.samples, sums.events, sums.boots,
			(double)sums.bytes / 1e6, ended ? "; ended: " : "", ended ? ended : "");
	if (recorder->short_of_memory)
		fprintf(out, "%s: that is %.1f s: no more has room in the memory that ktop may use; give more by "
			"--memory\n", recorder->request.folder, (double)recorder->kept / NS_PER_SECOND);
	if (capture && !capture_close(capture, error))
		return false;
	if (recorder->failed)
		return util_fail(error, "%s", ended);
	return !ended || recorder->cut || !recorder->request.duration_ns ||
		util_fail(error, "the recording is cut short: %s; what came before is in it", ended);
}
