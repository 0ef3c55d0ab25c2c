/* SPDX-License-Identifier: MIT */
/* Small things that several files need. */
#ifndef UTIL_H
#define UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * For the host's files. The hook includes none of them, since it is compiled in other trees: its plugin has the same
 * constants in machine/clock.h, and the demo kernel has its own.
 */
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

/* A formatted text in fresh memory. Never NULL: without memory, the program ends. */
char *util_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

char *util_format_list(const char *format, va_list list);	/* the same */

/* Sets *error to a formatted text, unless error is NULL; does not free the old one. Returns false. */
bool util_fail(char **error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says that memory is out, and ends the program at once, through at_quick_exit. Any thread. */
void util_no_memory(void) __attribute__((noreturn));

/* Memory for small, bounded things. When memory is out, the program ends. */
void *util_alloc(size_t size);		/* zeroed */
void *util_grow(void *memory, size_t count, size_t size);	/* like reallocarray: what is new is not zeroed */
char *util_copy(const char *text, size_t size);	/* `size` bytes, and a zero behind them */

/*
 * A stream that writes to fresh memory; *text is complete up to the last fflush. When memory is out, the
 * stream fails (ferror), while open_memstream's would drop bytes without a word. NULL: no memory for the
 * stream.
 */
FILE *util_text_stream(char **text, size_t *size);

/* Closes the stream. False: *text is not complete, and may be NULL. The caller frees *text in any case. */
bool util_text_whole(FILE *stream, char *const *text);

/* The same, but the program ends when memory is out. util_text_close returns the text. */
FILE *util_text_open(char **text, size_t *size);
char *util_text_close(FILE *stream, char *const *text);

/* Joins the words to one text, in fresh memory. */
char *util_join(char *const *words, size_t count, const char *between);

/*
 * A copy that is safe for a terminal: valid UTF-8 of known blocks, left to right. Every other character
 * becomes '?', such as control, bidi, zero-width and combining ones, and every bad byte.
 */
char *util_printable(const char *text, size_t size);

/* Returns "s", or "" if the count is 1. */
const char *util_plural(uint64_t count);

/* Writes `form`, and of each "{CPU is|CPUs are}" in it the left part if the count is 1, else the right one. */
void util_count(char *text, size_t size, uint64_t count, const char *form);

char *util_printable_lines(const char *text, size_t size);	/* like util_printable, but keeps newlines */
bool util_is_printable(uint32_t point);	/* does util_printable keep it? */

/* The bytes of the well-formed UTF-8 character at the beginning of `text`; 0: there is none. */
size_t util_utf8(const char *text, size_t size, uint32_t *point);

/* What to do about a write that has failed with this errno, for an error message. */
const char *util_write_remedy(int error);
/* The same of what was not opened. `other`: what to do unless the system, or ktop, has no descriptors left. */
const char *util_open_remedy(int error, const char *other);

/* Like snprintf, but a text that is too long is cut between two UTF-8 characters. Returns `to`. */
char *util_print(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Prints a UTF-8 text of a column, filled up with spaces to so many columns of a terminal, and a space behind it. */
void util_pad(FILE *out, const char *text, int width);

/* Monotonic host time, ns. */
uint64_t util_now(void);
uint64_t util_thread_time(void);	/* the processor time of this thread, in ns */

/* ---- a pattern ---- */

/* People find a name by a part of it. A pattern without capitals matches any case (ASCII). */

/* Where the pattern stands in the text; NULL: nowhere. */
const char *pattern_find(const char *text, const char *pattern);
bool pattern_match(const char *text, const char *pattern);

/* ---- bytes ---- */

/* Reads little-endian numbers from bytes, at any alignment. The caller has checked that the bytes are there. */

static inline uint16_t bytes_16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t bytes_32(const uint8_t *bytes)
{
	return (uint32_t)bytes_16(bytes) | (uint32_t)bytes_16(bytes + 2) << 16;
}

static inline uint64_t bytes_64(const uint8_t *bytes)
{
	return (uint64_t)bytes_32(bytes) | (uint64_t)bytes_32(bytes + 4) << 32;
}

#endif
