#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope.h"
#include "util.h"

static const uint64_t second = 1000000000u;
static const unsigned windows[] = { 1, 10, 60, 0 };	/* seconds; 0: all */

void scope_init(struct scope *scope)
{
	*scope = (struct scope) { .window_ns = 10 * second, .filter = { .cpu = EVENT_NONE } };
}

void scope_next_window(struct scope *scope)
{
	size_t count = sizeof windows / sizeof *windows, i = 0;

	while (i + 1 < count && windows[i] * second != scope->window_ns)
		i++;
	scope->window_ns = windows[(i + 1) % count] * second;
}

const char *scope_window(const struct scope *scope, char text[SCOPE_WINDOW])
{
	if (scope->window_ns == 0)
		snprintf(text, SCOPE_WINDOW, "all");
	else
		snprintf(text, SCOPE_WINDOW, "%us", (unsigned)(scope->window_ns / second));
	return text;
}

bool scope_window_named(const char *name, uint64_t *window_ns)
{
	char text[SCOPE_WINDOW];

	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		struct scope scope = { .window_ns = windows[i] * second };

		if (strcmp(scope_window(&scope, text), name) == 0) {
			*window_ns = scope.window_ns;
			return true;
		}
	}
	return false;
}

const char *scope_time(uint64_t ns, char text[SCOPE_TIME])
{
	uint64_t seconds = ns / second;

	snprintf(text, SCOPE_TIME, "%02" PRIu64 ":%02u:%02u", seconds / 3600,
		(unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
	return text;
}

/* Adds a word to a text of words; false when it does not fit. */
static bool add_word(char *to, size_t size, const char *word)
{
	size_t used = strlen(to);
	int wanted = snprintf(to + used, size - used, "%s%s", used ? " " : "", word);

	return wanted >= 0 && (size_t)wanted < size - used;
}

static bool set_cpu(struct filter *filter, const char *value, char **error)
{
	char *end;
	unsigned long cpu;

	errno = 0;
	cpu = strtoul(value, &end, 10);
	if (*value < '0' || *value > '9' || *end != '\0' || errno || cpu >= EVENT_NONE)
		return util_fail(error, "cpu:%s is no CPU; say cpu:0", value);
	filter->cpu = (uint32_t)cpu;
	return true;
}

static bool set_modes(struct filter *filter, char *value, char **error)
{
	static const char *const names[MODES] = {
		[MODE_KERNEL] = "kernel", [MODE_USER] = "user", [MODE_IDLE] = "idle",
	};
	char *rest;

	if (*value == '\0')
		return util_fail(error, "mode: what? kernel, user or idle");
	for (char *word = strtok_r(value, "|,", &rest); word; word = strtok_r(NULL, "|,", &rest)) {
		int mode = 0;

		while (mode < MODES && strcmp(word, names[mode]) != 0)
			mode++;
		if (mode == MODES)
			return util_fail(error, "mode:%s is none; say kernel, user or idle", word);
		filter->modes |= 1u << mode;
	}
	return true;
}

static bool take_word(struct filter *filter, char *word, char **error)
{
	if (strncmp(word, "cpu:", 4) == 0)
		return set_cpu(filter, word + 4, error);
	if (strncmp(word, "mode:", 5) == 0)
		return set_modes(filter, word + 5, error);
	if (strncmp(word, "thread:", 7) == 0)
		return snprintf(filter->thread, sizeof filter->thread, "%s", word + 7) <
			(int)sizeof filter->thread ||
			util_fail(error, "the thread's name is too long");
	return add_word(filter->pattern, sizeof filter->pattern, word) ||
		util_fail(error, "the function's name is too long");
}

bool scope_filter(struct scope *scope, const char *text, char **error)
{
	struct filter filter = { .cpu = EVENT_NONE };
	char words[sizeof scope->filter_text], shown[sizeof words] = "", *rest;

	if (strlen(text) >= sizeof words)
		return util_fail(error, "the filter is too long");
	strcpy(words, text);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		add_word(shown, sizeof shown, word);
		if (!take_word(&filter, word, error))
			return false;
	}
	scope->filter = filter;
	strcpy(scope->filter_text, shown);
	return true;
}
