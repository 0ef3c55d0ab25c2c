/* SPDX-License-Identifier: MIT */
#include "cells.h"
#include "head.h"
#include "markup.h"
#include "picture.h"

const char *head_title(const struct picture *picture)
{
	return *picture->title ? picture->title : picture->unit ? "Sizes" : "Profile";
}

static void put_text(FILE *to, const char *text)
{
	if (!*text)
		return;
	markup_xml(to, text, 80);
	fputs(" · ", to);
}

void head_about(const struct picture *picture, FILE *to)
{
	const struct set_facts *facts = picture->facts;
	const struct cell_amount *all = &picture->cells->cells[CELLS_ROOT].total;

	if (facts) {
		put_text(to, facts->machine);
		put_text(to, facts->kernel);
		put_text(to, facts->version);
		put_text(to, facts->arch);
	}
	if (facts && facts->to > facts->from) {
		markup_time(to, facts->to - facts->from);
		fputs(" · ", to);
	}
	if (facts && facts->cpus)
		fprintf(to, "%u CPU%s · ", facts->cpus, facts->cpus == 1 ? "" : "s");
	markup_count(to, picture->unit ? all->weight : all->samples);
	fprintf(to, " %s", picture->unit ? picture->unit : all->samples == 1 ? "sample" : "samples");
	if (all->ns) {
		fputs(" · ", to);
		markup_time(to, all->ns);
		fputs(" of CPU time", to);
	}
	if (facts && facts->lost) {
		fputs(" · ", to);
		markup_count(to, facts->lost);
		fputs(" lost", to);
	}
	if (picture->before) {
		fputs(" · compared with ", to);
		markup_xml(to, picture->before, 80);
	}
}
