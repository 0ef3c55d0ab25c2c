/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/query/query.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

struct kept {				/* guest ns: what there is to look at */
	uint64_t begin, end;
};

char *report_range_of(const char *words, bool *range, const char **from, const char **to)
{
	char *path = util_copy(words, strlen(words)), *at = strrchr(path, '@'), *dots = at ? strstr(at, "..") : NULL;
	struct stat about;

	*range = dots && stat(words, &about) != 0;
	*from = *to = NULL;
	if (!*range)
		return path;
	*at = *dots = 0;
	*from = at[1] ? at + 1 : NULL;
	*to = dots[2] ? dots + 2 : NULL;
	return path;
}

bool report_looks_back(const struct report_request *request)
{
	return request->from || request->to;
}

static void fail_outside(struct report *report, struct kept kept, int64_t zero)
{
	char begin[REPORT_CLOCK], end[REPORT_CLOCK];
	char *why = util_format("no report: nothing is kept in this range: what is kept is from %s to %s; "
		"give times between these", report_clock(uptime_shown(zero, kept.begin), begin),
		report_clock(uptime_shown(zero, kept.end), end));

	report_fail(report, why);
	free(why);
}

void report_take_range(struct report *report)
{
	const struct report_request *request = &report->request;
	struct kept kept = { epoch_kept_from(report->epoch), epoch_now(report->epoch) };
	int64_t zero = epoch_uptime(report->epoch).zero;

	if (request->phase >= 0) {
		report_fail(report, "no report: --phase is a range, too; leave it out, or --from and --to");
		return;
	}
	if (kept.begin >= kept.end) {
		report_fail(report, "no report: nothing of this boot is kept; profile the guest, or leave out "
			"the range");
		return;
	}
	report->begin = request->from ? report_time(report->epoch, request->from) : kept.begin;
	report->end = request->to ? report_time(report->epoch, request->to) : kept.end;
	report->whole = false;
	report->excerpt.window_ns = report->end - report->begin;
	report->excerpt.until_ns = report->end;
	report->excerpt.moved = 1;
	if (report->begin > report->end)
		report_fail(report, "no report: the range ends before it begins; give the earlier time first");
	else if (report->begin == report->end)
		fail_outside(report, kept, zero);
}

void report_take_past(struct report *report)
{
	struct epoch *epoch = session_epoch(report->session);

	if (!epoch || !epoch->known) {
		report_fail(report, "no report: nothing has come from the guest yet; profile it, or leave out --from "
			"and --to");
		return;
	}
	report_take_boot(report, epoch);
	report_refuse_cpu(report);
	if (report->state != REPORT_FAILED)
		report_take_range(report);
	if (report->state == REPORT_FAILED)
		return;
	report->status = epoch->sampled;
	report_leave_guest(report);
}
