/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "agent/base/change_text.h"
#include "agent/base/util.h"
#include "agent/formats/writing/name_text.h"
#include "agent/query/question/grouping.h"
#include "agent/samples/sample_set.h"
#include "diff_side.h"
#include "diff_tables.h"
#include "set_diff.h"

static void put_side(FILE *to, const char *letter, const struct diff_side *side, const struct portion *unnamed,
	double callers)
{
	const struct sample_set *set = side->set;
	const struct set_facts *facts = &set->facts;

	fputs(letter, to);
	name_text_put(to, side->name, "");
	fprintf(to, ": %" PRIu64 " sample%s", set->samples, util_plural(set->samples));
	if (facts->to)
		fprintf(to, " from %.2f to %.2f s, lost %" PRIu64, diff_seconds(set_facts_shown(facts, facts->from)),
			diff_seconds(set_facts_shown(facts, facts->to)), facts->lost);
	if (side->note) {
		fputs("; ", to);
		name_text_put(to, side->note, "");
	}
	if (unnamed->weight)
		fprintf(to, "; incomplete: %.2f%% of it has no name: %s",
			100 * change_share(unnamed->weight, unnamed->whole), side->unnamed);
	if (callers > 0)
		fprintf(to, "; incomplete: %.2f%% of it has a caller without a name: %s", 100 * callers, side->unnamed);
	putc('\n', to);
}

static void put_row(FILE *to, const struct diff_row *row)
{
	char text[CHANGE_TEXT];

	fprintf(to, "%*s %7.2f %7.2f  ", CHANGE_WIDTH, change_text(row->change, CHANGE_WIDTH, text),
		100 * change_share(row->before.weight, row->before.whole),
		100 * change_share(row->after.weight, row->after.whole));
	name_text_put(to, row->name, "");
	putc('\n', to);
}

void diff_text(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to)
{
	static const char *const rows[GROUPS] = {
		"functions", "lines", "files", "objects", "processes", "threads", "comms", "CPUs", "modes",
	};
	uint32_t shown = top && top < diff->count ? top : diff->count;

	put_side(to, "A (before): ", &sides[0], &diff->unnamed_before, set_diff_callers(&diff->callers_before));
	put_side(to, "B (after):  ", &sides[1], &diff->unnamed_after, set_diff_callers(&diff->callers_after));
	fprintf(to, "Shares of %s %s%s, in percent; + means more in B, ~ may be chance.\n\n", rows[diff->question.by],
		diff->question.total ? "with all that they call" : "themselves",
		diff->question.samples ? ", of samples" : "");
	fprintf(to, "%*s %7s %7s  %s\n", CHANGE_WIDTH, "CHANGE", "A", "B", group_heads[diff->question.by].name);
	for (uint32_t i = 0; i < shown; i++)
		put_row(to, &diff->rows[i]);
	if (shown < diff->count)
		fprintf(to, "... and %" PRIu32 " more; --top 0 shows all\n", diff->count - shown);
}
