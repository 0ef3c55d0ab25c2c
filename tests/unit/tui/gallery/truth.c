/* SPDX-License-Identifier: MIT */
/* What a view has to show, counted sample by sample. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "gallery.h"

enum { NOT_ASKED = -1 };

typedef bool test(const struct gallery_sample *sample, const void *context);

static bool counts(const struct truth *truth, const struct gallery_sample *sample)
{
	return !truth->filtered || (sample->cpu == 1 && sample->mode == MODE_KERNEL);
}

/* The first sample at this time or later: they are in the order of their times. */
static size_t first_at(const struct gallery_guest *guest, uint64_t time)
{
	size_t low = 0, high = guest->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (guest->samples[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* How many of the samples pass. */
static uint64_t count(const struct truth *truth, test *passes, const void *context)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < truth->gallery->machines; i++) {
		const struct gallery_guest *guest = &truth->gallery->guests[i];
		bool one_of = !truth->machine || truth->machine == i + 1;
		size_t end = first_at(guest, truth->to);

		for (size_t k = first_at(guest, truth->from); one_of && k < end; k++)
			sum += counts(truth, &guest->samples[k]) && (!passes || passes(&guest->samples[k], context));
	}
	return sum;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static struct fact *add(struct facts *facts, const char *name)
{
	struct fact *fact = &facts->facts[facts->count++];

	*fact = (struct fact) { .count = 0 };
	snprintf(fact->name, sizeof(fact->name), "%s", name);
	return fact;
}

static void number(struct fact *fact, double value)
{
	fact->numbers[fact->count++] = value;
}

/* ---- samples by what they are of ---- */

struct path {				/* the outermost functions, from the root; `leaf`: it ran itself */
	int functions[GALLERY_DEPTH];
	uint32_t depth;
	bool leaf;
};

static bool has_path(const struct gallery_sample *sample, const void *context)
{
	const struct path *path = context;
	bool same = sample->mode != MODE_IDLE && sample->depth >= path->depth &&
		(!path->leaf || sample->depth == path->depth);

	for (uint32_t i = 0; same && i < path->depth; i++)
		same = sample->stack[sample->depth - 1 - i] == path->functions[i];
	return same;
}

struct chain {				/* the innermost functions, the one that ran first */
	int functions[GALLERY_DEPTH];
	uint32_t depth;
};

static bool has_chain(const struct gallery_sample *sample, const void *context)
{
	const struct chain *chain = context;
	bool same = sample->mode != MODE_IDLE && sample->depth >= chain->depth;

	for (uint32_t i = 0; same && i < chain->depth; i++)
		same = sample->stack[i] == chain->functions[i];
	return same;
}

static bool has_function(const struct gallery_sample *sample, const void *context)
{
	bool has = false;

	for (uint32_t i = 0; i < sample->depth; i++)
		has = has || sample->stack[i] == *(const int *)context;
	return has;
}

static bool is_idle(const struct gallery_sample *sample, const void *context)
{
	(void)context;
	return sample->mode == MODE_IDLE;
}

static bool is_busy_on(const struct gallery_sample *sample, const void *context)
{
	return sample->mode != MODE_IDLE && sample->thread == *(const uint32_t *)context;
}

static const int lock = LOCK;

static bool locks_on_thread(const struct gallery_sample *sample, const void *context)
{
	return has_function(sample, &lock) && sample->thread == *(const uint32_t *)context;
}

static bool locks_on_cpu(const struct gallery_sample *sample, const void *context)
{
	return has_function(sample, &lock) && sample->cpu == *(const uint32_t *)context;
}

static bool locks_at(const struct gallery_sample *sample, const void *context)
{
	return has_function(sample, &lock) && sample->pc == *(const uint64_t *)context;
}

/* ---- the views ---- */

static void add_idle(const struct truth *truth, struct facts *facts, int numbers)
{
	uint64_t idle = count(truth, is_idle, NULL);
	struct fact *fact;

	if (!idle)
		return;
	fact = add(facts, "[idle]");
	for (int i = 0; i < numbers; i++)
		number(fact, percent(idle, count(truth, NULL, NULL)));
}

struct facts truth_functions(const struct truth *truth)
{
	struct facts facts = { .count = 0 };
	uint64_t all = count(truth, NULL, NULL);

	for (int i = 0; i < FUNCTIONS; i++) {
		struct chain self = { { i }, 1 };
		struct fact *fact = add(&facts, gallery_names[i]);

		number(fact, percent(count(truth, has_chain, &self), all));
		number(fact, percent(count(truth, has_function, &i), all));
	}
	add_idle(truth, &facts, 2);
	return facts;
}

/* Each machine has its own threads. */
static void add_threads(const struct truth *truth, struct facts *facts, test *passes, enum fact_place place,
	uint64_t whole)
{
	struct truth one = *truth;

	for (one.machine = 1; one.machine <= truth->gallery->machines; one.machine++)
		for (uint32_t i = 0; i < GALLERY_THREADS; i++) {
			char name[FACT_NAME];
			struct fact *fact;

			snprintf(name, sizeof(name), "%s/%" PRIu32, gallery_threads[i], i + 1);
			fact = add(facts, name);
			fact->place = place;
			number(fact, percent(count(&one, passes, &i), whole));
		}
}

struct facts truth_threads(const struct truth *truth)
{
	struct facts facts = { .count = 0 };

	add_threads(truth, &facts, is_busy_on, FACT_FIRST, (truth->to - truth->from) / (GALLERY_TICK_MS * NS_PER_MS));
	return facts;
}

static void add_path(const struct truth *truth, struct facts *facts, const struct path *path)
{
	struct path parent = *path, self = *path;
	struct fact *fact = add(facts, gallery_names[path->functions[path->depth - 1]]);
	uint64_t total = count(truth, has_path, path), all = count(truth, NULL, NULL);

	self.leaf = true;
	parent.depth--;
	number(fact, percent(total, all));
	if (parent.depth)
		number(fact, percent(total, count(truth, has_path, &parent)));
	number(fact, percent(count(truth, has_path, &self), all));
}

struct facts truth_tree(const struct truth *truth)
{
	static const struct path paths[] = {
		{ { ENTRY }, 1, false }, { { ENTRY, WORK }, 2, false }, { { ENTRY, WORK, COPY }, 3, false },
		{ { ENTRY, WORK, COPY, LOCK }, 4, false }, { { ENTRY, ALLOC }, 2, false },
		{ { ENTRY, ALLOC, LOCK }, 3, false },
	};
	struct facts facts = { .count = 0 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		add_path(truth, &facts, &paths[i]);
	add_idle(truth, &facts, 2);
	return facts;
}

static const struct chain chains[] = {
	{ { LOCK, COPY }, 2 }, { { LOCK, COPY, WORK }, 3 }, { { LOCK, COPY, WORK, ENTRY }, 4 }, { { LOCK, ALLOC }, 2 },
	{ { LOCK, ALLOC, ENTRY }, 3 },
};

struct facts truth_around(const struct truth *truth)
{
	uint64_t total = count(truth, has_function, &lock), all = count(truth, NULL, NULL);
	struct facts facts = { .count = 0 };
	struct fact *fact = add(&facts, gallery_names[LOCK]);

	number(fact, percent(total, all));
	number(fact, percent(total, all));
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		if (chains[i].depth > 2)
			continue;
		fact = add(&facts, gallery_names[chains[i].functions[1]]);
		number(fact, percent(count(truth, has_chain, &chains[i]), all));
		number(fact, percent(count(truth, has_chain, &chains[i]), total));
	}
	return facts;
}

struct facts truth_page(const struct truth *truth)
{
	uint64_t total = count(truth, has_function, &lock);
	struct facts facts = { .count = 0 };
	struct fact *fact;
	char name[FACT_NAME];

	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		fact = add(&facts, gallery_names[chains[i].functions[chains[i].depth - 1]]);
		fact->place = FACT_BEFORE;
		number(fact, percent(count(truth, has_chain, &chains[i]), total));
	}
	add_threads(truth, &facts, locks_on_thread, FACT_BEFORE, total);
	for (size_t i = 0; i < truth->gallery->machines * GALLERY_CPUS; i++) {
		struct truth own = *truth;
		uint32_t cpu = (uint32_t)(i % GALLERY_CPUS);

		own.machine = i / GALLERY_CPUS + 1;
		if (truth->machine && truth->machine != own.machine)
			continue;
		if (truth->gallery->machines > 1)
			snprintf(name, sizeof(name), "%zu CPU %" PRIu32, own.machine, cpu);
		else
			snprintf(name, sizeof(name), "CPU %" PRIu32, cpu);
		fact = add(&facts, name);
		fact->place = FACT_BEHIND;
		number(fact, percent(count(&own, locks_on_cpu, &cpu), total));
	}
	return facts;
}

struct facts truth_instructions(const struct truth *truth)
{
	uint64_t total = count(truth, has_function, &lock);
	struct facts facts = { .count = 0 };

	for (size_t i = 0; i < sizeof(gallery_pcs) / sizeof(*gallery_pcs); i++) {
		uint64_t samples = count(truth, locks_at, &gallery_pcs[i]);
		char name[32];

		snprintf(name, sizeof(name), "%" PRIx64 ":", gallery_address(LOCK) + gallery_pcs[i]);
		number(add(&facts, name), percent(samples, total));
		number(&facts.facts[facts.count - 1], (double)samples);
	}
	return facts;
}

double truth_busy(const struct truth *truth, uint64_t from, uint64_t to)
{
	struct truth part = *truth;
	uint64_t all, idle;

	part.from = from;
	part.to = to < truth->to ? to : truth->to;
	part.filtered = false;
	all = count(&part, NULL, NULL);
	idle = count(&part, is_idle, NULL);
	if (truth->filtered) {
		part.filtered = true;
		idle = all - count(&part, NULL, NULL);
	}
	return all ? (double)(all - idle) / (double)all : NOT_ASKED;
}

/* ---- events ---- */

static bool is_traced(const struct gallery_sample *sample, const void *context)
{
	(void)context;
	return sample->time / (GALLERY_TICK_MS * NS_PER_MS) % GALLERY_TRACED == 0;
}

struct facts truth_events(const struct truth *truth)
{
	const double seconds = (double)(truth->to - truth->from) / (double)NS_PER_SECOND;
	struct truth cpus = *truth;
	struct facts facts = { .count = 0 };
	uint64_t ended;

	cpus.filtered = false;			/* of the filter, only its CPU counts */
	ended = count(&cpus, is_traced, NULL) / (truth->filtered ? GALLERY_CPUS : 1);
	for (int i = 0; i < 2; i++) {
		char name[FACT_NAME];
		struct fact *fact;

		snprintf(name, sizeof(name), i ? "irq %d" : "syscall %d", i ? GALLERY_IRQ : GALLERY_CALL);
		fact = add(&facts, name);
		fact->place = FACT_BEHIND;
		number(fact, (double)ended);
		number(fact, (double)ended / seconds);
	}
	return facts;
}
