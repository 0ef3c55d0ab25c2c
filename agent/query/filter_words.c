/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "filter_words.h"
#include "query.h"

#define BLANKS " \t"

enum { WORD_MOST = 160 };

static bool take_cpu(struct filter *filter, const char *value, char **error)
{
	char *end;
	unsigned long cpu;

	errno = 0;
	cpu = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)*value) || *end != '\0' || errno || cpu >= EVENT_NONE)
		return util_fail(error, "cpu:%s is not a CPU; give its number, as in cpu:0", value);
	filter->cpu = (uint32_t)cpu;
	return true;
}

static bool take_thread(struct filter *filter, const char *value, char **error)
{
	if (*value == '\0')
		return util_fail(error, "thread: needs a name; give a part of it, or the thread's number");
	if (strlen(value) >= sizeof(filter->thread))
		return util_fail(error, "thread: the name is too long; give up to %zu bytes of it",
			sizeof(filter->thread) - 1);
	strcpy(filter->thread, value);
	return true;
}

static bool take_modes(struct filter *filter, const char *value, char **error)
{
	static const char *const names[MODES] = {
		[MODE_KERNEL] = "kernel", [MODE_USER] = "user", [MODE_IDLE] = "idle",
	};

	for (bool more = true; more; value++) {
		size_t size = strcspn(value, "|,");
		int mode = 0;

		while (mode < MODES && (strncmp(value, names[mode], size) != 0 || names[mode][size]))
			mode++;
		if (mode == MODES)
			return util_fail(error, "mode:%.*s is not a mode; give kernel, user or idle, "
				"or several: kernel|user", (int)size, value);
		filter->modes |= 1u << mode;
		value += size;
		more = *value != '\0';
	}
	return true;
}

static const struct filter_word {
	const char *name;
	bool (*take)(struct filter *filter, const char *value, char **error);
	const char *once;		/* what to do instead of giving it twice */
} words[] = {
	{ "cpu", take_cpu, "give one CPU, or none for all" },
	{ "thread", take_thread, "give one name, or none for all" },
	{ "mode", take_modes, "give the modes in one word: mode:kernel|user" },
};
enum { WORDS = sizeof(words) / sizeof(*words) };

/* Returns how many bytes stand before the single colon of a word; 0: the word is a name. */
static size_t name_size(const char *word)
{
	size_t size = 0;

	while (isalpha((unsigned char)word[size]) || word[size] == '-' || word[size] == '_')
		size++;
	return word[size] == ':' && word[size + 1] != ':' ? size : 0;
}

/* Adds a word to the part of a function's name. A blank between two of them belongs to the name. */
static bool take_name(struct filter *filter, const char *word, char **error)
{
	size_t used = strlen(filter->pattern), room = sizeof(filter->pattern) - used;

	if (strlen(word) + 1 >= room)
		return util_fail(error, "the function's name is too long; give up to %zu bytes of it",
			sizeof(filter->pattern) - 2);
	snprintf(filter->pattern + used, room, "%s%s", used ? " " : "", word);
	return true;
}

/* `given`: a bit for each of `words` that came before. */
static bool take_word(struct filter *filter, const char *word, unsigned *given, char **error)
{
	size_t size = name_size(word), i = 0;

	if (size == 0)
		return take_name(filter, word, error);
	while (i < WORDS && (strncmp(words[i].name, word, size) != 0 || words[i].name[size]))
		i++;
	if (i == WORDS)
		return util_fail(error, "%.*s: is not a word of a filter; give " FILTER_WORDS,
			(int)size, word);
	if (*given & 1u << i)
		return util_fail(error, "%s: is given twice; %s", words[i].name, words[i].once);
	*given |= 1u << i;
	return words[i].take(filter, word + size + 1, error);
}

bool filter_parse(const char *text, struct filter *filter, char **error)
{
	struct filter parsed = { .cpu = EVENT_NONE };
	char word[WORD_MOST];
	unsigned given = 0;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		size_t size = strcspn(text, BLANKS);

		if (size >= sizeof(word))
			return util_fail(error, "a word of the filter is too long; give up to %d bytes",
				WORD_MOST - 1);
		memcpy(word, text, size);
		word[size] = '\0';
		if (!take_word(&parsed, word, &given, error))
			return false;
		text += size;
	}
	*filter = parsed;
	return true;
}
