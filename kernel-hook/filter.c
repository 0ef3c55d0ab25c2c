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
	bool running;			/* the thread, or the other one, is that which runs, so its process is known */
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
	{ "sched", BIT(sched_switch) | BIT(sched_wake) | BIT(sched_migrate) | BIT(sched_priority), 0,
		AT(sched_switch, from), NOWHERE, false },
	{ "block", BIT(block_begin) | BIT(block_end), KTOP_EVENT_block_begin,
		AT(block_begin, thread), AT(block_begin, number), true },
	{ "net", BIT(net_send) | BIT(net_receive), 0, NOWHERE, AT(net_send, number), false },
	{ "task", BIT(task_begin) | BIT(task_end) | BIT(task_exec) | BIT(task_name), 0,
		AT(task_begin, thread), NOWHERE, true },
	{ "signal", BIT(signal_send), 0, AT(signal_send, thread), AT(signal_send, number), true },
};
/* Events that tell of another thread, who counts as well. */
static const struct { uint32_t event; int8_t at; } others[] = {
	{ KTOP_EVENT_sched_switch, AT(sched_switch, to) }, { KTOP_EVENT_sched_wake, AT(sched_wake, waker) },
	{ KTOP_EVENT_task_begin, AT(task_begin, parent) }, { KTOP_EVENT_signal_send, AT(signal_send, sender) },
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

_Static_assert(AT(sched_switch, from) == AT(sched_wake, thread), "one place in all events of a group");
SAME(sched_wake, sched_migrate, thread);
SAME(sched_wake, sched_priority, thread);
SAME(net_send, net_receive, number);
SAME(task_begin, task_end, thread);
SAME(task_begin, task_exec, thread);
SAME(task_begin, task_name, thread);

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
static bool is_process(const struct ktop_filter *filter, uint32_t thread, uint32_t other)
{
	const struct ktop_current *runs = ktop_port_current(0);

	return (runs->thread == thread || runs->thread == other) && runs->process == load(&filter->process);
}

static bool passes(const struct ktop *ktop, uint32_t group, uint32_t id, const uint64_t *fields)
{
	const struct group *of = &groups[group];
	const struct ktop_filter *filter = &ktop->filters[group];
	const uint32_t by = load(&filter->by), named = load(&filter->thread);
	const uint32_t thread = of->thread == NOWHERE ? KTOP_NO_THREAD : field_at(fields, of->thread);
	uint32_t other = thread;

	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].event == id)
			other = field_at(fields, others[i].at);
	if (by & KTOP_BY_NUMBER && !has_number(filter, field_at(fields, of->number)))
		return false;
	if (by & KTOP_BY_THREAD && thread != named && other != named)
		return false;
	return !(by & KTOP_BY_PROCESS) || is_process(filter, thread, other);
}

/*
 * An end tells the request alone. Those that were left out are kept in mind, as far as there is room: the end of one
 * that is not is told without its beginning.
 */
static uint64_t *place_of(struct ktop *ktop, uint64_t request)
{
	return &ktop->left_out_requests[request * 0x9e3779b97f4a7c15ull >> 32 & (KTOP_FILTER_REQUESTS - 1)];
}

static bool block_passes(struct ktop *ktop, uint32_t group, uint32_t id, const uint64_t *fields)
{
	uint64_t *place = place_of(ktop, fields[0]);
	const bool is_out = fields[0] && __atomic_load_n(place, __ATOMIC_RELAXED) == fields[0];
	const bool pass = id == KTOP_EVENT_block_end ? !is_out : passes(ktop, group, id, fields);

	if (id == KTOP_EVENT_block_begin && !pass)
		__atomic_store_n(place, fields[0], __ATOMIC_RELAXED);
	else if (is_out)
		__atomic_store_n(place, 0, __ATOMIC_RELAXED);
	return pass;
}

bool ktop_filter_passes(struct ktop *ktop, uint32_t id, const uint64_t *fields)
{
	uint32_t i = 0;

	while (i < KTOP_FILTERS && !(groups[i].events >> id % 32 & 1))
		i++;
	if (i == KTOP_FILTERS)
		return true;
	return groups[i].events & BIT(block_end) ? block_passes(ktop, i, id, fields) : passes(ktop, i, id, fields);
}

void ktop_filter_switch(const struct ktop *ktop, const uint64_t *fields, uint64_t told[KTOP_FILTER_SWITCH])
{
	struct ktop_wire_sched_switch to;
	uint32_t i = 0;

	while (!(groups[i].events & BIT(sched_switch)))
		i++;
	__builtin_memcpy(&to, fields, sizeof(to));
	if (load(&ktop->filters[i].by) & KTOP_BY_THREAD) {
		to.from = to.from == load(&ktop->filters[i].thread) ? to.from : KTOP_OTHER_THREAD;
		to.to = to.to == load(&ktop->filters[i].thread) ? to.to : KTOP_OTHER_THREAD;
	}
	__builtin_memcpy(told, &to, sizeof(to));
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

bool ktop_filter_known(const char *option)
{
	static const char *const known[] = { "stack", "min", "process", "thread", "number" };
	uint32_t i = 0;

	while (i < sizeof(known) / sizeof(known[0]) && !ktop_str_same(option, known[i]))
		i++;
	return i < sizeof(known) / sizeof(known[0]);
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
