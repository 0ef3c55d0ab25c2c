/* SPDX-License-Identifier: MIT */
/* Options of a command as tables: one row is parsing, usage and help. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_kind {
	OPTION_FLAG,			/* bool: set true */
	OPTION_TEXT,			/* const char *: the word itself */
	OPTION_FILE,			/* const char *: likewise, the path of a file to be written */
	OPTION_FOLDER,			/* const char *: likewise, of a folder */
	OPTION_NUMBER,			/* uint32_t */
	OPTION_SECONDS,			/* uint64_t: ns; "2.5" */
	OPTION_CHOICE,			/* int: which of the words in `value`, "timer|nmi" */
};

struct option_row {
	const char *name;		/* given as --name VALUE or --name=VALUE */
	char letter;			/* also as -l VALUE; 0: not so */
	const char *value;		/* as the help calls it; NULL for a flag */
	const char *help;
	enum option_kind kind;
	size_t offset;			/* of the member in what the set points to */
	uint32_t least, most;		/* of a number; bytes of a text; most 0: any */
	unsigned heeded;		/* bits, whose meaning is the set's: where else it has an effect */
	const char *once;		/* a text for one time in a record: why; NULL: the last counts */
};

struct option_set {
	const struct option_row *rows;	/* ended by one without a name */
	void *into;			/* a record, or the first of several */
	uint32_t *given;		/* NULL, or: bit i is set when rows[i] is given */

	/* Of several: a `once` that the last one has already begins the next. */
	size_t size, most;		/* of a record, in bytes; of records; 0: there is one */
	size_t *count;			/* of those begun, 1 or more */
};

/*
 * Takes options up to the first other word, or to behind "--"; *used says how many words that were.
 * False with `error` set.
 */
bool options_parse(char *const *words, size_t count, const struct option_set *sets,
	size_t set_count, size_t *used, char **error);

/* The name of the first that was given and is not heeded there, a bit of rows[i].heeded; NULL: none. */
const char *options_unheeded(const struct option_set *set, unsigned where);

/*
 * The options that stand for what is in `from`, as options_parse takes them: one word each, in
 * fresh memory, ended by NULL. Left out: NULL texts, choices below 0, numbers that cannot be given.
 * Paths are whole: who takes the words may run in another folder.
 */
char **options_words(const struct option_row *rows, const void *from);
void options_words_free(char **words);

void options_help(FILE *out, const struct option_row *rows);

#endif
