/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "recording_ends.h"

enum {
	EARLY_MS = 500,			/* no whole lane ends so much earlier, unless packets were missed */
	CUT_MS = 1,			/* the same for a lane that ends with a part of a packet: it surely was cut */
	NAMED = 3,			/* so many are named; the others are counted */
};

void ends_tell(struct lane_end *end, uint64_t taken)
{
	if (!end->tells)
		end->told_first = taken;
	end->tells = true;
	end->told = taken;
}

void ends_add(struct lane_ends *ends, const struct lane_ends *part)
{
	for (int stream = 0; stream < STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++) {
			struct lane_end *to = &ends->of[stream][cpu];
			const struct lane_end *from = &part->of[stream][cpu];

			if (from->end) {
				to->end = from->end;
				to->taken = from->taken;
				to->cut = false;
			}
			to->cut = to->cut || from->cut;
			if (from->tells && !to->tells)
				to->told_first = from->told_first;
			to->told = from->told ? from->told : to->told;
			to->tells = to->tells || from->tells;
		}
}

static int compare(const void *one, const void *other)
{
	const struct early_end *a = one, *b = other;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->stream != b->stream)
		return a->stream < b->stream ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* There is nothing of it, and there should be. */
static bool is_away(const struct lane_end *lane, enum stream stream, uint32_t cpu)
{
	return !lane->end && (lane->told > lane->told_first || (stream == STREAM_META && cpu == 0));
}

/* True: this lane ends early, and `early` says by how much. */
static bool is_early(const struct boot_span *boot, const struct lane_end *lane, struct early_end *early)
{
	uint64_t end = lane->end ? lane->end : boot->begin, taken = lane->end ? lane->taken : lane->told_first;
	unsigned __int128 ns;

	if (!lane->end && !lane->cut && !is_away(lane, early->stream, early->cpu))
		return false;
	ns = (unsigned __int128)(boot->end - end) * NS_PER_SECOND / boot->hz;
	early->ns = ns < INT64_MAX ? (uint64_t)ns : INT64_MAX;
	early->empty = !lane->end;
	early->missing = lane->told > taken ? lane->told - taken : 0;
	return early->empty || early->ns >= (uint64_t)(lane->cut ? CUT_MS : EARLY_MS) * NS_PER_MS;
}

size_t ends_find(const struct lane_ends *ends, const struct boot_span *boot, struct early_end **list)
{
	size_t count = 0;

	*list = NULL;
	for (int stream = 0; stream < STREAMS; stream++)
		for (uint32_t cpu = 0; cpu < EVENT_CPUS; cpu++) {
			struct early_end early = { .stream = (enum stream)stream, .cpu = cpu };

			if (!is_early(boot, &ends->of[stream][cpu], &early))
				continue;
			*list = util_grow(*list, count + 1, sizeof(early));
			(*list)[count++] = early;
		}
	if (count)
		qsort(*list, count, sizeof(**list), compare);
	return count;
}

/* In fresh memory. */
static char *text_of(const struct early_end *early)
{
	double seconds = (double)early->ns / (double)NS_PER_SECOND;

	if (early->stream == STREAM_META && early->empty)
		return util_format("what the guest says of itself is lost: names are missing");
	if (early->stream == STREAM_META)
		return util_format("what the guest says of itself, such as names, ends %.2f s before the rest",
			seconds);
	if (early->stream == STREAM_TRACE)
		return util_format("the trace events of CPU %" PRIu32 " end %.2f s before the rest",
			early->cpu, seconds);
	if (early->missing)
		return util_format("the samples of CPU %" PRIu32 " end %.2f s before the rest, missing: %" PRIu64,
			early->cpu, seconds, early->missing);
	return util_format("the samples of CPU %" PRIu32 " end %.2f s before the rest", early->cpu, seconds);
}

const char *ends_text(const struct early_end *list, size_t count, char *text, size_t size)
{
	size_t used;

	text[0] = '\0';
	for (size_t i = 0; i < count && i < NAMED; i++) {
		char *more = text_of(&list[i]);

		used = strlen(text);
		util_print(text + used, size - used, "%s%s", used ? "; " : "", more);
		free(more);
	}
	used = strlen(text);
	if (count > NAMED)
		util_print(text + used, size - used, "; other files that end early: %zu", count - NAMED);
	return text;
}
