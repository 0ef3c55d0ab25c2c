/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/session/session.h"
#include "report.h"
#include "report_parts.h"

enum { TROUBLE = 768 };

static void note_boots(struct report *report, const struct play_state *play)
{
	char *what = util_format("this is boot %u of %u in the recording; name the folder of a part to see "
		"another", play->boot, play->boots);

	if (play->boots > 1)
		report_note(report, what, "");
	free(what);
}

void report_take_recording(struct report *report)
{
	struct play_state play = session_source(report->session).play;
	struct epoch *epoch = session_epoch(report->session);
	char trouble[TROUBLE];

	if (session_failure(report->session)) {
		report_fail(report, session_failure(report->session));
		return;
	}
	if (!session_over(report->session) || (epoch && epoch_awaits(epoch, UINT64_MAX)))
		return;
	if (!epoch) {
		report_fail(report, "no report: no packet of the recording is whole; record it again");
		return;
	}
	report_take_boot(report, epoch);
	report_export_log(report);
	report_refuse_cpu(report);
	if (report->state == REPORT_FAILED)
		return;
	report->whole = true;
	report->begin = play.begin;
	report->end = play.end;
	report->status = epoch->sampled;	/* its last status is from after the guest had its own settings back */
	if (report_looks_back(&report->request))
		report_take_range(report);
	if (report->state == REPORT_FAILED)
		return;
	note_boots(report, &play);
	if (session_trouble(report->session, trouble, sizeof(trouble))[0])
		report_note(report, trouble, "");
	if (trouble[0] && report->request.out)		/* what there is of it is written */
		report->error = util_format("%s: not whole: %s", report->request.out, trouble);
	report_leave_guest(report);
}
