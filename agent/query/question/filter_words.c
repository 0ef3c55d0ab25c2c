/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/query/tree/contexts.h"
#include "agent/wire/event.h"
#include "filter_words.h"

#define BLANKS " \t"

enum { WORD_MOST = 160 };

/*
 * The bytes of the alternative at the beginning, which ends before one of `ends`. One in quotes ends with them: within
 * it, "" is a quote. 0: they are not closed.
 */
static size_t alternative_size(const char *value, const char *ends)
{
	size_t size = 1;

	if (*value != '"')
		return strcspn(value, ends);
	for (; value[size]; size++) {
		if (value[size] == '"' && (!value[size + 1] || strchr(BLANKS "|", value[size + 1])))
			return size + 1;
		size += value[size] == '"' && value[size + 1] == '"';
	}
	return 0;
}

static bool take_text(const char *value, struct filter_term *term, char **error)
{
	bool names = false;
	size_t size;

	(void)term;
	for (value += strspn(value, "|"); *value; value += size, value += strspn(value, "|")) {
		size = alternative_size(value, "|");
		if (!size)
			return util_fail(error, "a quote of the filter is not closed; end the name with one, too");
		names = names || *value != '"' || size > strlen("\"\"");
	}
	return names || util_fail(error, "a word of the filter names nothing; give a part of a name");
}

static bool take_cpu(const char *value, struct filter_term *term, char **error)
{
	const char *at = value;

	(void)term;
	for (bool more = true; more; at++) {
		char *end;
		unsigned long cpu;

		errno = 0;
		cpu = strtoul(at, &end, 10);
		if (!isdigit((unsigned char)*at) || (*end && *end != '|') || errno || cpu >= EVENT_NONE)
			return util_fail(error, "cpu:%s is not a CPU; give numbers: cpu:0 or cpu:0|2", value);
		at = end;
		more = *end != '\0';
	}
	return true;
}

static bool take_modes(const char *value, struct filter_term *term, char **error)
{
	for (bool more = true; more; value++) {
		size_t size = strcspn(value, "|,");
		int mode = 0;

		while (mode < MODE_NAMES && (strncmp(value, mode_names[mode], size) != 0 || mode_names[mode][size]))
			mode++;
		if (mode == MODE_NAMES)
			return util_fail(error, "mode:%.*s is not a mode; give kernel, user, idle, irq or softirq, "
				"or several: kernel|user", (int)size, value);
		term->modes |= 1u << mode;
		value += size;
		more = *value != '\0';
	}
	return true;
}

static const struct filter_word {
	const char *name;		/* before the colon; NULL: there is none */
	bool (*take)(const char *value, struct filter_term *term, char **error);	/* checks the value */
} words[FILTER_BYS] = {
	[FILTER_HAS] = { NULL, take_text },
	[FILTER_RUNNING] = { NULL, take_text },
	[FILTER_FUNCTION] = { NULL, take_text },
	[FILTER_CPU] = { "cpu", take_cpu },
	[FILTER_MODE] = { "mode", take_modes },
	[FILTER_THREAD] = { "thread", take_text },
	[FILTER_COMM] = { "comm", take_text },
	[FILTER_PROCESS] = { "process", take_text },
	[FILTER_OBJECT] = { "object", take_text },
	[FILTER_FILE] = { "file", take_text },
	[FILTER_UNDER] = { "under", take_text },
	[FILTER_MACHINE] = { "machine", take_text },
};

/* Puts the alternatives into the filter's text, without empty ones. False: they do not fit. */
static bool put_text(struct filter *filter, const char *value)
{
	if (filter->used == FILTER_TEXT)
		return false;
	for (value += strspn(value, "|"); *value; value += strspn(value, "|")) {
		size_t size = alternative_size(value, "|"), quotes = *value == '"';
		uint32_t from = filter->used;

		if (size + 2 > FILTER_TEXT - filter->used)
			return false;
		for (size_t i = quotes; i < size - quotes; i++) {
			filter->text[filter->used++] = value[i];
			i += quotes && value[i] == '"' && value[i + 1] == '"';
		}
		if (filter->used > from)
			filter->text[filter->used++] = '\0';
		value += size;
	}
	filter->text[filter->used++] = '\0';
	return true;
}

static bool add(struct filter *filter, enum filter_by by, bool negated, const char *value, char **error)
{
	struct filter_term term = { .by = by, .negated = negated, .text = filter->used };

	if (filter->count == FILTER_TERMS)
		return util_fail(error, "the filter has too many words; give fewer");
	if (!words[by].take(value, &term, error))
		return false;
	if (!put_text(filter, by == FILTER_MODE ? "" : value))
		return util_fail(error, "the filter is too long; give shorter parts of the names");
	filter->terms[filter->count++] = term;
	return true;
}

bool filter_add(struct filter *filter, enum filter_by by, const char *value, char **error)
{
	struct filter longer = *filter;

	if (!add(&longer, by, false, value, error))
		return false;
	*filter = longer;
	return true;
}

bool filter_add_function(struct filter *filter, enum filter_by by, uint64_t name)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIx64, name);
	return filter_add(filter, by, text, NULL);
}

/* Returns how many bytes stand before the single colon of a word; 0: the word is a name. */
static size_t name_size(const char *word)
{
	size_t size = 0;

	while (isalpha((unsigned char)word[size]) || word[size] == '-' || word[size] == '_')
		size++;
	return word[size] == ':' && word[size + 1] != ':' ? size : 0;
}

size_t filter_word_size(const char *text)
{
	const char *at = text + (*text == '!');
	size_t size = name_size(at);

	for (at += size ? size + 1 : 0;; at++) {
		size = alternative_size(at, BLANKS "|");
		at += size || *at != '"' ? size : strlen(at);
		if (*at != '|')
			return (size_t)(at - text);
	}
}

static bool take_word(struct filter *filter, const char *word, char **error)
{
	bool negated = word[0] == '!';
	size_t size;

	word += negated;
	size = name_size(word);
	if (size == 0)
		return add(filter, FILTER_FUNCTION, negated, word, error);
	for (int by = FILTER_FUNCTION + 1; by < FILTER_WORDS_END; by++)
		if (strncmp(words[by].name, word, size) == 0 && !words[by].name[size])
			return add(filter, (enum filter_by)by, negated, word + size + 1, error);
	return util_fail(error, "%.*s: is not a word of a filter; give " FILTER_WORDS, (int)size, word);
}

bool filter_parse(const char *text, struct filter *filter, char **error)
{
	struct filter parsed = { .count = 0 };
	char word[WORD_MOST];

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		size_t size = filter_word_size(text);

		if (size >= sizeof(word))
			return util_fail(error, "a word of the filter is too long; give at most %d bytes",
				WORD_MOST - 1);
		memcpy(word, text, size);
		word[size] = '\0';
		if (parsed.count == FILTER_WORDS_MOST)
			return util_fail(error, "the filter has too many words; give at most %d", FILTER_WORDS_MOST);
		if (!take_word(&parsed, word, error))
			return false;
		text += size;
	}
	*filter = parsed;
	return true;
}
