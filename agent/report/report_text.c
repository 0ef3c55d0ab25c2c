/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <locale.h>
#include <string.h>

#include "agent/answers/call_tree.h"
#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/question/filter.h"
#include "agent/query/question/grouping.h"
#include "agent/query/stop.h"
#include "agent/query/table.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

enum { LOST = 24 };		/* bytes of a count as text */

#define GAPS_TOLD 0.2		/* a line tells of gaps if their share of the time is larger than this */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Periods were missed. What samples from outside may be late while the guest's CPUs run. */
static const char *missed_by(enum sampler sampler)
{
	return sampler == SAMPLER_STUB ? "no sample came, since the gdb stub was slow," :
		sampler == SAMPLER_OUTSIDE ? "no sample came, by a busy host or QEMU's -icount," :
		"the host did not run the guest's CPUs";
}

/* Why the table is empty, where no note says it. */
static const char *why_none(const struct report *report)
{
	if (report->note[0])
		return "(nothing to show)";
	if (report->profile->missed > 0)
		return "(no sample was taken: the sampler did not come to run; is the host busy?)";
	return "(no sample was taken: the window was too short for the rate; give more --seconds)";
}

void report_remarks(const struct report *report, const char *before, FILE *out)
{
	char remarks[REMARKS_SIZE], between[16], reason[REMARKS_INCOMPLETE];
	double callers = profile_unnamed_callers(report->profile);

	if (report->note[0])
		fprintf(out, "%s%s\n", before, report->note);
	if (report->profile->unnamed)
		fprintf(out, "%sincomplete: %.2f%% of the time has no name: %s\n", before,
			percent(report->profile->unnamed, report->profile->table->weight),
			remarks_incomplete(report->epoch, report->from, report->to, reason));
	if (callers > 0)
		fprintf(out, "%sincomplete: %.2f%% of the time has a caller without a name: %s\n", before,
			100 * callers, remarks_incomplete(report->epoch, report->from, report->to, reason));
	util_print(between, sizeof(between), "\n%s", before);
	if (remarks_text(report->epoch, report->begin, report->profile->outside, between, remarks, sizeof(remarks))[0])
		fprintf(out, "%s%s\n", before, remarks);
}

char *report_unnamed(const struct report *report)
{
	char reason[REMARKS_INCOMPLETE];

	return util_format("%s", remarks_incomplete(report->epoch, report->from, report->to, reason));
}

/* Times count from the machine's reset where both are told. */
static void print_uptime(const struct uptime *up, uint64_t end, FILE *out)
{
	bool begun = uptime_is_guests(up, end);
	char time[REPORT_CLOCK];

	if (up->by == UPTIME_UNKNOWN)
		return;
	if (begun)
		fprintf(out, "up %s%s", report_clock(uptime_shown(up->begun, end), time), up->both ? ", " : "");
	if (!begun || up->both)
		fprintf(out, "VM up %s", report_clock(uptime_shown(up->both ? up->reset : up->begun, end), time));
	fputs(" at its end\n", out);
}

/* Trace events lost, of all CPUs; or that nobody knows. */
static const char *events_lost(const struct profile *profile, char text[LOST])
{
	uint64_t lost = 0;

	for (uint32_t cpu = 0; profile->books && cpu < profile->cpu_count; cpu++)
		lost += profile->books[cpu].trace.lost;
	if (!profile->books)
		return "unknown";
	snprintf(text, LOST, "%" PRIu64, lost);
	return text;
}

/* Instead of what is said of samples, where none were taken. */
static void print_traced(const struct report *report, FILE *out)
{
	char lost[LOST];

	fprintf(out, "traced alone: trace events lost %s\n", events_lost(report->profile, lost));
	report_remarks(report, "", out);
}

/* Instead of what is said of samples. */
static void print_waits(const struct report *report, FILE *out)
{
	const struct table *table = report->profile->table;
	char lost[LOST];

	fprintf(out, ", trace events lost %s\n", events_lost(report->profile, lost));
	fprintf(out, "off the CPUs: %" PRIu64 " wait%s, %.3f s of threads in all, each at its end\n", table->samples,
		util_plural(table->samples), (double)table->weight * 1e-6);
	if (!table->samples)
		fputs("(waits are those that trace events tell of: `ktop ctl events +sched:stack`)\n", out);
	report_remarks(report, "", out);
}

static void print_facts(const struct report *report, FILE *out)
{
	struct epoch *epoch = report->epoch;
	const struct profile *profile = report->profile;
	const struct table *table = profile->table;
	const struct status *status = &report->status;
	const struct boot_times times = epoch_boot(epoch);
	const struct uptime up = epoch_uptime(epoch);
	char lost[LOST] = "unknown", boot[128], from[REPORT_CLOCK], to[REPORT_CLOCK];

	if (profile->books)
		snprintf(lost, sizeof(lost), "%" PRIu64, profile->lost);
	fprintf(out, "%s%s%s", epoch_kernel(epoch), *epoch_version(epoch) ? " " : "", epoch_version(epoch));
	fprintf(out, " %s, %" PRIu32 " CPU%s: %.2f s of guest time", epoch->arch, epoch->cpu_count,
		util_plural(epoch->cpu_count), report->seconds);
	if (report_looks_back(&report->request))
		fprintf(out, ", from %s to %s", report_clock(uptime_shown(up.zero, report->from), from),
			report_clock(uptime_shown(up.zero, report->to), to));
	fputc('\n', out);
	print_uptime(&up, report->to, out);
	if (report_traces_alone(report)) {
		print_traced(report, out);
		return;
	}
	fprintf(out, "%s sampler, %" PRIu32 " Hz per CPU",
		sampler_word(status->sampler), status->rate);
	if (status->sampler_cpu != EVENT_NONE)
		fprintf(out, " (CPU %" PRIu32 " set aside)", status->sampler_cpu);
	if (filter_off_cpu(&profile->question.filter)) {
		print_waits(report, out);
		return;
	}
	fprintf(out,
		": %" PRIu64 " sample%s, weight %" PRIu64 ", CPUs not run %" PRIu64 " (%.1f%%), lost %s\n",
		table->samples, util_plural(table->samples), table->weight, table->missed, 100 * profile->missed, lost);
	if (table->weight)
		fprintf(out, "kernel %.1f%%, user %.1f%%, idle %.1f%%\n",
			percent(table->mode[MODE_KERNEL], table->weight),
			percent(table->mode[MODE_USER], table->weight),
			percent(table->mode[MODE_IDLE], table->weight));
	if (boot_times_text(&times, boot, sizeof(boot))[0])
		fprintf(out, "boot: %s\n", boot);
	if (status->sampler == SAMPLER_TIMER)
		fprintf(out, "code that runs with interrupts off is not seen by the timer "
			"sampler: its time is counted where they are enabled again\n");
	if (profile->missed > GAPS_TOLD)
		fprintf(out, "%s for %.0f%% of the time: the table rests on the other %.0f%%\n",
			missed_by(status->sampler), 100 * profile->missed, 100 - 100 * profile->missed);
	report_remarks(report, "", out);
}

static void print_heads(enum group_by by, FILE *out)
{
	fprintf(out, "\n%7s %7s %9s  %-11s %-32s %-16s %s\n", "SELF%", "TOTAL%", "HITS/s", "CPU", group_heads[by].name,
		group_heads[by].object, by == GROUP_FUNCTION ? "SOURCE" : "");
}

static void print_row(const struct report *report, const struct row *row, FILE *out)
{
	const struct table *table = report->profile->table;
	struct symbols *symbols = report->epoch->inputs.symbols;
	const struct function *function = symbols_get(symbols, row->function);
	const char *line = symbols_source(symbols, row->function);
	char cpus[12];

	table_cpus(table, row, cpus, sizeof(cpus));
	fprintf(out, "%7.2f %7.2f %9.0f  %-11s ", percent(row->self, table->weight),
		percent(row->total, table->weight),
		report->seconds > 0 ? (double)row->samples / report->seconds : 0, cpus);
	util_pad(out, function->name, 32);
	util_pad(out, function->object, 16);
	fprintf(out, "%s\n", line ? line : "");
}

/* A row's shares: of all, and of its parent; at the top it has none. */
static void print_tree_row(const struct report *report, const struct tree_row *row, FILE *out)
{
	const struct tree *tree = report->tree->tree;
	const struct function *function = symbols_get(report->epoch->inputs.symbols, row->function);
	const struct tree_row *rows = tree->lists[report->request.tree].rows;

	fprintf(out, "%7.2f ", percent(row->total, tree->weight));
	if (row->parent == TREE_TOP)
		fprintf(out, "%7s", "");
	else
		fprintf(out, "%7.1f", percent(row->total, rows[row->parent].total));
	fprintf(out, " %7.2f  %*s%s%s%s\n", percent(row->self, tree->weight), 2 * (int)row->depth, "", function->name,
		function->object[0] && !function->kernel ? "  " : "", function->kernel ? "" : function->object);
}

static void print_tree(const struct report *report, FILE *out)
{
	const struct tree_row *row;
	uint64_t missing = report_tree_missing(report);
	size_t at = 0, rows = 0;

	if (!report->tree || !report->tree->tree)
		return;
	fprintf(out, "\n%7s %7s %7s  %s\n", "TOTAL%", "PARENT%", "SELF%",
		report->request.tree == TREE_UP ? "CALL TREE, up to the callers" : "CALL TREE, down from the roots");
	for (; (row = report_tree_row(report, &at)) && !stop_now(session_given_up(report->session)); rows++)
		print_tree_row(report, row, out);
	if (report->tree->tree->scarce)
		fprintf(out, "(no memory for the whole tree; give more by --memory)\n");
	else if (missing)
		fprintf(out, "(%" PRIu64 " more row%s, for which the tree has no room; "
			"--least leaves out light ones)\n", missing, util_plural(missing));
	else if (rows == 0)
		fprintf(out, "(no row of the tree has %" PRIu32 "%%; --least 0 shows all)\n", report->request.least);
}

static void print_table(const struct report *report, FILE *out)
{
	const struct table *table = report->profile->table;
	size_t rows = table->count;

	if (report->request.top && report->request.top < rows)
		rows = report->request.top;
	print_heads(report->profile->question.by, out);
	for (size_t i = 0; i < rows && !stop_now(session_given_up(report->session)); i++)
		print_row(report, &table->rows[i], out);
	if (table->count == 0)
		fprintf(out, "%s\n", why_none(report));
	if (rows < table->count)
		fprintf(out, "(%zu more row%s; --top 0 shows all)\n",
			table->count - rows, util_plural(table->count - rows));
	if (table->count)
		print_tree(report, out);
}

/* Names are UTF-8, whatever the locale is: their width is computed in a locale for UTF-8. */
void report_text(const struct report *report, FILE *out)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;

	print_facts(report, out);
	if (!report_traces_alone(report) && !report->request.events_alone)
		print_table(report, out);
	else if (!report->events && !report->memory && !report->timeline && !report->threads)
		fprintf(out, "(no samples were taken: the sampler is `none`; --events, --allocations, --timeline and "
			"--waits tell what was traced)\n");
	report_events_text(report, out);
	report_memory_text(report, out);
	report_timeline_text(report, out);
	report_threads_text(report, out);
	report_annotation_text(report, out);
	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
}
