/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "markup.h"

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
