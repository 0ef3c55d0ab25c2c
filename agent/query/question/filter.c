/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/pattern.h"
#include "agent/names/threads.h"
#include "agent/query/tree/contexts.h"
#include "agent/store/who.h"
#include "filter.h"

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
	case FILTER_MODE: return (term->modes >> context_mode(who, context) & 1) != term->negated;
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
