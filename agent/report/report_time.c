/* SPDX-License-Identifier: MIT */
/* Times of a report's range: as they are typed, and as they are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/source/play.h"
#include "report_parts.h"

bool report_check_time(const char *text, char **error)
{
	struct play play;

	return play_parse(text, &play, NULL) || util_fail(error, "not a time; give 90, 1:30 or 1:00:00 by the "
		"guest's clock, -30 for 30 s before the end, or +30 for 30 s after the first sample");
}

bool report_check_range(const char *text, char **error)
{
	const char *dots = strstr(text, "..");
	char *from = dots ? util_copy(text, (size_t)(dots - text)) : NULL;
	bool fits = from && report_check_time(from, NULL) && report_check_time(dots + 2, NULL);

	free(from);
	return fits || util_fail(error, "not a range; give FROM..TO, both as for --from");
}

uint64_t report_time(const struct epoch *epoch, const char *text)
{
	int64_t begin = (int64_t)epoch_kept_from(epoch), end = (int64_t)epoch_now(epoch), time;
	struct play play = { .ns = 0 };

	play_parse(text, &play, NULL);
	time = play.ns + (text[0] == '-' ? end : text[0] == '+' ? begin : epoch_uptime(epoch).zero);
	return (uint64_t)(time < begin ? begin : time > end ? end : time);
}

struct baseline report_baseline(const struct epoch *epoch, const char *range)
{
	const char *dots = range ? strstr(range, "..") : NULL;
	char *first = dots ? util_copy(range, (size_t)(dots - range)) : NULL;
	uint64_t from = dots ? report_time(epoch, first) : 0, to = dots ? report_time(epoch, dots + 2) : 0;

	free(first);
	return from < to ? (struct baseline) { .until_ns = to, .window_ns = to - from, .moved = 1 } :
		(struct baseline) { .until_ns = 0 };
}

const char *report_clock(uint64_t ns, char text[REPORT_CLOCK])
{
	uint64_t seconds = ns / NS_PER_SECOND;
	unsigned part = (unsigned)(ns % NS_PER_SECOND / (10 * NS_PER_MS));

	snprintf(text, REPORT_CLOCK, "%02" PRIu64 ":%02u:%02u.%02u", seconds / 3600, (unsigned)(seconds / 60 % 60),
		(unsigned)(seconds % 60), part);
	return text;
}
