/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "filter.h"
#include "hook.h"
#include "ktop.h"
#include "port.h"
#include "wire.h"

/* A group of events, and where in their fields it stands of whom and of what they are; NOWHERE: they do not tell. */
struct group {
	const char *name;
	uint32_t events;		/* of 32 to 63 */
	uint32_t named;			/* the event under which the numbers' names are told (ktop_number); 0: none */
	int8_t thread, number;
	bool running;			/* the thread is the one that runs, so its process is known */
};
enum { NOWHERE = -1 };

#define BIT(event) (1u << KTOP_EVENT_##event % 32)
#define AT(event, field) ((int8_t)offsetof(struct ktop_wire_##event, field))
static const struct group groups[KTOP_FILTERS] = {
	{ "syscall", BIT(syscall_enter) | BIT(syscall_exit), KTOP_EVENT_syscall_enter,
		AT(syscall_enter, thread), AT(syscall_enter, number), true },
	{ "irq", BIT(irq_enter) | BIT(irq_exit), KTOP_EVENT_irq_enter, NOWHERE, AT(irq_enter, irq), false },
	{ "softirq", BIT(softirq_enter) | BIT(softirq_exit), KTOP_EVENT_softirq_enter,
		NOWHERE, AT(softirq_enter, softirq), false },
	{ "lock", BIT(lock_wait) | BIT(lock_waited) | BIT(lock_acquired) | BIT(lock_released), 0,
		AT(lock_wait, thread), NOWHERE, false },
	{ "fault", BIT(fault), 0, AT(fault, thread), NOWHERE, true },
	{ "memory", BIT(memory_alloc) | BIT(memory_free), KTOP_EVENT_memory_alloc,
		AT(memory_alloc, thread), AT(memory_alloc, number), true },
};
#define SAME(a, b, field) _Static_assert(AT(a, field) == AT(b, field), "one place in all events of a group")
SAME(syscall_enter, syscall_exit, thread);
SAME(syscall_enter, syscall_exit, number);
SAME(irq_enter, irq_exit, irq);
SAME(softirq_enter, softirq_exit, softirq);
SAME(lock_wait, lock_waited, thread);
SAME(lock_wait, lock_acquired, thread);
SAME(lock_wait, lock_released, thread);
SAME(memory_alloc, memory_free, thread);
SAME(memory_alloc, memory_free, number);

uint32_t ktop_filter_events(uint32_t group)
{
	return groups[group].events;
}

/* ---- trace points ---- */

static uint32_t field_at(const uint64_t *fields, int8_t at)
{
	uint32_t value;

	__builtin_memcpy(&value, (const uint8_t *)fields + at, sizeof(value));
	return value;
}

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static bool has_number(const struct ktop_filter *filter, uint32_t number)
{
	return number < KTOP_FILTER_NUMBERS && load(&filter->numbers[number / 32]) >> number % 32 & 1;
}

/* In an interrupt, the thread is none, so it is not the one that the port knows to run. */
static bool is_process(const struct ktop_filter *filter, uint32_t thread)
{
	const struct ktop_current *runs = ktop_port_current(0);

	return runs->thread == thread && runs->process == load(&filter->process);
}

bool ktop_filter_passes(const struct ktop *ktop, uint32_t id, const uint64_t *fields)
{
	const struct ktop_filter *filter;
	uint32_t i = 0, by;

	while (i < KTOP_FILTERS && !(groups[i].events >> id % 32 & 1))
		i++;
	if (i == KTOP_FILTERS)
		return true;
	filter = &ktop->filters[i];
	by = load(&filter->by);
	if (by & KTOP_BY_NUMBER && !has_number(filter, field_at(fields, groups[i].number)))
		return false;
	if (by & KTOP_BY_THREAD && field_at(fields, groups[i].thread) != load(&filter->thread))
		return false;
	return !(by & KTOP_BY_PROCESS) || is_process(filter, field_at(fields, groups[i].thread));
}

/* ---- control lines ---- */

/* "20us": a number, and ns, us, ms or s; rounded up. */
static bool parse_ticks(const struct ktop *ktop, char *word, uint64_t *ticks)
{
	static const struct { const char *name; uint32_t per; } units[] = {
		{ "ns", 1000000000 }, { "us", 1000000 }, { "ms", 1000 }, { "s", 1 },
	};
	char *unit = word, digit;
	uint32_t number = 0;
	bool is_number;

	while (*unit >= '0' && *unit <= '9')
		unit++;
	digit = *unit;
	*unit = 0;
	is_number = ktop_str_parse(word, &number) && number <= 1000000000;
	*unit = digit;
	for (uint32_t i = 0; is_number && i < sizeof(units) / sizeof(units[0]); i++)
		if (ktop_str_same(unit, units[i].name)) {
			*ticks = (number * ktop->hz + units[i].per - 1) / units[i].per;
			return true;
		}
	return false;
}

/* False: the kernel tells of no such name. */
static bool find_name(const struct ktop *ktop, uint32_t event, const char *name, uint32_t *number)
{
	struct ktop_number told;

	for (uint32_t i = 0; event && ktop->meta.numbers && ktop->meta.numbers(i, &told); i++)
		if (told.event == event && told.name && ktop_str_same(told.name, name)) {
			*number = (uint32_t)told.number;
			return told.number < KTOP_FILTER_NUMBERS;
		}
	return false;
}

/* "5", "5-8" or "read". */
static bool parse_numbers(const struct ktop *ktop, const struct group *group, char *word, struct ktop_filter *filter)
{
	char *dash = word;
	uint32_t first, last;

	while (*dash && *dash != '-')
		dash++;
	if (*dash && word[0] >= '0' && word[0] <= '9') {
		bool is_range;

		*dash = 0;
		is_range = ktop_str_parse(word, &first) && ktop_str_parse(dash + 1, &last);
		*dash = '-';
		if (!is_range)
			return false;
	} else {
		if (!ktop_str_parse(word, &first) && !find_name(ktop, group->named, word, &first))
			return false;
		last = first;
	}
	if (first > last || last >= KTOP_FILTER_NUMBERS)
		return false;
	for (uint32_t i = first; i <= last; i++)
		filter->numbers[i / 32] |= 1u << i % 32;
	return true;
}

bool ktop_filter_parse(const struct ktop *ktop, uint32_t group, const char *option, char *value,
	struct ktop_filter *filter)
{
	const struct group *of = &groups[group];
	bool process = ktop_str_same(option, "process"), thread = ktop_str_same(option, "thread");

	if (ktop_str_same(option, "min"))
		return group < KTOP_PAIRS && parse_ticks(ktop, value, &filter->least);
	if (filter->by & (process ? KTOP_BY_PROCESS : thread ? KTOP_BY_THREAD : 0))
		return false;			/* one of each; of numbers any */
	filter->by |= process ? KTOP_BY_PROCESS : thread ? KTOP_BY_THREAD : KTOP_BY_NUMBER;
	if (process)
		return of->running && ktop_str_parse(value, &filter->process);
	if (thread)
		return of->thread != NOWHERE && ktop_str_parse(value, &filter->thread);
	return of->number != NOWHERE && ktop_str_same(option, "number") && parse_numbers(ktop, of, value, filter);
}

static bool set_word(uint32_t *word, uint32_t to)
{
	bool changed = *word != to;

	__atomic_store_n(word, to, __ATOMIC_RELAXED);
	return changed;
}

bool ktop_filter_set(struct ktop *ktop, const struct ktop_filter filters[KTOP_FILTERS])
{
	bool changed = false;

	for (uint32_t i = 0; i < KTOP_FILTERS; i++) {
		struct ktop_filter *filter = &ktop->filters[i];

		changed |= filter->least != filters[i].least;
		__atomic_store_n(&filter->least, filters[i].least, __ATOMIC_RELAXED);
		changed |= set_word(&filter->by, filters[i].by);
		changed |= set_word(&filter->process, filters[i].process);
		changed |= set_word(&filter->thread, filters[i].thread);
		for (uint32_t word = 0; word < KTOP_FILTER_NUMBERS / 32; word++)
			changed |= set_word(&filter->numbers[word], filters[i].numbers[word]);
	}
	return changed;
}

/* ---- as text ---- */

enum { RANGES_TOLD = 8 };		/* of numbers; after them stands "..." */

static void add_option(struct ktop_str *text, const char **before, const char *name)
{
	ktop_str_add(text, *before);
	ktop_str_add(text, name);
	*before = ",";
}

static void add_ticks(const struct ktop *ktop, struct ktop_str *text, uint64_t ticks)
{
	const uint64_t second = 1000000000;
	uint64_t ns = ticks / ktop->hz * second + (ticks % ktop->hz * second + ktop->hz / 2) / ktop->hz;

	ktop_str_number(text, ns % 1000 ? ns : ns / 1000);
	ktop_str_add(text, ns % 1000 ? "ns" : "us");
}

static void add_numbers(const struct ktop_filter *filter, struct ktop_str *text, const char **before)
{
	uint32_t ranges = 0;

	for (uint32_t i = 0, end; i < KTOP_FILTER_NUMBERS; i = end) {
		for (end = i + 1; has_number(filter, i) && has_number(filter, end);)
			end++;
		if (!has_number(filter, i))
			continue;
		if (ranges++ == RANGES_TOLD) {
			add_option(text, before, "...");
			return;
		}
		add_option(text, before, "number=");
		ktop_str_number(text, i);
		if (end > i + 1) {
			ktop_str_add(text, "-");
			ktop_str_number(text, end - 1);
		}
	}
}

static void add_filter(const struct ktop *ktop, const struct ktop_filter *filter, struct ktop_str *text)
{
	const char *before = "";

	if (filter->least) {
		add_option(text, &before, "min=");
		add_ticks(ktop, text, filter->least);
	}
	if (filter->by & KTOP_BY_PROCESS) {
		add_option(text, &before, "process=");
		ktop_str_number(text, filter->process);
	}
	if (filter->by & KTOP_BY_THREAD) {
		add_option(text, &before, "thread=");
		ktop_str_number(text, filter->thread);
	}
	if (filter->by & KTOP_BY_NUMBER)
		add_numbers(filter, text, &before);
}

void ktop_filter_all(const struct ktop *ktop, struct ktop_str *text)
{
	for (uint32_t i = 0; i < KTOP_FILTERS; i++) {
		if (!ktop->filters[i].least && !ktop->filters[i].by)
			continue;
		ktop_str_add(text, text->size ? " " : "");
		ktop_str_add(text, groups[i].name);
		ktop_str_add(text, ":");
		add_filter(ktop, &ktop->filters[i], text);
	}
}
