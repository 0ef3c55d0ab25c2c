/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/query/tree/contexts.h"
#include "agent/samples/sample_set.h"
#include "bins.h"
#include "cells.h"
#include "html.h"
#include "markup.h"
#include "palette.h"
#include "picture.h"

struct page {
	const struct picture *picture;
	const struct cells *cells;
	const struct bins *bins;
	FILE *to;
	uint64_t nonce;			/* the page's own script has it, and the policy allows no other */
};

/* ---- data: arrays of numbers; what often repeats is an index into a list of texts ---- */

/* One text of each kind, in order of their first function. */
struct texts {
	struct hash hash;
	const char **list;
	uint32_t count;
	uint32_t *of;			/* by function */
};

static void texts_clear(struct texts *texts)
{
	hash_clear(&texts->hash);
	free(texts->list);
	free(texts->of);
}

static uint32_t text_index(struct texts *texts, const char *text)
{
	uint64_t key = hash_text(&texts->hash, text);
	uint32_t found, at = 0;

	while ((found = hash_next(&texts->hash, key, &at)) != HASH_NONE)
		if (strcmp(texts->list[found], text) == 0)
			return found;
	if (!hash_add(&texts->hash, key, texts->count))
		return SET_NONE;
	texts->list[texts->count] = text;
	return texts->count++;
}

static bool texts_fill(struct texts *texts, const struct cells *cells, bool files)
{
	hash_init(&texts->hash, NULL);
	texts->list = calloc((size_t)cells->function_count + 1, sizeof(*texts->list));
	texts->of = calloc((size_t)cells->function_count + 1, sizeof(*texts->of));
	for (uint32_t i = 0; texts->list && texts->of && i < cells->function_count; i++) {
		texts->of[i] = text_index(texts, files ? cells->functions[i].file : cells->functions[i].object);
		if (texts->of[i] == SET_NONE)
			return false;
	}
	return texts->list && texts->of;
}

static void begin_list(const struct page *page, const char *name)
{
	fprintf(page->to, ",\n\"%s\":[", name);
}

static void put_number(const struct page *page, uint32_t index, uint64_t number)
{
	fprintf(page->to, "%s%" PRIu64, index ? index % 32 ? "," : ",\n" : "", number);
}

static void end_list(const struct page *page)
{
	putc(']', page->to);
}

static void put_texts(const struct page *page, const char *name, const char *index_name, const struct texts *texts)
{
	begin_list(page, name);
	for (uint32_t i = 0; i < texts->count; i++) {
		fputs(i ? ",\n" : "", page->to);
		markup_json(page->to, texts->list[i], 0);
	}
	end_list(page);
	begin_list(page, index_name);
	for (uint32_t i = 0; i < page->cells->function_count; i++)
		put_number(page, i, texts->of[i]);
	end_list(page);
}

static void put_functions(const struct page *page, const struct object_colours *colours)
{
	const struct set_function *functions = page->cells->functions;
	uint32_t count = page->cells->function_count;

	begin_list(page, "names");
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "", page->to);
		markup_json(page->to, functions[i].name, 0);
	}
	end_list(page);
	begin_list(page, "line");
	for (uint32_t i = 0; i < count; i++)
		put_number(page, i, functions[i].line);
	end_list(page);
	begin_list(page, "object_colour");
	for (uint32_t i = 0; i < count; i++)
		put_number(page, i, colours->of[i]);
	end_list(page);
}

/* A cell's tone and shade are one number, since a page has many cells. */
static void put_cells(const struct page *page)
{
	const struct cells *cells = page->cells;

	begin_list(page, "level");
	for (uint32_t i = 1; i < cells->cell_count; i++)
		put_number(page, i - 1, cells->cells[i].level);
	end_list(page);
	begin_list(page, "function");
	for (uint32_t i = 1; i < cells->cell_count; i++)
		put_number(page, i - 1, cells->cells[i].function);
	end_list(page);
	begin_list(page, "colour");
	for (uint32_t i = 1; i < cells->cell_count; i++) {
		enum palette_tone tone = palette_tone(cells, &cells->cells[i]);

		put_number(page, i - 1, tone * PALETTE_SHADES +
			palette_shade(tone, cells->functions[cells->cells[i].function].name));
	}
	end_list(page);
}

static void put_amounts(const struct page *page, const char *name, size_t offset)
{
	begin_list(page, name);
	for (uint32_t i = 0; i < page->cells->part_count; i++) {
		uint64_t number;

		memcpy(&number, (const char *)&page->cells->parts[i].amount + offset, sizeof(number));
		put_number(page, i, number);
	}
	end_list(page);
}

static void put_parts(const struct page *page)
{
	const struct cells *cells = page->cells;

	begin_list(page, "part_cell");
	for (uint32_t i = 0; i < cells->part_count; i++)
		put_number(page, i, cells->parts[i].cell);
	end_list(page);
	begin_list(page, "part_mode");
	for (uint32_t i = 0; i < cells->part_count; i++)
		put_number(page, i, cells->parts[i].mode);
	end_list(page);
	put_amounts(page, "weight", offsetof(struct cell_amount, weight));
	put_amounts(page, "samples", offsetof(struct cell_amount, samples));
	put_amounts(page, "ns", offsetof(struct cell_amount, ns));
	if (page->picture->before) {
		put_amounts(page, "before", offsetof(struct cell_amount, before));
		put_amounts(page, "samples_before", offsetof(struct cell_amount, samples_before));
	}
}

/* A bin is a list of parts with their weights and samples, in turn. */
static void put_bins(const struct page *page)
{
	const struct bins *bins = page->bins;
	uint32_t at = 0;

	if (!bins->bins)
		return;
	fprintf(page->to, ",\n\"bins\":{\"from\":%" PRIu64 ",\"width\":%" PRIu64 ",\"lists\":[",
		set_facts_shown(page->picture->facts, bins->from), bins->width);
	for (uint32_t bin = 0; bin < bins->bins; bin++) {
		fputs(bin ? ",\n[" : "[", page->to);
		for (uint32_t i = 0; at < bins->count && bins->entries[at].bin == bin; i++, at++) {
			put_number(page, i, bins->entries[at].part);
			fprintf(page->to, ",%" PRIu64 ",%" PRIu64, bins->entries[at].weight, bins->entries[at].samples);
		}
		putc(']', page->to);
	}
	fputs("]}", page->to);
}

static void put_colours(const struct page *page, const char *name, const char *const *colours, unsigned count)
{
	begin_list(page, name);
	for (unsigned i = 0; i < count; i++)
		fprintf(page->to, "%s\"%s\"", i ? "," : "", colours[i] ? colours[i] : "");
	end_list(page);
}

static void put_palette(const struct page *page)
{
	begin_list(page, "tone_names");
	for (unsigned i = 0; i < TONES; i++)
		fprintf(page->to, "%s\"%s\"", i ? "," : "", palette_tone_names[i]);
	end_list(page);
	begin_list(page, "mode_names");
	for (unsigned i = 0; i < MODE_NAMES; i++)
		fprintf(page->to, "%s\"%s\"", i ? "," : "", mode_names[i]);
	end_list(page);
	put_colours(page, "tones", &palette_tones[0][0], TONES * PALETTE_SHADES);
	put_colours(page, "object_colours", palette_objects, PALETTE_OBJECTS + 1);
	put_colours(page, "change_colours", palette_changes, PALETTE_CHANGES);
}

static bool put_data(const struct page *page)
{
	static const char *const schemes[] = { "mode", "object", "change" };
	struct texts objects = { .count = 0 }, files = { .count = 0 };
	struct object_colours colours;
	bool ok = object_colours_find(&colours, page->cells) && texts_fill(&objects, page->cells, false) &&
		texts_fill(&files, page->cells, true);

	fputs("<script type=\"application/json\" id=\"data\">{\"unit\":", page->to);
	markup_json(page->to, page->picture->unit ? page->picture->unit : "", 0);
	fprintf(page->to, ",\"flame\":%s,\"merged\":%" PRIu32 ",\"scheme\":\"%s\"",
		page->picture->flame ? "true" : "false", page->picture->merged, schemes[page->picture->colours]);
	put_palette(page);
	if (ok) {
		put_functions(page, &colours);
		put_texts(page, "objects", "object", &objects);
		put_texts(page, "files", "file", &files);
		put_cells(page);
		put_parts(page);
		put_bins(page);
	}
	fputs("}\n</script>\n", page->to);
	object_colours_clear(&colours);
	texts_clear(&objects);
	texts_clear(&files);
	return ok;
}

/* ---- what a reader sees without the script ---- */

static void put_fact(const struct page *page, const char *name, const char *text)
{
	if (!*text)
		return;
	fprintf(page->to, "<div><dt>%s</dt><dd>", name);
	markup_xml(page->to, text, 200);
	fputs("</dd></div>\n", page->to);
}

static void put_number_fact(const struct page *page, const char *id, const char *name, uint64_t number)
{
	fprintf(page->to, "<div><dt>%s</dt><dd id=\"%s\">", name, id);
	markup_count(page->to, number);
	fputs("</dd></div>\n", page->to);
}

static void put_cost(const struct page *page)
{
	const struct set_facts *facts = page->picture->facts;

	if (facts->cost_ns > 0)
		fprintf(page->to, "<div><dt>cost</dt><dd id=\"cost\">%.0f ns a sample, %.2f %%</dd></div>\n",
			facts->cost_ns, 100 * facts->cost_share);
}

static void put_books(const struct page *page)
{
	const struct set_facts *facts = page->picture->facts;
	const struct cell_amount *all = &page->cells->cells[CELLS_ROOT].total;

	fputs("<dl class=\"facts\">\n", page->to);
	if (facts) {
		put_fact(page, "machine", facts->machine);
		put_fact(page, "kernel", facts->kernel);
		put_fact(page, "version", facts->version);
		put_fact(page, "CPU", facts->arch);
		put_number_fact(page, "taken", "samples taken", all->samples + facts->lost);
		put_number_fact(page, "received", "received", all->samples);
		put_number_fact(page, "lost", "lost", facts->lost);
		put_number_fact(page, "missed", "periods missed", facts->missed);
		put_cost(page);
	}
	if (page->picture->merged)
		put_number_fact(page, "merged", "light frames merged", page->picture->merged);
	put_number_fact(page, "weight", page->picture->unit ? page->picture->unit :
		facts ? "sampling periods" : "weight", all->weight);
	if (page->picture->before)
		put_number_fact(page, "before", "before", all->before);
	fputs("</dl>\n", page->to);
}

static void put_head(const struct page *page)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
		"<meta charset=\"utf-8\"/>\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ", page->to);
	fprintf(page->to, "script-src 'nonce-%016" PRIx64 "'; style-src 'nonce-%016" PRIx64 "'; base-uri 'none'; "
		"form-action 'none'\"/>\n", page->nonce, page->nonce);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
		"<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>", page->to);
	markup_xml(page->to, head_title(page->picture), 200);
	fprintf(page->to, "</title>\n<style nonce=\"%016" PRIx64 "\">\n%s</style>\n</head>\n<body>\n", page->nonce,
		sources_report_css);
}

static void put_body(const struct page *page)
{
	fputs("<header>\n<h1>", page->to);
	markup_xml(page->to, head_title(page->picture), 200);
	fputs("</h1>\n<p class=\"about\">", page->to);
	head_about(page->picture, page->to);
	fputs("</p>\n", page->to);
	put_books(page);
	fputs("</header>\n<noscript><p>This report draws itself by its own script, which this browser does not run. "
		"A flame graph as SVG needs none.</p></noscript>\n<main id=\"main\"></main>\n", page->to);
}

bool html_write(const struct picture *picture, const struct bins *bins, FILE *to)
{
	struct page page = { .picture = picture, .cells = picture->cells, .bins = bins, .to = to };
	bool ok;

	if (getrandom(&page.nonce, sizeof(page.nonce), GRND_NONBLOCK) != sizeof(page.nonce))
		page.nonce = util_now();
	put_head(&page);
	put_body(&page);
	ok = put_data(&page);
	fprintf(to, "<script nonce=\"%016" PRIx64 "\">/*<![CDATA[*/\n%s/*]]>*/</script>\n</body>\n</html>\n",
		page.nonce, sources_report_js);
	return ok;
}
