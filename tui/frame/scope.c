/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/answers/answer.h"
#include "agent/base/util.h"
#include "agent/query/filter_words.h"
#include "scope.h"

#define BLANKS " \t"

static const unsigned windows[] = { 1, 10, 60, 0 };	/* seconds; 0: all */

void scope_init(struct scope *scope)
{
	*scope = (struct scope) { .window_ns = 10 * NS_PER_SECOND };
}

void scope_next_window(struct scope *scope)
{
	size_t count = sizeof(windows) / sizeof(*windows), i = 0;

	while (i + 1 < count && windows[i] * NS_PER_SECOND != scope->window_ns)
		i++;
	scope->window_ns = windows[(i + 1) % count] * NS_PER_SECOND;
}

const char *scope_window(const struct scope *scope, char text[SCOPE_WINDOW])
{
	if (scope->window_ns == 0)
		snprintf(text, SCOPE_WINDOW, "all");
	else
		snprintf(text, SCOPE_WINDOW, "%us", (unsigned)(scope->window_ns / NS_PER_SECOND));
	return text;
}

bool scope_window_named(const char *name, uint64_t *window_ns)
{
	char text[SCOPE_WINDOW];

	for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
		struct scope scope = { .window_ns = windows[i] * NS_PER_SECOND };

		if (strcmp(scope_window(&scope, text), name) == 0) {
			*window_ns = scope.window_ns;
			return true;
		}
	}
	return false;
}

const char *scope_time(uint64_t ns, char text[SCOPE_TIME])
{
	uint64_t seconds = ns / NS_PER_SECOND;

	snprintf(text, SCOPE_TIME, "%02" PRIu64 ":%02u:%02u", seconds / 3600,
		(unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	return text;
}

/* Copies the words of a text with one space between them. */
static void copy_words(char *to, const char *text)
{
	bool first = true;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS), first = false) {
		size_t size = strcspn(text, BLANKS);

		if (!first)
			*to++ = ' ';
		memcpy(to, text, size);
		to += size;
		text += size;
	}
	*to = '\0';
}

bool scope_filter(struct scope *scope, const char *text, char **error)
{
	if (strlen(text) >= sizeof(scope->filter_text))
		return util_fail(error, "the filter is too long; give up to %zu bytes",
			sizeof(scope->filter_text) - 1);
	if (!filter_parse(text, &scope->filter, error))
		return false;
	copy_words(scope->filter_text, text);
	return true;
}

void scope_excerpt(const struct scope *scope, struct excerpt *excerpt)
{
	excerpt->window_ns = scope->window_ns;
	excerpt->zero_ns = scope->zero_ns;
	excerpt->until_ns = scope->until_ns;
	excerpt->filter = scope->filter;
}
