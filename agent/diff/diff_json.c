/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "agent/formats/writing/json_text.h"
#include "agent/query/question/grouping.h"
#include "agent/samples/sample_set.h"
#include "diff_side.h"
#include "diff_tables.h"
#include "set_diff.h"

/* Times and losses are of recordings. */
static void put_side(FILE *to, const char *member, const struct diff_side *side, const struct portion *unnamed,
	double callers)
{
	const struct sample_set *set = side->set;
	const struct set_facts *facts = &set->facts;

	fprintf(to, "\"%s\":{\"source\":", member);
	json_text_put(to, side->name);
	fprintf(to, ",\"samples\":%" PRIu64 ",\"weight\":%" PRIu64, set->samples, set->weight);
	if (facts->to)
		fprintf(to, ",\"from\":%.9f,\"to\":%.9f,\"lost\":%" PRIu64,
			diff_seconds(set_facts_shown(facts, facts->from)),
			diff_seconds(set_facts_shown(facts, facts->to)), facts->lost);
	if (side->note) {
		fputs(",\"note\":", to);
		json_text_put(to, side->note);
	}
	if (unnamed->weight || callers > 0) {
		fprintf(to, ",\"incomplete\":{\"share\":%.9f", change_share(unnamed->weight, unnamed->whole));
		if (callers > 0)
			fprintf(to, ",\"callers\":%.9f", callers);
		fputs(",\"reason\":", to);
		json_text_put(to, side->unnamed);
		putc('}', to);
	}
	fputs("},\n", to);
}

static void put_portion(FILE *to, const char *member, const struct portion *portion)
{
	fprintf(to, ",\"%s\":{\"samples\":%" PRIu64 ",\"weight\":%" PRIu64 ",\"share\":%.9f}", member, portion->samples,
		portion->weight, change_share(portion->weight, portion->whole));
}

static void put_row(FILE *to, const struct diff_row *row)
{
	fputs("{\"name\":", to);
	json_text_put(to, row->name);
	put_portion(to, "before", &row->before);
	put_portion(to, "after", &row->after);
	fprintf(to, ",\"change\":%.9f,\"chance\":%s,\"new\":%s,\"gone\":%s}", row->change.share,
		row->change.chance ? "true" : "false", row->change.appeared ? "true" : "false",
		row->change.gone ? "true" : "false");
}

void diff_json(const struct set_diff *diff, const struct diff_side sides[DIFF_SIDES], uint32_t top, FILE *to)
{
	uint32_t shown = top && top < diff->count ? top : diff->count;

	fputs("{\n", to);
	put_side(to, "before", &sides[0], &diff->unnamed_before, set_diff_callers(&diff->callers_before));
	put_side(to, "after", &sides[1], &diff->unnamed_after, set_diff_callers(&diff->callers_after));
	fprintf(to, "\"by\":\"%s\",\n\"per\":\"%s\",\n\"share\":\"%s\",\n", group_words[diff->question.by],
		diff->question.samples ? "samples" : "time", diff->question.total ? "total" : "self");
	fprintf(to, "\"rows\":%" PRIu32 ",\n\"%s\":[", diff->count,
		diff->question.by == GROUP_FUNCTION ? "functions" : "groups");
	for (uint32_t i = 0; i < shown; i++) {
		fputs(i ? ",\n" : "\n", to);
		put_row(to, &diff->rows[i]);
	}
	fputs("\n]}\n", to);
}
