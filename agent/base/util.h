/* SPDX-License-Identifier: MIT */
/* Small things that several files need. */
#ifndef UTIL_H
#define UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

/* A formatted text in fresh memory; never NULL: ends the program when memory is out. */
char *util_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

char *util_format_list(const char *format, va_list list);

/* Sets *error (when error is not NULL) to a formatted text, freeing nothing; returns false. */
bool util_fail(char **error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Any thread: says that memory is out, and ends the program at once, by way of at_quick_exit. */
void util_no_memory(void) __attribute__((noreturn));

/* malloc, realloc, strdup that end the program when memory is out: for small, bounded things. */
void *util_alloc(size_t size);		/* zeroed */
void *util_grow(void *memory, size_t count, size_t size);
char *util_copy(const char *text, size_t size);

/*
 * A stream into fresh memory: *text, whole up to the last fflush. Unlike open_memstream's, which drops
 * what it has no memory for and says nothing, it has failed then (ferror). NULL: no memory for it.
 */
FILE *util_text_stream(char **text, size_t *size);
bool util_text_whole(FILE *stream, char *const *text);	/* closes it; false: *text is no use */

/* Likewise, ending the program when memory is out; the text is returned once it is closed. */
FILE *util_text_open(char **text, size_t *size);
char *util_text_close(FILE *stream, char *const *text);

/* The words in one text, in fresh memory. */
char *util_join(char *const *words, size_t count, const char *between);

/*
 * A copy safe for a terminal: valid UTF-8 of known blocks, left to right; '?' for every other
 * character: control, bidi, zero-width and combining ones among them, and every bad byte.
 */
char *util_printable(const char *text, size_t size);

/* Behind a word: "s", or "" for one. And a form with what suits the count of each "{one|many}" in it. */
const char *util_plural(uint64_t count);
void util_count(char *text, size_t size, uint64_t count, const char *form);
char *util_printable_lines(const char *text, size_t size);	/* newlines stay */
bool util_is_printable(uint32_t point);	/* would that keep it? */

/* The bytes of the well-formed UTF-8 character that `text` begins with; 0: there is none. */
size_t util_utf8(const char *text, size_t size, uint32_t *point);

/* What to do about a write that failed with this errno. */
const char *util_write_remedy(int error);

/* Like snprintf of UTF-8: what does not fit is cut between two characters. Returns `to`. */
char *util_print(char *to, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Monotonic host time, ns. */
uint64_t util_now(void);

#endif
