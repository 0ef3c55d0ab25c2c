/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/names/threads.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/run.h"
#include "agent/wire/event.h"
#include "filter.h"

enum { OFF = 1 << MODE_OFF_CPU | 1 << MODE_OFF_WAKER };	/* of the modes of a term that asks about waits: one of these */

/* Goes through a term's alternatives. `last` is the one that was returned last, or NULL. NULL: there is no more. */
static const char *next_text(const struct filter *filter, const struct filter_term *term, const char *last)
{
	const char *next = last ? last + strlen(last) + 1 : filter->text + term->text;

	return *next ? next : NULL;
}

bool filter_term_finds(const struct filter *filter, const struct filter_term *term, const char *text)
{
	const char *part = NULL;

	while ((part = next_text(filter, term, part)))
		if (pattern_match(text, part))
			return true;
	return false;
}

static bool names_cpu(const struct filter *filter, const struct filter_term *term, uint32_t cpu)
{
	const char *number = NULL;

	while ((number = next_text(filter, term, number)))
		if (strtoul(number, NULL, 10) == cpu)
			return true;
	return false;
}

static bool names_thread(const struct filter *filter, const struct filter_term *term, struct threads *threads,
	const struct who *who)
{
	const char *name = NULL;

	while ((name = next_text(filter, term, name)))
		if (term->by == FILTER_COMM ? threads_is(threads, who->thread, who->process, name) :
				term->by == FILTER_THREAD ? threads_match(threads, who->thread, who->process, name) :
				threads_match_process(threads, who->thread, who->process, name))
			return true;
	return false;
}

/* Terms that do not look at who ran the sample hold here. */
static bool holds(const struct filter *filter, const struct filter_term *term, struct threads *threads,
	const struct who *who, enum context context)
{
	switch (term->by) {
	case FILTER_CPU: return names_cpu(filter, term, who->cpu) != term->negated;
	case FILTER_MODE:
		return (term->modes & OFF) || (term->modes >> context_mode(who, context) & 1) != term->negated;
	case FILTER_THREAD:
	case FILTER_COMM:
	case FILTER_PROCESS: return names_thread(filter, term, threads, who) != term->negated;
	default: return true;
	}
}

bool filter_lacks(const struct filter *filter, enum filter_by by)
{
	for (uint32_t i = 0; i < filter->count; i++)
		if (filter->terms[i].by == by)
			return false;
	return true;
}

bool filter_passes(const struct filter *filter, struct threads *threads, const struct who *who, enum context context)
{
	for (uint32_t i = 0; i < filter->count; i++)
		if (!holds(filter, &filter->terms[i], threads, who, context))
			return false;
	return true;
}

bool filter_passes_cpu(const struct filter *filter, uint32_t cpu)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];

		if (term->by == FILTER_CPU && names_cpu(filter, term, cpu) == term->negated)
			return false;
	}
	return true;
}

static bool is_machine(const char *value, unsigned number, const char *name)
{
	return value[strspn(value, "0123456789")] ? pattern_match(name, value) :
		number && strtoul(value, NULL, 10) == number;
}

static bool names_machine(const struct filter *filter, const struct filter_term *term, unsigned number,
	const char *name)
{
	const char *part = NULL;

	while ((part = next_text(filter, term, part)))
		if (is_machine(part, number, name))
			return true;
	return false;
}

const char *filter_stray_machine(const struct filter *filter, const char *const *names, size_t count, bool tabs)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		const char *part = NULL;

		while (filter->terms[i].by == FILTER_MACHINE && (part = next_text(filter, &filter->terms[i], part))) {
			size_t at = 0;

			while (at < count && !is_machine(part, tabs ? (unsigned)at + 1 : 0, names[at]))
				at++;
			if (at == count)
				return part;
		}
	}
	return NULL;
}

void filter_at_machine(struct filter *filter, unsigned number, const char *name)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];

		if (term->by != FILTER_MACHINE) {
			filter->terms[left++] = *term;
		} else if (names_machine(filter, term, number, name) == term->negated) {
			*filter = (struct filter) { .count = 1, .used = 1, .terms[0].by = FILTER_CPU };	/* no CPU */
			return;
		}
	}
	memset(&filter->terms[left], 0, (filter->count - left) * sizeof(*filter->terms));
	filter->count = left;
}

bool filter_names_mode(const struct filter *filter, unsigned mode)
{
	for (uint32_t i = 0; i < filter->count; i++)
		if (filter->terms[i].by == FILTER_MODE && !filter->terms[i].negated &&
				filter->terms[i].modes >> mode & 1)
			return true;
	return false;
}

bool filter_off_cpu(const struct filter *filter)
{
	return filter_names_mode(filter, MODE_OFF_CPU) || filter_names_mode(filter, MODE_OFF_WAKER);
}

const char *filter_off_mode(const struct filter *filter)
{
	return filter_names_mode(filter, MODE_OFF_WAKER) ? "off-waker" : "off-cpu";
}

struct store *filter_store(const struct filter *filter, const struct query_inputs *inputs)
{
	return filter_names_mode(filter, MODE_OFF_WAKER) ? inputs->wakes :
		filter_off_cpu(filter) ? inputs->waits : inputs->store;
}

bool filter_shows(const struct filter *filter, const char *function)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		const struct filter_term *term = &filter->terms[i];

		if (term->by == FILTER_FUNCTION && filter_term_finds(filter, term, function) == term->negated)
			return false;
	}
	return true;
}

static bool same_term(const struct filter *a, const struct filter_term *left, const struct filter *b,
	const struct filter_term *right)
{
	const char *x = NULL, *y = NULL;

	if (left->by != right->by || left->negated != right->negated || left->modes != right->modes)
		return false;
	do {
		x = next_text(a, left, x);
		y = next_text(b, right, y);
	} while (x && y && strcmp(x, y) == 0);
	return !x && !y;
}

/* The first term from `*at` on that looks at samples, or any if `all`; moves `*at` behind it. NULL: none. */
static const struct filter_term *next_term(const struct filter *filter, uint32_t *at, bool all)
{
	while (*at < filter->count) {
		const struct filter_term *term = &filter->terms[(*at)++];

		if (all || term->by != FILTER_FUNCTION)
			return term;
	}
	return NULL;
}

static bool same_terms(const struct filter *a, const struct filter *b, bool all)
{
	const struct filter_term *left, *right;
	uint32_t i = 0, k = 0;

	do {
		left = next_term(a, &i, all);
		right = next_term(b, &k, all);
	} while (left && right && same_term(a, left, b, right));
	return !left && !right;
}

bool filter_same(const struct filter *a, const struct filter *b)
{
	return same_terms(a, b, false);
}

bool filter_equal(const struct filter *a, const struct filter *b)
{
	return same_terms(a, b, true);
}

/* ---- the words of a filter ---- */

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
	bool waker = strcmp(value, "off-waker") == 0;

	if (waker || strcmp(value, "off-cpu") == 0) {
		term->modes = 1u << (waker ? MODE_OFF_WAKER : MODE_OFF_CPU);
		return !term->negated || util_fail(error, "!mode:%s is what all samples are; leave it out", value);
	}
	for (bool more = true; more; value++) {
		size_t size = strcspn(value, "|,");
		int mode = 0;

		while (mode < MODE_NAMES && (strncmp(value, mode_names[mode], size) != 0 || mode_names[mode][size]))
			mode++;
		if (mode == MODE_NAMES)
			return util_fail(error, "mode:%.*s is not a mode; give kernel, user, idle, irq or softirq, "
				"several, as in kernel|user, off-cpu or off-waker alone", (int)size, value);
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
	if (by == FILTER_MODE && !filter_lacks(filter, FILTER_MODE) &&
			((term.modes & OFF) || filter_off_cpu(filter)))
		return util_fail(error, "mode:off-cpu and mode:off-waker stand without other modes; leave those out");
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
