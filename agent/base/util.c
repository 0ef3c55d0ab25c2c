/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "util.h"

/* Frees and flushes nothing, since other threads are still working. A second thread that gets here waits. */
void util_no_memory(void)
{
	static const char words[] =
		"ktop: no memory left: ktop ends; close other programs, or give a smaller --memory\n";

	flockfile(stderr);
	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		errno = 0;
	quick_exit(1);
}

static void *must(void *memory)
{
	if (!memory)
		util_no_memory();
	return memory;
}

void *util_alloc(size_t size)
{
	return must(calloc(1, size ? size : 1));
}

void *util_grow(void *memory, size_t count, size_t size)
{
	return must(reallocarray(memory, count ? count : 1, size ? size : 1));
}

char *util_copy(const char *text, size_t size)
{
	char *copy = util_alloc(size + 1);

	if (size)
		memcpy(copy, text, size);
	return copy;
}

/* Does not use vasprintf: glibc 2.36's writes behind a text of 100 bytes when memory is out. */
char *util_format_list(const char *format, va_list list)
{
	va_list again;
	char *text;
	int size;

	va_copy(again, list);
	size = vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = size < 0 ? must(NULL) : util_alloc((size_t)size + 1);
	vsnprintf(text, (size_t)size + 1, format, list);
	return text;
}

char *util_format(const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	text = util_format_list(format, list);
	va_end(list);
	return text;
}

bool util_fail(char **error, const char *format, ...)
{
	va_list list;

	if (!error)
		return false;
	va_start(list, format);
	*error = util_format_list(format, list);
	va_end(list);
	return false;
}

char *util_join(char *const *words, size_t count, const char *between)
{
	size_t size = 1;
	char *text, *to;

	for (size_t i = 0; i < count; i++)
		size += strlen(words[i]) + strlen(between);
	to = text = util_alloc(size);
	for (size_t i = 0; i < count; i++)
		to = stpcpy(stpcpy(to, i ? between : ""), words[i]);
	return text;
}

struct text_stream {
	char **text;
	size_t *size, room;
};

static ssize_t text_write(void *cookie, const char *bytes, size_t size)
{
	struct text_stream *stream = cookie;
	size_t used = *stream->size, room = 2 * (used + size) + 1;

	if (used + size >= stream->room) {
		char *text = realloc(*stream->text, room);

		if (!text)
			return 0;
		*stream->text = text;
		stream->room = room;
	}
	memcpy(*stream->text + used, bytes, size);
	*stream->size = used + size;
	(*stream->text)[used + size] = '\0';
	return (ssize_t)size;
}

static int text_closed(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *util_text_stream(char **text, size_t *size)
{
	cookie_io_functions_t functions = { .write = text_write, .close = text_closed };
	struct text_stream *stream = malloc(sizeof(*stream));
	FILE *file = NULL;

	*text = calloc(1, 1);
	*size = 0;
	if (stream && *text) {
		*stream = (struct text_stream) { .text = text, .size = size };
		file = fopencookie(stream, "w", functions);
	}
	if (!file) {
		free(stream);
		free(*text);
		*text = NULL;
	}
	return file;
}

bool util_text_whole(FILE *stream, char *const *text)
{
	bool whole = fflush(stream) == 0 && !ferror(stream);

	return fclose(stream) == 0 && whole && *text;
}

FILE *util_text_open(char **text, size_t *size)
{
	return must(util_text_stream(text, size));
}

char *util_text_close(FILE *stream, char *const *text)
{
	return util_text_whole(stream, text) ? *text : must(NULL);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* How many columns of a terminal this UTF-8 text takes. */
static int columns_of(const char *text)
{
	size_t left = strlen(text), size;
	uint32_t point;
	int columns = 0;

	for (; (size = util_utf8(text, left, &point)); text += size, left -= size) {
		int width = point < 0x80 ? 1 : wcwidth((wchar_t)point);

		columns += width < 0 ? 1 : width;
	}
	return columns + (int)left;
}

void util_pad(FILE *out, const char *text, int width)
{
	int columns = columns_of(text);

	fprintf(out, "%s%*s ", text, columns < width ? width - columns : 0, "");
}

uint64_t util_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t util_thread_time(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- text for a terminal ---- */

/*
 * The characters that pass: signs that stand for themselves, one or two cells wide, left to right. These
 * are blocks of Unicode 14 without their combining, format, filler and modifier characters. A list of
 * harmless characters stays right when Unicode grows; a list of harmful ones does not.
 */
static const struct { uint32_t first, last; } harmless[] = {
	{ 0x20, 0x7e }, { 0xa1, 0xac }, { 0xae, 0x2ff },	/* Latin, IPA; not the soft hyphen */
	{ 0x370, 0x377 }, { 0x37a, 0x37f }, { 0x384, 0x482 }, { 0x48a, 0x52f },	/* Greek, Cyrillic */
	{ 0x531, 0x556 }, { 0x559, 0x58a }, { 0x10a0, 0x10ff },	/* Armenian, Georgian */
	{ 0x1d00, 0x1dbf }, { 0x1e00, 0x1fff },			/* phonetic, more Latin and Greek */
	{ 0x2010, 0x2027 }, { 0x2030, 0x205e }, { 0x2070, 0x209c }, { 0x20a0, 0x20c0 },
	{ 0x2100, 0x2bff }, { 0x2c60, 0x2c7f },		/* letter-like, arrows, mathematics, boxes */
	{ 0x3001, 0x3029 }, { 0x3030, 0x303e }, { 0x3041, 0x3096 }, { 0x309b, 0x312f },	/* kana */
	{ 0x3131, 0x3163 }, { 0x3400, 0x9fff },			/* Hangul letters, Han */
	{ 0xa722, 0xa7ca }, { 0xac00, 0xd7a3 },			/* more Latin, Hangul */
	{ 0xff01, 0xff60 }, { 0xffe0, 0xffe6 },			/* full width */
	{ 0x1d400, 0x1d7ff }, { 0x1f300, 0x1f3fa }, { 0x1f400, 0x1f64f },
	{ 0x1f680, 0x1f6d7 }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x2a6df },
};

bool util_is_printable(uint32_t point)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (point >= harmless[i].first && point <= harmless[i].last)
			return true;
	return false;
}

/* RFC 3629, section 4. */
size_t util_utf8(const char *text, size_t size, uint32_t *point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *byte = (const unsigned char *)text;
	unsigned char first = size ? byte[0] : 0xff;
	size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	uint32_t code = length == 1 ? first : first & (0x7fu >> length);

	if (!length || length > size || first > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (byte[i] >> 6 != 2)
			return 0;
		code = code << 6 | (byte[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || code >> 11 == 0xd800 >> 11)
		return 0;
	*point = code;
	return length;
}

/* The end of the last whole character. */
static size_t whole_end(const char *text, size_t size)
{
	size_t begin = size;
	uint32_t point;

	while (begin > 0 && (unsigned char)text[begin - 1] >> 6 == 2)
		begin--;
	if (begin > 0 && (unsigned char)text[begin - 1] >= 0xc0)
		begin--;
	return util_utf8(text + begin, size - begin, &point) == size - begin ? size : begin;
}

const char *util_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void util_count(char *text, size_t size, uint64_t count, const char *form)
{
	size_t used = 0;

	text[0] = '\0';
	while (*form && used < size) {
		size_t plain = strcspn(form, "{"), one, many;
		const char *choice = form + plain + 1;

		util_print(text + used, size - used, "%.*s", (int)plain, form);
		used += plain;
		if (!form[plain] || used >= size)
			return;
		one = strcspn(choice, "|");
		many = strcspn(choice + one, "}");
		util_print(text + used, size - used, "%.*s", (int)(count == 1 ? one : many - 1),
			count == 1 ? choice : choice + one + 1);
		used += count == 1 ? one : many - 1;
		form = choice + one + many + 1;
	}
}

char *util_print(char *to, size_t size, const char *format, ...)
{
	va_list arguments;
	int wanted;

	va_start(arguments, format);
	wanted = vsnprintf(to, size, format, arguments);
	va_end(arguments);
	if (wanted >= 0 && (size_t)wanted >= size)
		to[whole_end(to, size - 1)] = '\0';
	return to;
}

char *util_printable(const char *text, size_t size)
{
	char *copy = util_alloc(size + 1), *to = copy;

	while (size) {
		uint32_t point;
		size_t length;

		if (*text >= ' ' && *text <= '~') {	/* nearly all are such */
			*to++ = *text++;
			size--;
			continue;
		}
		length = util_utf8(text, size, &point);
		if (length && util_is_printable(point)) {
			memcpy(to, text, length);
			to += length;
		} else {
			*to++ = '?';
		}
		length = length ? length : 1;
		text += length;
		size -= length;
	}
	return copy;
}

char *util_printable_lines(const char *text, size_t size)
{
	char *copy = util_alloc(size + 1), *to = copy;

	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;
		char *line = util_printable(text, length);

		to = stpcpy(stpcpy(to, line), end ? "\n" : "");
		free(line);
		text += length + (end != NULL);
		size -= length + (end != NULL);
	}
	return copy;
}

const char *util_write_remedy(int error)
{
	return error == EPIPE ? "its reader has gone; nothing else is lost" :
		error == EINTR ? "ask again" : "make room there";
}

const char *util_open_remedy(int error, const char *other)
{
	return error == EMFILE ? "let ktop have more files (ulimit -n)" :
		error == ENFILE ? "close other programs" : other;
}

/* ---- pattern ---- */

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

const char *pattern_find(const char *text, const char *pattern)
{
	return has_capital(pattern) ? strstr(text, pattern) : strcasestr(text, pattern);
}

bool pattern_match(const char *text, const char *pattern)
{
	return pattern_find(text, pattern);
}
