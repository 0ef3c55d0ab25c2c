/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "agent/base/change_text.h"
#include "agent/base/util.h"
#include "agent/formats/writing/name_text.h"
#include "agent/samples/sample_set.h"
#include "diff_tables.h"
#include "set_diff.h"

static void put_source(FILE *to, const char *letter, const char *name, const struct sample_set *set)
{
	fputs(letter, to);
	name_text_put(to, name, "");
	fprintf(to, ": %" PRIu64 " sample%s\n", set->samples, util_plural(set->samples));
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

void diff_text(const struct set_diff *diff, const struct diff_names *names, uint32_t top, FILE *to)
{
	uint32_t shown = top && top < diff->count ? top : diff->count;

	put_source(to, "A (before): ", names->before, diff->before);
	put_source(to, "B (after):  ", names->after, diff->after);
	fprintf(to, "Shares of functions %s, in percent; + means more in B, ~ may be chance.\n\n",
		diff->total ? "with all that they call" : "themselves");
	fprintf(to, "%*s %7s %7s  FUNCTION\n", CHANGE_WIDTH, "CHANGE", "A", "B");
	for (uint32_t i = 0; i < shown; i++)
		put_row(to, &diff->rows[i]);
	if (shown < diff->count)
		fprintf(to, "... and %" PRIu32 " more; --top 0 shows all\n", diff->count - shown);
}
