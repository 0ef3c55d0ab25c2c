/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>

#include "agent/answers/profile.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/query/stop.h"
#include "agent/session/session.h"
#include "report.h"

#define GAPS_TOLD 0.2		/* a line tells of gaps if their share of the time is larger than this */

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_facts(const struct report *report, FILE *out)
{
	struct epoch *epoch = report->epoch;
	const struct profile *profile = report->profile;
	const struct table *table = profile->table;
	const struct status *status = &report->status;
	const struct boot_times times = epoch_boot(epoch);
	char remarks[REMARKS_SIZE], lost[24] = "unknown", boot[128];

	if (profile->books)
		snprintf(lost, sizeof(lost), "%" PRIu64, profile->lost);
	fprintf(out, "%s %s %s, %" PRIu32 " CPU%s: %.2f s of guest time\n", epoch->kernel,
		epoch->version, epoch->arch, epoch->cpu_count, util_plural(epoch->cpu_count),
		report->seconds);
	fprintf(out, "%s sampler, %" PRIu32 " Hz per CPU",
		sampler_word(status->sampler), status->rate);
	if (status->sampler_cpu != EVENT_NONE)
		fprintf(out, " (CPU %" PRIu32 " set aside)", status->sampler_cpu);
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
		fprintf(out, "the host did not run the guest's CPUs for %.0f%% of the time: "
			"the table rests on the other %.0f%%\n", 100 * profile->missed,
			100 - 100 * profile->missed);
	if (report->note[0])
		fprintf(out, "%s\n", report->note);
	if (remarks_text(epoch, report->begin, "\n", remarks, sizeof(remarks))[0])
		fprintf(out, "%s\n", remarks);
}

/* How many columns of a terminal this UTF-8 text takes. */
static int columns_of(const char *text)
{
	size_t left = strlen(text), size;
	uint32_t point;
	int columns = 0;

	for (; (size = util_utf8(text, left, &point)); text += size, left -= size) {
		int width = point < 0x80 ? 1 : wcwidth((wchar_t)point);

		columns += width < 0 ? 1 : width;
	}
	return columns + (int)left;
}

/* Prints the text, and fills it up with spaces to the width. */
static void print_padded(const char *text, int width, FILE *out)
{
	int columns = columns_of(text);

	fprintf(out, "%s%*s ", text, columns < width ? width - columns : 0, "");
}

static void print_row(const struct report *report, const struct row *row, FILE *out)
{
	const struct table *table = report->profile->table;
	struct symbols *symbols = report->epoch->inputs.symbols;
	const struct function *function = symbols_get(symbols, row->function);
	const char *line = symbols_line(symbols, row->function);
	char cpus[12];

	table_cpus(table, row, cpus, sizeof(cpus));
	fprintf(out, "%7.2f %7.2f %9.0f  %-11s ", percent(row->self, table->weight),
		percent(row->total, table->weight),
		report->seconds > 0 ? (double)row->samples / report->seconds : 0, cpus);
	print_padded(function->name, 32, out);
	print_padded(function->object, 16, out);
	fprintf(out, "%s\n", line ? line : "");
}

/* Names are UTF-8, whatever the locale is: their width is computed in a locale for UTF-8. */
void report_text(const struct report *report, FILE *out)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
	const struct table *table = report->profile->table;
	size_t rows = table->count;

	if (report->request.top && report->request.top < rows)
		rows = report->request.top;
	print_facts(report, out);
	fprintf(out, "\n%7s %7s %9s  %-11s %-32s %-16s %s\n", "SELF%", "TOTAL%", "HITS/s", "CPU",
		"FUNCTION", "OBJECT", "SOURCE");
	for (size_t i = 0; i < rows && !stop_now(session_given_up(report->session)); i++)
		print_row(report, &table->rows[i], out);
	if (table->count == 0)
		fprintf(out, report->note[0] ? "(nothing to show)\n" : "(no sample was taken)\n");
	if (rows < table->count)
		fprintf(out, "(%zu more function%s; --top 0 shows all)\n",
			table->count - rows, util_plural(table->count - rows));
	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
}
