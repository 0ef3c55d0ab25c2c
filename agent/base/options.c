/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "util.h"
#include "util_file.h"

#define SECONDS_LEAST 0.001
#define SECONDS_MOST 1e7

const char option_words_once[] = "give all words in one";

static bool is_taken(const struct option_row *row, uint32_t number)
{
	return number < UINT32_MAX &&
		(!row->most || (number >= row->least && number <= row->most));
}

static bool take_number(const struct option_row *row, const char *word, uint32_t *number)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end || errno || value >= UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return is_taken(row, *number);
}

static bool take_seconds(const char *word, uint64_t *ns)
{
	char *end;
	double value = strtod(word, &end);

	if (end == word || *end || !isfinite(value) || value < SECONDS_LEAST || value > SECONDS_MOST)
		return false;
	*ns = (uint64_t)(value * (double)NS_PER_SECOND);
	return true;
}

static bool take_choice(const char *word, const char *words, int *choice)
{
	size_t size = strlen(word), length;

	for (int i = 0; size > 0; i++, words += length + 1) {
		length = strcspn(words, "|");
		if (length == size && memcmp(words, word, size) == 0) {
			*choice = i;
			return true;
		}
		if (!words[length])
			break;
	}
	return false;
}

static bool take_text(const struct option_row *row, const char *word, const char **text)
{
	*text = word;
	return word[0] && (!row->most || strlen(word) <= row->most);
}

/* False: there are too many, or this one is empty. */
static bool take_one_more(const struct option_row *row, const char *word, const char **texts)
{
	size_t count = 0;

	while (texts[count])
		count++;
	return count < OPTION_TEXTS_MOST && take_text(row, word, &texts[count]);
}

static bool take_value(const struct option_row *row, void *into, const char *word)
{
	void *member = (char *)into + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)member = true;
		return true;
	case OPTION_TEXT:
	case OPTION_FOLDER:
	case OPTION_OUTPUT:
		return take_text(row, word, member);
	case OPTION_TEXTS:
		return take_one_more(row, word, member);
	case OPTION_FILE:
		return take_text(row, word, member) && strcmp(word, "-") != 0;
	case OPTION_NUMBER:
		return take_number(row, word, member);
	case OPTION_SECONDS:
		return take_seconds(word, member);
	case OPTION_CHOICE:
		return take_choice(word, row->value, member);
	}
	return false;
}

/* The values that an option takes, in words; fresh memory. */
static char *taken_by(const struct option_row *row)
{
	if (row->kind == OPTION_SECONDS)
		return util_format("seconds, %g to %.0f", SECONDS_LEAST, SECONDS_MOST);
	if (row->kind == OPTION_FILE)
		return util_format("the name of a file; standard output has the report");
	if (row->kind == OPTION_TEXTS)
		return util_format("%s, at most %d of them", row->value, OPTION_TEXTS_MOST);
	if (row->kind == OPTION_TEXT && row->most)
		return util_format("%s, %" PRIu32 " bytes at most: give a part of it", row->value, row->most);
	if (row->most)
		return util_format("%" PRIu32 " to %" PRIu32, row->least, row->most);
	return util_copy(row->value, strlen(row->value));
}

static void refuse_value(const struct option_row *row, const char *value, char **error)
{
	char *takes = taken_by(row);

	util_fail(error, "--%s %s: not understood: it takes %s", row->name, value, takes);
	free(takes);
}

/* False with `error` set: the row's own check refuses it. */
static bool check_value(const struct option_row *row, const char *value, char **error)
{
	char *why = NULL;

	if (!row->check || row->check(value, &why))
		return true;
	util_fail(error, "--%s %s: %s", row->name, value, why);
	free(why);
	return false;
}

static void refuse_empty(const struct option_row *row, char **error)
{
	char *takes = taken_by(row);

	util_fail(error, "--%s: its value is empty: it takes %s", row->name, takes);
	free(takes);
}

static const struct option_row *find_row(const struct option_set *sets, size_t set_count,
	const char *name, size_t size, const struct option_set **set)
{
	for (*set = sets; *set < sets + set_count; (*set)++)
		for (const struct option_row *row = (*set)->rows; row->name; row++)
			if (strlen(row->name) == size && memcmp(row->name, name, size) == 0)
				return row;
	return NULL;
}

/* The row of an option given as -l; NULL: there is none. */
static const struct option_row *find_letter(const struct option_set *sets, size_t set_count,
	const char *word, const struct option_set **set)
{
	for (*set = sets; *set < sets + set_count; (*set)++)
		for (const struct option_row *row = (*set)->rows; row->name; row++)
			if (row->letter && word[1] == row->letter && !word[2])
				return row;
	return NULL;
}

/* The structure that an option belongs to. NULL with `error` set: it must not be given again. */
static void *structure_for(const struct option_set *set, const struct option_row *row,
	const char *value, char **error)
{
	char *at = (char *)set->into + (set->most ? (*set->count - 1) * set->size : 0);

	if (!row->once || !*(const char *const *)(const void *)(at + row->offset))
		return at;
	if (set->most && *set->count < set->most) {
		++*set->count;
		return at + set->size;
	}
	if (set->most)
		util_fail(error, "--%s %s: too many; give %zu at most", row->name, value, set->most);
	else
		util_fail(error, "--%s %s: a second one; %s", row->name, value, row->once);
	return NULL;
}

/* Takes the option at words[0]. Returns how many words it had; 0 with `error` set. */
static size_t take_option(char *const *words, size_t count, const struct option_set *sets,
	size_t set_count, char **error)
{
	bool is_letter = words[0][1] != '-';
	const char *name = words[0] + 2, *value = is_letter ? NULL : strchr(name, '=');
	size_t size = value ? (size_t)(value - name) : strlen(name);
	const struct option_set *set;
	const struct option_row *row = is_letter ? find_letter(sets, set_count, words[0], &set) :
		find_row(sets, set_count, name, size, &set);
	size_t taken = 1;
	void *into;

	if (!row) {
		util_fail(error, "%.*s: no such option", (int)size + 2, words[0]);
		return 0;
	}
	if (value && !row->value) {
		util_fail(error, "--%s: takes no value", row->name);
		return 0;
	}
	if (value) {
		value++;
	} else if (row->value) {
		if (count < 2) {
			util_fail(error, "--%s: its value is missing: %s", row->name, row->value);
			return 0;
		}
		value = words[1];
		taken = 2;
	}
	if (value && !*value) {
		refuse_empty(row, error);
		return 0;
	}
	if (!check_value(row, value, error))
		return 0;
	into = structure_for(set, row, value, error);
	if (!into)
		return 0;
	if (take_value(row, into, value ? value : "")) {
		if (set->given)
			*set->given |= 1u << (row - set->rows);
		return taken;
	}
	refuse_value(row, value, error);
	return 0;
}

bool options_parse(char *const *words, size_t count, const struct option_set *sets,
	size_t set_count, size_t *used, char **error)
{
	size_t at = 0, taken;

	while (at < count && words[at][0] == '-' && words[at][1]) {
		if (strcmp(words[at], "--") == 0) {
			at++;
			break;
		}
		taken = take_option(words + at, count - at, sets, set_count, error);
		if (!taken)
			return false;
		at += taken;
	}
	*used = at;
	return true;
}

const char *options_unheeded(const struct option_set *set, unsigned where)
{
	for (size_t i = 0; set->rows[i].name; i++)
		if (*set->given & 1u << i && !(set->rows[i].heeded & where))
			return set->rows[i].name;
	return NULL;
}

static char *number_word(const struct option_row *row, const void *member)
{
	uint64_t ns = row->kind == OPTION_SECONDS ? *(const uint64_t *)member : 0;

	if (row->kind == OPTION_SECONDS)
		return ns ? util_format("--%s=%" PRIu64 ".%09" PRIu64, row->name, ns / NS_PER_SECOND,
			ns % NS_PER_SECOND) : NULL;
	if (!is_taken(row, *(const uint32_t *)member))
		return NULL;
	return util_format("--%s=%" PRIu32, row->name, *(const uint32_t *)member);
}

static char *choice_word(const struct option_row *row, int choice)
{
	const char *word = row->value;

	if (choice < 0)
		return NULL;
	while (choice-- > 0)
		word += strcspn(word, "|") + 1;
	return util_format("--%s=%.*s", row->name, (int)strcspn(word, "|"), word);
}

static char *path_word(const struct option_row *row, const char *path)
{
	char *whole = util_file_absolute(path), *word = util_format("--%s=%s", row->name, whole);

	free(whole);
	return word;
}

static char *option_word(const struct option_row *row, const void *from)
{
	const void *member = (const char *)from + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		return *(const bool *)member ? util_format("--%s", row->name) : NULL;
	case OPTION_TEXT:
		return *(const char *const *)member ?
			util_format("--%s=%s", row->name, *(const char *const *)member) : NULL;
	case OPTION_TEXTS:
		return NULL;			/* no table with such an option is written as words */
	case OPTION_OUTPUT:
		if (*(const char *const *)member && strcmp(*(const char *const *)member, "-") == 0)
			return util_format("--%s=-", row->name);
		/* fall through */
	case OPTION_FILE:
	case OPTION_FOLDER:
		return *(const char *const *)member ? path_word(row, *(const char *const *)member) : NULL;
	case OPTION_CHOICE:
		return choice_word(row, *(const int *)member);
	default:
		return number_word(row, member);
	}
}

char **options_words(const struct option_row *rows, const void *from)
{
	char **words = NULL;
	size_t count = 0;

	do {
		words = util_grow(words, count + 1, sizeof(*words));
		words[count] = rows->name ? option_word(rows, from) : NULL;
		count += words[count] != NULL;
	} while (rows++->name);
	return words;
}

void options_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

void options_help(FILE *out, const struct option_row *rows)
{
	for (const struct option_row *row = rows; row->name; row++) {
		int width = fprintf(out, "  --%s%s%s", row->name, row->value ? " " : "",
			row->value ? row->value : "");

		fprintf(out, "%*s%s\n", width < 28 ? 28 - width : 2, "", row->help);
	}
}
