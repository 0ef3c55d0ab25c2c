/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "cells.h"
#include "markup.h"
#include "picture.h"

enum { CHUNK = 16 };

/* Writes the next character as it can be seen. Returns how many bytes it had in the text. */
static size_t chunk_of(const char *text, size_t size, char chunk[CHUNK])
{
	uint32_t point;
	size_t bytes = util_utf8(text, size, &point);

	if (!bytes || point < ' ' || point == 0x7f) {
		snprintf(chunk, CHUNK, "\\x%02x", (unsigned char)*text);
		return 1;
	}
	if (point == '\\')
		strcpy(chunk, "\\\\");
	else if (util_is_printable(point))
		snprintf(chunk, CHUNK, "%.*s", (int)bytes, text);
	else
		snprintf(chunk, CHUNK, "\\u{%x}", point);
	return bytes;
}

static void put_xml(FILE *to, const char *chunk)
{
	for (; *chunk; chunk++)
		switch (*chunk) {
		case '&': fputs("&amp;", to); break;
		case '<': fputs("&lt;", to); break;
		case '>': fputs("&gt;", to); break;
		case '"': fputs("&quot;", to); break;
		default: putc(*chunk, to);
		}
}

static void put_json(FILE *to, const char *chunk)
{
	for (; *chunk; chunk++)
		switch (*chunk) {
		case '"': fputs("\\\"", to); break;
		case '\\': fputs("\\\\", to); break;
		case '&': case '<': case '>': fprintf(to, "\\u%04x", (unsigned char)*chunk); break;
		default: putc(*chunk, to);
		}
}

static uint32_t number_of(const char *text)
{
	uint64_t number = 0;

	for (; *text; text++)
		number = hash_mix(number ^ (unsigned char)*text, UINT64_C(0x9e3779b97f4a7c15));
	return (uint32_t)number;
}

static void put(FILE *to, const char *text, size_t most, void (*write)(FILE *to, const char *chunk))
{
	size_t size = strlen(text), at = 0;
	char chunk[CHUNK], end[64];

	while (at < size && (!most || size <= most || at < most)) {
		at += chunk_of(text + at, size - at, chunk);
		write(to, chunk);
	}
	if (at < size) {
		snprintf(end, sizeof(end), "… (%zu bytes, #%08x)", size, number_of(text));
		write(to, end);
	}
}

void markup_xml(FILE *to, const char *text, size_t most)
{
	put(to, text, most, put_xml);
}

void markup_json(FILE *to, const char *text, size_t most)
{
	putc('"', to);
	put(to, text, most, put_json);
	putc('"', to);
}

/* Characters of a chunk. */
static size_t width_of(const char *chunk)
{
	size_t width = 0;

	for (; *chunk; chunk++)
		width += (*chunk & 0xc0) != 0x80;
	return width;
}

size_t markup_width(const char *text)
{
	size_t size = strlen(text), at = 0, width = 0;
	char chunk[CHUNK];

	while (at < size) {
		at += chunk_of(text + at, size - at, chunk);
		width += width_of(chunk);
	}
	return width;
}

void markup_cut(FILE *to, const char *text, size_t most)
{
	size_t size = strlen(text), at = 0, width = 0;
	bool whole = markup_width(text) <= most;
	char chunk[CHUNK];

	while (at < size) {
		at += chunk_of(text + at, size - at, chunk);
		width += width_of(chunk);
		if (!whole && width >= most)
			break;
		put_xml(to, chunk);
	}
	if (!whole)
		fputs("…", to);
}

void markup_count(FILE *to, uint64_t count)
{
	if (count < 1000) {
		fprintf(to, "%u", (unsigned)count);
		return;
	}
	markup_count(to, count / 1000);
	fprintf(to, ",%03u", (unsigned)(count % 1000));
}

void markup_share(FILE *to, double part, double whole)
{
	double share = whole > 0 ? 100 * part / whole : 0;

	fprintf(to, "%.*f%%", share >= 99.95 || share == 0 ? 0 : share >= 10 ? 1 : share >= 1 ? 2 : 3, share);
}

void markup_time(FILE *to, uint64_t ns)
{
	double ms = (double)ns / (double)NS_PER_MS;

	if (ms < 1000)
		fprintf(to, "%.3g ms", ms);
	else
		fprintf(to, "%.*f s", ms < 10000 ? 2 : ms < 100000 ? 1 : 0, ms / 1000);
}

/* ---- the head ---- */

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
	fprintf(to, " %s", picture->unit ? picture->unit : facts && facts->off_cpu ? "waits" :
		all->samples == 1 ? "sample" : "samples");
	if (all->ns) {
		fputs(" · ", to);
		markup_time(to, all->ns);
		fputs(facts && facts->off_cpu ? " off the CPUs" : " of CPU time", to);
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

/* ---- sources ---- */

/* The assembler reads the file; its path is one from the tree's root, where all is built. */
#define SOURCE(name, file) \
	__asm__(".pushsection .rodata\n" \
		".global " name "\n" name ":\n" \
		".incbin \"agent/formats/picture/" file "\"\n" \
		".byte 0\n" \
		".popsection\n")

SOURCE("sources_flame_css", "flame.css");
SOURCE("sources_flame_js", "flame.js");
SOURCE("sources_report_css", "report.css");
SOURCE("sources_report_js", "report.js");
