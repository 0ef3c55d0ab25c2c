/* SPDX-License-Identifier: MIT */
/* Times of a report's range: as they are typed, and as they are printed. */
#include <inttypes.h>
#include <stdio.h>

#include "agent/base/util.h"
#include "agent/source/play.h"
#include "report_parts.h"

bool report_check_time(const char *text, char **error)
{
	struct play play;

	return play_parse(text, &play, NULL) || util_fail(error, "not a time; give 90, 1:30 or 1:00:00 by the "
		"guest's clock, -30 for 30 s before the end, or +30 for 30 s after the first sample");
}

const char *report_clock(uint64_t ns, char text[REPORT_CLOCK])
{
	uint64_t seconds = ns / NS_PER_SECOND;
	unsigned part = (unsigned)(ns % NS_PER_SECOND / (10 * NS_PER_MS));

	snprintf(text, REPORT_CLOCK, "%02" PRIu64 ":%02u:%02u.%02u", seconds / 3600, (unsigned)(seconds / 60 % 60),
		(unsigned)(seconds % 60), part);
	return text;
}
