/* SPDX-License-Identifier: MIT */
/* The options of a command as tables: one row is all that parsing, usage and help know of an option. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
	OPTION_FLAG,			/* bool: is set to true */
	OPTION_TEXT,			/* const char *: points to the word itself */
	OPTION_TEXTS,			/* const char *[OPTION_TEXTS_MOST + 1], ended by NULL: each use adds one */
	OPTION_FILE,			/* const char *: the same; the path of a file to be written */
	OPTION_OUTPUT,			/* const char *: the same; "-" is the standard output */
	OPTION_FOLDER,			/* const char *: the same; the path of a folder */
	OPTION_NUMBER,			/* uint32_t */
	OPTION_SECONDS,			/* uint64_t, ns; given in seconds, such as "2.5" */
	OPTION_CHOICE,			/* int: the index of the word in `value`, such as "timer|nmi" */
};

enum { OPTION_TEXTS_MOST = 8 };

struct option_row {
	const char *name;		/* given as --name VALUE or --name=VALUE */
	char letter;			/* can also be given as -l VALUE; 0: cannot */
	const char *value;		/* its name in the help; NULL: a flag, without a value */
	const char *help;
	enum option_kind kind;
	size_t offset;			/* of the member that it sets, in a structure of the set */
	uint32_t least, most;		/* the bounds of a number, or of a text's bytes; most 0: no bounds */
	bool (*check)(const char *text, char **error);	/* of a text: false with "why; what to do"; NULL: any will do */
	/* a bit for each special use of the command in which this option has an effect; the command defines the bits */
	unsigned heeded;
	/* for a text that may be given once in a structure: why; NULL: the last one counts */
	const char *once;
};

extern const char option_words_once[];	/* `once` of an option whose value is a list of words */

struct option_set {
	const struct option_row *rows;	/* the last row has no name */
	void *into;			/* the structure, or the first of several */
	uint32_t *given;		/* bit i is set when rows[i] is given; NULL: not wanted; 32 rows at most */

	/* Several structures: an option with `once` that the last one already has begins the next one. */
	size_t size, most;		/* bytes of a structure; structures at most, 0: there is one */
	size_t *count;			/* structures begun so far, 1 or more */
};

/*
 * Parses options up to the first other word, or up to and including "--". *used: how many words these were.
 * False with `error` set.
 */
bool options_parse(char *const *words, size_t count, const struct option_set *sets,
	size_t set_count, size_t *used, char **error);

/*
 * The name of the first option that was given, but has no effect at `where` (a bit of `heeded`). NULL:
 * there is none. The set must have `given`.
 */
const char *options_unheeded(const struct option_set *set, unsigned where);

/*
 * The inverse of options_parse: one word for each option that `from` holds, in fresh memory, ended by NULL.
 * Leaves out NULL texts, choices below 0, and numbers that cannot be given. Relative paths become absolute,
 * for the reader of the words may run in another folder.
 */
char **options_words(const struct option_row *rows, const void *from);
void options_words_free(char **words);

/* Prints a line for each option. */
void options_help(FILE *out, const struct option_row *rows);

#endif
