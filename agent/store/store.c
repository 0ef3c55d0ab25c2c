/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "run.h"
#include "store.h"

/* ---- weights by CPU ---- */

/* Frees everything. */
static void cpus_clear(struct cpus *cpus, struct budget *budget)
{
	for (uint32_t i = 0; i < cpus->block_count; i++)
		budget_free(budget, cpus->blocks[i],
			cpus->blocks[i] ? CPUS_BLOCK * sizeof(struct cpu_sums) : 0);
	budget_free(budget, cpus->blocks, cpus->block_count * sizeof(*cpus->blocks));
	*cpus = (struct cpus) { 0 };
}

static bool have_place(struct cpus *cpus, uint32_t block, struct budget *budget)
{
	struct cpu_sums **blocks;

	if (block < cpus->block_count)
		return true;
	blocks = budget_resize(budget, cpus->blocks, cpus->block_count * sizeof(*blocks),
		(block + 1) * sizeof(*blocks));
	if (!blocks)
		return false;
	memset(blocks + cpus->block_count, 0, (block + 1 - cpus->block_count) * sizeof(*blocks));
	cpus->blocks = blocks;
	cpus->block_count = block + 1;
	return true;
}

/* The sums of a CPU, to be added to; valid until the next change. NULL: the budget has no room. */
static struct cpu_sums *cpus_have(struct cpus *cpus, uint32_t cpu, struct budget *budget)
{
	const size_t size = CPUS_BLOCK * sizeof(struct cpu_sums);
	struct cpu_sums **block;

	if (!have_place(cpus, cpu / CPUS_BLOCK, budget))
		return NULL;
	block = &cpus->blocks[cpu / CPUS_BLOCK];
	if (!*block) {
		*block = budget_resize(budget, NULL, 0, size);
		if (!*block)
			return NULL;
		memset(*block, 0, size);
	}
	if (cpu >= cpus->count)
		cpus->count = cpu + 1;
	return &(*block)[cpu % CPUS_BLOCK];
}

/* Of memory. */
static size_t cpus_bytes(const struct cpus *cpus)
{
	size_t bytes = cpus->block_count * sizeof(*cpus->blocks);

	for (uint32_t i = 0; i < cpus->block_count; i++)
		bytes += cpus->blocks[i] ? CPUS_BLOCK * sizeof(struct cpu_sums) : 0;
	return bytes;
}

static void add_block(struct cpu_sums *to, const struct cpu_sums *from)
{
	for (int i = 0; i < CPUS_BLOCK; i++) {
		for (int mode = 0; mode < MODES; mode++)
			to[i].mode[mode] += from[i].mode[mode];
		to[i].missed += from[i].missed;
	}
}

/* Adds a copy. False: there is no memory for all of it. */
static bool cpus_add(struct cpus *to, const struct cpus *from, struct budget *budget)
{
	for (uint32_t i = 0; i < from->block_count; i++)
		if (from->blocks[i]) {
			if (!cpus_have(to, i * CPUS_BLOCK, budget))
				return false;
			add_block(to->blocks[i], from->blocks[i]);
		}
	if (from->count > to->count)
		to->count = from->count;
	return true;
}

/* Moves blocks instead of copying them, so it needs no memory. */
static void cpus_merge(struct cpus *to, struct cpus *from)
{
	struct cpus more = *to;

	if (from->block_count > to->block_count) {
		*to = *from;
		*from = more;
	}
	for (uint32_t i = 0; i < from->block_count; i++) {
		if (from->blocks[i] && to->blocks[i]) {
			add_block(to->blocks[i], from->blocks[i]);
		} else if (from->blocks[i]) {
			to->blocks[i] = from->blocks[i];
			from->blocks[i] = NULL;
		}
	}
	if (from->count > to->count)
		to->count = from->count;
}

/* ---- cells of time ---- */

/*
 * Cuts time into cells: seconds near "now", coarser ones before, and a single one, from 0, for all that is older than
 * `ancient`. Cells of one width nest in those of the next. So a cell that grows old moves into a coarser one as a
 * whole.
 */
enum { CELL_WIDTHS = 3 };

struct cells {
	uint64_t fine_from;		/* ns: seconds before it have no finest slices, unless they are pinned */
	uint64_t limits[CELL_WIDTHS];	/* a time before limits[i] is too old for width i */
	uint64_t ancient;		/* ns: all before it is one cell */
	struct cell {
		uint64_t begin, end;	/* ns */
	} pins[STORE_PINS];		/* one second or two, which stay and cut the coarser ones; see store_pin */
	unsigned next_pin;		/* the oldest, which is replaced next */
};

static const struct {
	uint64_t width;
	uint64_t reach;			/* from now into the past */
} widths[CELL_WIDTHS] = {
	{ NS_PER_SECOND, 600 * NS_PER_SECOND },
	{ 10 * NS_PER_SECOND, 7200 * NS_PER_SECOND },
	{ 60 * NS_PER_SECOND, 86400 * NS_PER_SECOND },
};

static uint64_t align_down(uint64_t time, uint64_t width)
{
	return time - time % width;
}

static uint64_t second_before(uint64_t now, uint64_t ns)
{
	return now > ns ? align_down(now - ns, NS_PER_SECOND) : 0;
}

/*
 * Moves "now", in ns; the caller never moves it back. True: some cells have become coarser. Each limit is a multiple of
 * the next larger width, so that a cell grows old as a whole.
 */
static bool cells_advance(struct cells *cells, uint64_t now)
{
	const struct cells before = *cells;
	uint64_t fine_from = second_before(now, STORE_FINE_SLICES * STORE_SLICE_NS);

	for (size_t i = 0; i < CELL_WIDTHS; i++) {
		uint64_t old = now > widths[i].reach ? now - widths[i].reach : 0;

		cells->limits[i] = align_down(old, widths[i + 1 < CELL_WIDTHS ? i + 1 : i].width);
	}
	if (fine_from > cells->fine_from)
		cells->fine_from = fine_from;
	if (cells->limits[CELL_WIDTHS - 1] > cells->ancient)
		cells->ancient = cells->limits[CELL_WIDTHS - 1];
	return before.ancient != cells->ancient || memcmp(before.limits, cells->limits, sizeof(before.limits)) != 0;
}

static bool has_time(struct cell cell, uint64_t time)
{
	return cell.begin <= time && time < cell.end;
}

/* Does the second that begins then keep its finest slices? */
static bool cells_keep_fine(const struct cells *cells, uint64_t begin)
{
	bool kept = begin >= cells->fine_from;

	for (unsigned i = 0; i < STORE_PINS && i < cells->next_pin; i++)
		kept = kept || has_time(cells->pins[i], begin);
	return kept && begin >= cells->ancient;
}

static struct cell cell_of(const struct cells *cells, uint64_t time, uint64_t width)
{
	uint64_t begin = align_down(time, width);

	return (struct cell) { begin < cells->ancient ? cells->ancient : begin, begin + width };
}

/* The cell that a time belongs to. Of a coarse one, pinned seconds stay, and else what is left between them. */
static struct cell cells_at(const struct cells *cells, uint64_t time)
{
	struct cell cell = { 0, cells->ancient };
	size_t width = 0;

	if (time < cells->ancient)
		return cell;
	while (width < CELL_WIDTHS - 1 && time < cells->limits[width])
		width++;
	cell = cell_of(cells, time, widths[width].width);
	for (unsigned i = 0; width && i < STORE_PINS && i < cells->next_pin; i++) {
		struct cell pin = cells->pins[i];

		if (has_time(pin, time))
			return cell_of(cells, time, NS_PER_SECOND);
		if (pin.end <= time && pin.end > cell.begin)
			cell.begin = pin.end;
		if (pin.begin > time && pin.begin < cell.end)
			cell.end = pin.begin;
	}
	return cell;
}

/* A slice as it is kept: a cell in which there was a sample. */
struct part {
	struct cell cell;
	uint64_t version;
	struct run **runs;		/* each has less than half the counts of the one before, with memory */
	uint32_t run_count, run_room;
	uint32_t batch;			/* the slice number of its arrivals; NOT_IN_BATCH: it has none */
	uint64_t counts;		/* of all runs */
	size_t bytes;			/* of all runs; of one of the finest slices also of the sums of CPUs */
	uint64_t least;			/* counts that were left when it last forgot who */
	uint64_t timed, time;		/* the weight whose period was known, and the ns that it stands for */
	struct cpus cpus;
	struct part *second;		/* of one of the finest slices: the second that it is in */
	struct part **fine;		/* of a second that keeps them: its finest slices, in order of time */
	uint32_t fine_count;		/* FINE_SLICES at most */
	bool joined;			/* what they have is in this part, too */
	bool apart;			/* they are kept only since they are pinned, and are not in fine_bytes */
};

enum { FINE_SLICES = NS_PER_SECOND / STORE_SLICE_NS };

#define NOT_IN_BATCH 0xffffffffu

struct store {
	struct budget *budget;
	uint64_t now;
	struct cells cells;
	uint64_t version;
	uint64_t period;		/* ns, of samples that come now; 0: not known */
	uint64_t first_period;		/* the first one known, which also counts for what came before it */
	uint64_t counts, counts_max;	/* of all parts */
	size_t fine_bytes;		/* of the finest slices that are not pinned alone */
	uint64_t given_up, forgotten;
	struct part **parts;		/* in order of time; the finest are in their seconds */
	size_t part_count, part_room;
	struct part *last;		/* where a sample was put last, which is not joined; NULL: nowhere */
	struct arrivals *arrivals;	/* the slice number of each is the position of its part in `batch` */
	struct part **batch;		/* ARRIVALS_SLICES */
	uint32_t batch_count;
	struct who_table *whos;
	uint64_t renumber_from;		/* the version before which nobody looks for numbers to be given away */
	struct fine_sum *sums;		/* STORE_FINE_SLICES, by number modulo that */
};

/* A 16th of the budget pays for so many numbers of who, with their index. */
static uint32_t whos_most(const struct budget *budget)
{
	size_t most = budget_share(budget, 16 * (sizeof(struct who) + 4 * sizeof(struct hash_slot)));

	return most < WHO_MOST ? (uint32_t)most : WHO_MOST;
}

struct store *store_new(struct budget *budget, uint64_t counts_max)
{
	struct store *store = util_alloc(sizeof(*store));

	store->budget = budget;
	store->counts_max = counts_max;
	store->arrivals = arrivals_new();
	store->batch = util_alloc(ARRIVALS_SLICES * sizeof(*store->batch));
	store->whos = who_table_new(budget, whos_most(budget));
	store->sums = util_alloc(STORE_FINE_SLICES * sizeof(*store->sums));
	return store;
}

static void drop_runs(struct store *store, struct part *part);

static void part_free(struct store *store, struct part *part)
{
	for (uint32_t i = 0; i < part->fine_count; i++)
		part_free(store, part->fine[i]);
	part->fine_count = 0;
	drop_runs(store, part);
	free(part->fine);
	free(part->runs);
	free(part);
}

void store_free(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->part_count; i++)
		part_free(store, store->parts[i]);
	arrivals_free(store->arrivals);
	who_table_release(store->whos);
	free(store->batch);
	free(store->sums);
	free(store->parts);
	free(store);
}

/* ---- one part ---- */

/* Are the counts of this part those that a question about all reads? Else they are of slices whose second has them. */
static bool is_counted(const struct part *part)
{
	return !part->second || !part->second->joined;
}

static void count_bytes(struct store *store, struct part *part, size_t bytes)
{
	part->bytes += bytes;
	store->fine_bytes += part->second && !part->second->apart ? bytes : 0;
}

/* A run of the part has come, or has gone. */
static void count(struct store *store, struct part *part, const struct run *run, bool come)
{
	uint64_t counts = come ? run->counts : -(uint64_t)run->counts;
	size_t bytes = come ? run->size : -run->size;

	part->counts += counts;
	store->counts += is_counted(part) ? counts : 0;
	count_bytes(store, part, bytes);
}

/* Puts another run in the place of one. */
static void replace_run(struct store *store, struct part *part, uint32_t at, struct run *run)
{
	count(store, part, part->runs[at], false);
	run_release(part->runs[at]);
	part->runs[at] = run;
	count(store, part, run, true);
}

static void append_run(struct store *store, struct part *part, struct run *run)
{
	if (part->run_count == part->run_room) {
		part->run_room = 2 * part->run_room + 2;
		part->runs = util_grow(part->runs, part->run_room, sizeof(struct run *));
	}
	part->runs[part->run_count++] = run;
	count(store, part, run, true);
}

/* The runs from `first` on become one. Without room for that, they stay. */
static void merge_runs(struct store *store, struct part *part, uint32_t first)
{
	uint32_t runs = part->run_count - first;
	struct run *run = runs > 1 ? run_merge(store->budget, &part->runs[first], runs) : NULL;

	while (run && part->run_count > first) {
		count(store, part, part->runs[--part->run_count], false);
		run_release(part->runs[part->run_count]);
	}
	if (run)
		append_run(store, part, run);
}

/*
 * Each run stays that has more than twice the counts of all behind it. So a count is merged no more often than its
 * part's size doubles, however small the pieces are in which samples come.
 */
static void join_runs(struct store *store, struct part *part)
{
	uint64_t rest = part->counts;
	uint32_t first = 0;

	for (; first < part->run_count; first++) {
		rest -= part->runs[first]->counts;
		if (part->runs[first]->counts / 2 <= rest)
			break;
	}
	merge_runs(store, part, first);
}

static void drop_runs(struct store *store, struct part *part)
{
	while (part->run_count) {
		count(store, part, part->runs[--part->run_count], false);
		run_release(part->runs[part->run_count]);
	}
	count_bytes(store, part, -part->bytes);
	cpus_clear(&part->cpus, store->budget);
}

/* Of those whose who has this number, or a higher one. */
static uint64_t weight_from(const struct run *run, uint32_t least)
{
	struct run_reader reader = run_read(run);
	struct run_count count;
	uint64_t weight = 0;

	while (run_next(&reader, &count))
		weight += count.who >= least ? count.weight : 0;
	return weight;
}

/* ---- seconds and their finest slices ---- */

static uint64_t fine_counts(const struct part *second)
{
	uint64_t counts = 0;

	for (uint32_t i = 0; i < second->fine_count; i++)
		counts += second->fine[i]->counts;
	return counts;
}

/* Adds all but the runs. False: there is no memory for it. */
static bool add_fine(struct store *store, struct part *second)
{
	for (uint32_t i = 0; i < second->fine_count; i++) {
		const struct part *fine = second->fine[i];

		if (!cpus_add(&second->cpus, &fine->cpus, store->budget))
			return false;
		second->timed += fine->timed;
		second->time += fine->time;
		if (fine->version > second->version)
			second->version = fine->version;
	}
	return true;
}

/* Forgets what it has of its finest slices: something late comes to one of them, or there is no memory. */
static void unjoin_second(struct store *store, struct part *second)
{
	drop_runs(store, second);
	second->timed = second->time = 0;
	store->counts += second->joined ? fine_counts(second) : 0;
	second->joined = false;
}

/*
 * A second that is over gets what its finest slices have, which most questions then need not read. Nothing of it is
 * among the arrivals.
 */
static void join_second(struct store *store, struct part *second)
{
	if (second->joined || !second->fine_count)
		return;
	if (!add_fine(store, second)) {
		unjoin_second(store, second);
		return;
	}
	store->counts -= fine_counts(second);
	second->joined = true;
	for (uint32_t i = 0; i < second->fine_count; i++)
		for (uint32_t k = 0; k < second->fine[i]->run_count; k++)
			append_run(store, second, run_hold(second->fine[i]->runs[k]));
	merge_runs(store, second, 0);
	store->last = NULL;
}

/* Moves all of `from` into `to`, and frees it. Its runs are not merged yet. */
static void absorb(struct store *store, struct part *to, struct part *from)
{
	for (uint32_t i = 0; i < from->run_count; i++) {
		count(store, from, from->runs[i], false);
		append_run(store, to, from->runs[i]);
	}
	from->run_count = 0;
	cpus_merge(&to->cpus, &from->cpus);
	to->timed += from->timed;
	to->time += from->time;
	if (from->version > to->version)
		to->version = from->version;
	part_free(store, from);
}

static void drop_fine(struct store *store, struct part *second)
{
	while (second->fine_count) {
		struct part *fine = second->fine[--second->fine_count];

		if (second->joined)
			part_free(store, fine);
		else
			absorb(store, second, fine);
	}
	free(second->fine);
	second->fine = NULL;
	second->joined = false;
	store->last = NULL;
}

static void keep_apart(struct store *store, struct part *second)
{
	for (uint32_t i = 0; i < second->fine_count && !second->apart; i++)
		store->fine_bytes -= second->fine[i]->bytes;
	second->apart = true;
}

/* ---- arrivals into parts ---- */

static void take_run(void *context, uint32_t slice, struct run *run, uint64_t weight)
{
	struct store *store = context;

	if (run) {
		append_run(store, store->batch[slice], run);
		join_runs(store, store->batch[slice]);
	} else {
		store->given_up += weight;
	}
}

static void drain(struct store *store)
{
	store->forgotten += arrivals_drain(store->arrivals, store->budget, take_run, store);
	while (store->batch_count)
		store->batch[--store->batch_count]->batch = NOT_IN_BATCH;
}

/* The slice number for arrivals of the part. */
static inline uint32_t slice_number(struct store *store, struct part *part)
{
	if (part->batch == NOT_IN_BATCH) {
		part->batch = store->batch_count;
		store->batch[store->batch_count++] = part;
	}
	return part->batch;
}

/* ---- cells ---- */

/* What is too old for finest slices gives them up. Nothing of it is among the arrivals. */
static void age_fine(struct store *store, struct part *second)
{
	if (!second->fine)
		return;
	if (!cells_keep_fine(&store->cells, second->cell.begin)) {
		drop_fine(store, second);
		join_runs(store, second);
	} else if (second->cell.begin < store->cells.fine_from) {
		keep_apart(store, second);
	}
}

/* Puts each part into the cell that it belongs to now; parts of the same cell become one. */
static void regroup(struct store *store)
{
	size_t kept = 0;

	drain(store);
	for (size_t i = 0; i < store->part_count; i++) {
		struct part *part = store->parts[i], *last = kept ? store->parts[kept - 1] : NULL;
		struct cell cell = cells_at(&store->cells, part->cell.begin);

		age_fine(store, part);
		if (last && last->cell.begin == cell.begin) {
			absorb(store, last, part);
		} else {
			if (last && last->run_count > 1)
				join_runs(store, last);
			store->parts[kept++] = part;
		}
		store->parts[kept - 1]->cell = cell;
	}
	if (kept)
		join_runs(store, store->parts[kept - 1]);
	store->part_count = kept;
	store->last = NULL;
}

/* The position of the first part that ends after the time. */
static size_t position_of(const struct store *store, uint64_t time)
{
	size_t low = 0, high = store->part_count;

	while (low < high) {
		size_t at = low + (high - low) / 2;

		if (store->parts[at]->cell.end <= time)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/* Those from `from` on, after the finest slices begin later. */
static void age_all_fine(struct store *store, uint64_t from)
{
	if (from == store->cells.fine_from)
		return;
	drain(store);
	for (size_t i = position_of(store, from); i < store->part_count; i++) {
		if (store->parts[i]->cell.begin >= store->cells.fine_from)
			break;
		age_fine(store, store->parts[i]);
	}
}

void store_advance(struct store *store, uint64_t now)
{
	uint64_t fine_from;

	if (now > INT64_MAX)
		now = INT64_MAX;
	if (now <= store->now)
		return;
	fine_from = store->cells.fine_from;
	store->now = now;
	store->version++;
	if (cells_advance(&store->cells, now))
		regroup(store);
	else
		age_all_fine(store, fine_from);
}

uint64_t store_now(const struct store *store)
{
	return store->now;
}

uint64_t store_version(const struct store *store)
{
	return store->version;
}

/* ---- parts in order ---- */

static struct part *part_new(struct cell cell, struct part *second)
{
	struct part *part = util_alloc(sizeof(*part));

	part->cell = cell;
	part->second = second;
	part->batch = NOT_IN_BATCH;
	return part;
}

static struct part *insert_part(struct store *store, size_t position, uint64_t time)
{
	if (store->part_count == store->part_room) {
		store->part_room = 2 * store->part_room + 64;
		store->parts = util_grow(store->parts, store->part_room, sizeof(*store->parts));
	}
	memmove(store->parts + position + 1, store->parts + position,
		(store->part_count - position) * sizeof(*store->parts));
	store->parts[position] = part_new(cells_at(&store->cells, time), NULL);
	store->part_count++;
	return store->parts[position];
}

/* Finds the finest slice of a second, or makes it. */
static struct part *fine_at(struct part *second, uint64_t time)
{
	uint64_t begin = align_down(time, STORE_SLICE_NS);
	uint32_t at = second->fine_count;

	while (at > 0 && second->fine[at - 1]->cell.begin > begin)
		at--;
	if (at > 0 && second->fine[at - 1]->cell.begin == begin)
		return second->fine[at - 1];
	if (!second->fine)
		second->fine = util_alloc(FINE_SLICES * sizeof(*second->fine));
	memmove(second->fine + at + 1, second->fine + at, (second->fine_count++ - at) * sizeof(*second->fine));
	return second->fine[at] = part_new((struct cell) { begin, begin + STORE_SLICE_NS }, second);
}

/* Finds the part for a time, or makes it. It is store->last then. */
static struct part *find_part(struct store *store, uint64_t time)
{
	struct part *part;
	size_t position;

	if (time > INT64_MAX)
		time = INT64_MAX;
	store_advance(store, time);
	position = position_of(store, time);
	part = position < store->part_count ? store->parts[position] : NULL;
	if (!part || time < part->cell.begin)
		part = insert_part(store, position, time);
	if (cells_keep_fine(&store->cells, part->cell.begin)) {
		if (part->joined)
			unjoin_second(store, part);
		part = fine_at(part, time);
	}
	store->last = part;
	return part;
}

/* Mostly the part that was used last. */
static inline struct part *part_at(struct store *store, uint64_t time)
{
	struct part *last = store->last;

	if (last && time <= store->now && time >= last->cell.begin && time < last->cell.end)
		return last;
	return find_part(store, time);
}

/* ---- the limit ---- */

static void drop_oldest(struct store *store)
{
	struct part *part = store->parts[0];

	for (uint32_t i = 0; i < part->run_count; i++)
		store->given_up += weight_from(part->runs[i], 0);
	part_free(store, part);
	store->part_count--;
	memmove(store->parts, store->parts + 1, store->part_count * sizeof(*store->parts));
}

/* By number of who, the one that is left when it is forgotten. */
static uint32_t *forgotten_numbers(const struct store *store)
{
	uint32_t count = who_table_count(store->whos), *numbers = util_alloc(count * sizeof(*numbers));

	for (uint32_t i = 0; i < count; i++)
		numbers[i] = who_forgotten(&who_table_list(store->whos)[i]);
	return numbers;
}

/* The part forgets who ran its stacks. False: there is no room for that. */
static bool forget(struct store *store, struct part *part, const uint32_t *forgotten)
{
	if (part->joined)
		unjoin_second(store, part);
	for (uint32_t i = 0; i < part->fine_count; i++)
		if (!forget(store, part->fine[i], forgotten))
			return false;
	for (uint32_t i = part->run_count; i-- > 0;) {		/* the smallest first */
		struct run *run = run_renumber(store->budget, part->runs[i], forgotten, WHO_FORGOTTEN);

		if (!run)
			return false;
		store->forgotten += weight_from(part->runs[i], WHO_FORGOTTEN);
		replace_run(store, part, i, run);
		part->version = ++store->version;
	}
	merge_runs(store, part, 0);
	part->least = part->counts;
	return true;
}

static bool forget_oldest(struct store *store)
{
	uint32_t *forgotten = forgotten_numbers(store);
	bool done = forget(store, store->parts[0], forgotten);

	free(forgotten);
	return done;
}

/* All before this time is one part. */
static void join_oldest(struct store *store, uint64_t ancient)
{
	if (ancient <= store->cells.ancient)
		return;
	store->cells.ancient = ancient;
	regroup(store);
}

/*
 * Merges the two oldest parts, so that each key is there once. If the oldest has half of all counts, it
 * forgets who instead; if it has not doubled since it last did that, it is dropped. False: all is in one part.
 */
static bool make_room(struct store *store)
{
	store->last = NULL;
	store->version++;		/* positions of parts change */
	if (store->part_count < 2)
		return false;
	join_oldest(store, store->parts[0]->cell.end);
	if (store->parts[0]->counts <= store->counts / 2 && store->part_count > 2)
		join_oldest(store, store->parts[1]->cell.end);
	else if (store->parts[0]->counts <= 2 * store->parts[0]->least || !forget_oldest(store))
		drop_oldest(store);
	return true;
}

static size_t fine_most(const struct store *store)
{
	size_t share = budget_share(store->budget, 48);

	return share < STORE_FINE_BYTES ? share : STORE_FINE_BYTES;
}

/* Leaves room for what others may need before the store is asked again. */
static bool is_over(const struct store *store)
{
	return store->counts > store->counts_max ||
		budget_left(store->budget) < budget_share(store->budget, 6);
}

/* The oldest second gives its finest slices up. False: no other has any than the present one, and those pinned. */
static bool coarsen(struct store *store)
{
	uint64_t from = store->cells.fine_from;
	size_t at = position_of(store, from);

	while (at < store->part_count && !store->parts[at]->fine)
		at++;
	if (at == store->part_count || store->parts[at]->cell.end > store->now)
		return false;
	store->cells.fine_from = store->parts[at]->cell.end;
	age_all_fine(store, from);
	return true;
}

/* ---- who ---- */

static void mark(const struct part *part, uint32_t *numbers)
{
	for (uint32_t i = 0; i < part->fine_count; i++)
		mark(part->fine[i], numbers);
	for (uint32_t i = 0; i < part->run_count; i++) {
		struct run_reader reader = run_read(part->runs[i]);
		struct run_count count;

		while (run_next(&reader, &count))
			numbers[count.who] = 1;
	}
}

static bool keeps_numbers(const struct run *run, const uint32_t *numbers)
{
	struct run_reader reader = run_read(run);
	struct run_count count;

	while (run_next(&reader, &count))
		if (numbers[count.who] != count.who)
			return false;
	return true;
}

/* Its counts get other numbers of who. Those that find no room are given up. */
static void renumber_part(struct store *store, struct part *part, const uint32_t *numbers, uint32_t whos)
{
	uint32_t kept = 0;

	if (part->joined)
		unjoin_second(store, part);
	for (uint32_t i = 0; i < part->fine_count; i++)
		renumber_part(store, part->fine[i], numbers, whos);
	for (uint32_t i = 0; i < part->run_count; i++) {
		struct run *old = part->runs[i], *run;

		if (keeps_numbers(old, numbers)) {
			part->runs[kept++] = old;
			continue;
		}
		run = run_renumber(store->budget, old, numbers, whos);
		count(store, part, old, false);
		if (run) {
			count(store, part, run, true);
			part->runs[kept++] = run;
		} else {
			store->given_up += weight_from(old, 0);
		}
		run_release(old);
	}
	part->run_count = kept;
	part->version = ++store->version;
}

/* Numbers that no count has any more are given away: all others get new ones, in the same order. */
static void renumber(struct store *store)
{
	uint32_t count = who_table_count(store->whos), *numbers = util_alloc(count * sizeof(*numbers));
	struct who_table *whos = who_table_new(store->budget, whos_most(store->budget));
	bool lacks = false;

	for (size_t i = 0; i < store->part_count; i++)
		mark(store->parts[i], numbers);
	for (uint32_t i = 0; i < count; i++)
		if (i < WHO_FORGOTTEN || numbers[i]) {
			numbers[i] = who_table_number(whos, &who_table_list(store->whos)[i]);
			lacks = lacks || numbers[i] == WHO_NONE;
		}
	store->renumber_from = store->version + 2 * count + store->part_count;	/* so many samples pay for it */
	if (!lacks) {
		for (size_t i = 0; i < store->part_count; i++)
			renumber_part(store, store->parts[i], numbers, who_table_count(whos));
		who_table_release(store->whos);
		store->whos = who_table_hold(whos);
	}
	who_table_release(whos);
	free(numbers);
}

static bool lacks_numbers(const struct store *store)
{
	return who_table_is_full(store->whos) && store->version >= store->renumber_from;
}

/* No number is left for somebody new: the older half of the slices forgets who. */
static void make_numbers(struct store *store)
{
	uint32_t *forgotten = forgotten_numbers(store);

	for (size_t i = 0; i < store->part_count / 2 && forget(store, store->parts[i], forgotten); i++)
		;
	free(forgotten);
	renumber(store);
}

void store_settle(struct store *store)
{
	drain(store);
	for (size_t i = store->part_count; i-- > 0 && store->parts[i]->cell.begin >= store->cells.fine_from;)
		if (store->parts[i]->cell.end <= store->now)
			join_second(store, store->parts[i]);
	while (store->fine_bytes > fine_most(store) && coarsen(store))
		;
	while (is_over(store) && make_room(store))
		;
	if (lacks_numbers(store))
		make_numbers(store);
}

/* NULL: there is no memory. */
static struct cpu_sums *add_cpu(struct store *store, struct part *part, uint32_t cpu)
{
	size_t before = cpus_bytes(&part->cpus);
	struct cpu_sums *sums = cpus_have(&part->cpus, cpu, store->budget);
	size_t more = cpus_bytes(&part->cpus) - before;

	count_bytes(store, part, more);
	return sums;
}

/* The part for a time and a CPU, after making room if need be. NULL: there is none, or the CPU is damaged. */
static inline struct part *part_with_room(struct store *store, uint64_t time, uint32_t cpu,
	struct cpu_sums **sums)
{
	struct part *part;

	if (arrivals_full(store->arrivals) || store->batch_count == ARRIVALS_SLICES || lacks_numbers(store))
		store_settle(store);
	part = part_at(store, time);
	*sums = cpus_get(&part->cpus, cpu);
	if (!*sums && (is_over(store) || store->fine_bytes > fine_most(store))) {
		store_settle(store);
		part = part_at(store, time);
	}
	if (store->counts > store->counts_max || cpu >= EVENT_CPUS)
		return NULL;
	if (!*sums)
		*sums = add_cpu(store, part, cpu);
	return *sums ? part : NULL;
}

/* ---- what comes in ---- */

/* What comes later than others of its place is too old for it. */
static void add_fine_sum(struct store *store, uint64_t time, enum mode mode, uint32_t weight)
{
	uint64_t number = time / STORE_SLICE_NS;
	struct fine_sum *sum = &store->sums[number % STORE_FINE_SLICES];

	if (number < sum->number)
		return;
	if (number > sum->number)
		*sum = (struct fine_sum) { .number = number };
	sum->mode[mode] += weight;
}

void store_add(struct store *store, uint64_t time, const struct store_key *key, uint32_t weight)
{
	struct cpu_sums *sums;
	struct part *part = part_with_room(store, time, key->who.cpu, &sums);
	uint32_t who;

	if (!part || key->who.mode >= MODES || key->who.context >= CONTEXTS) {
		store->given_up += weight;
		return;
	}
	who = who_table_number(store->whos, &key->who);
	arrivals_add(store->arrivals, slice_number(store, part), key->stack,
		who == WHO_NONE ? who_forgotten(&key->who) : who, weight);
	sums->mode[key->who.mode] += weight;
	part->timed += store->period ? weight : 0;
	part->time += weight * store->period;
	part->version = ++store->version;
	add_fine_sum(store, time, (enum mode)key->who.mode, weight);
}

void store_missed(struct store *store, uint64_t time, uint32_t cpu, uint32_t ticks)
{
	struct cpu_sums *sums;
	struct part *part = part_with_room(store, time, cpu, &sums);

	if (!part) {
		store->given_up += ticks;
		return;
	}
	sums->missed += ticks;
	part->version = ++store->version;
}

void store_period(struct store *store, uint64_t ns)
{
	store->period = ns;
	store->first_period = store->first_period ? store->first_period : ns;
}

struct who_table *store_whos(const struct store *store)
{
	return store->whos;
}

uint64_t store_fine_from(const struct store *store)
{
	const struct cells *cells = &store->cells;

	return cells->fine_from > cells->ancient ? cells->fine_from : cells->ancient;
}

bool store_pin(struct store *store, uint64_t *from, uint64_t *to)
{
	struct cells *cells = &store->cells;
	struct cell range = {
		(*from + STORE_SLICE_NS / 2) / STORE_SLICE_NS * STORE_SLICE_NS,
		(*to + STORE_SLICE_NS / 2) / STORE_SLICE_NS * STORE_SLICE_NS,
	}, pin;
	bool there = false;

	if (*to > INT64_MAX || *to <= *from || *to - *from > STORE_PIN_MOST)
		return false;
	if (range.begin == range.end) {		/* the one that has the middle */
		range.begin = align_down(*from + (*to - *from) / 2, STORE_SLICE_NS);
		range.end = range.begin + STORE_SLICE_NS;
	}
	store_settle(store);
	pin.begin = align_down(range.begin, NS_PER_SECOND);
	pin.end = align_down(range.end + NS_PER_SECOND - 1, NS_PER_SECOND);
	for (int i = 0; i < STORE_PINS && pin.begin >= cells->ancient; i++)
		there |= cells->pins[i].begin <= pin.begin && pin.end <= cells->pins[i].end;
	if (!there && pin.begin < store_fine_from(store))
		return false;
	if (!there) {
		cells->pins[cells->next_pin++ % STORE_PINS] = pin;
		store->version++;
		regroup(store);			/* what the oldest one has kept apart */
	}
	*from = range.begin;
	*to = range.end;
	return true;
}

struct fine_sum store_fine_sum(const struct store *store, uint64_t number)
{
	const struct fine_sum *sum = &store->sums[number % STORE_FINE_SLICES];
	bool old = store->now / STORE_SLICE_NS >= number + STORE_FINE_SLICES;

	return sum->number == number && !old ? *sum : (struct fine_sum) { .number = number };
}

uint64_t store_given_up(const struct store *store)
{
	return store->given_up;
}

uint64_t store_forgotten(const struct store *store)
{
	return store->forgotten;
}

/* ---- slices in order ---- */

struct slices slices_in(const struct store *store, uint64_t from, uint64_t to, bool finest)
{
	return (struct slices) {
		.store = store, .from = from, .to = to, .finest = finest, .at = position_of(store, from),
	};
}

/* The next part, whether it belongs to the range or not; NULL: there is none. */
static const struct part *slices_part(struct slices *slices)
{
	const struct store *store = slices->store;

	for (; slices->at < store->part_count; slices->at++, slices->fine = 0) {
		const struct part *part = store->parts[slices->at];
		bool inside = part->joined && part->cell.begin >= slices->from && part->cell.end <= slices->to;

		if (!part->fine || (inside && !slices->finest)) {
			slices->at++;
			return part;
		}
		if (slices->fine < part->fine_count)
			return part->fine[slices->fine++];
	}
	return NULL;
}

bool slices_next(struct slices *slices, struct slice *slice)
{
	const struct part *part;
	uint64_t middle;

	do {
		part = slices_part(slices);
		if (!part)
			return false;
		middle = part->cell.begin + (part->cell.end - part->cell.begin) / 2;
	} while (middle < slices->from);
	*slice = (struct slice) {
		.begin = part->cell.begin, .end = part->cell.end, .version = part->version,
		.runs = part->runs, .run_count = part->run_count,
		.period = part->timed ? part->time / part->timed : slices->store->first_period,
		.cpus = &part->cpus,
	};
	return slices->to == UINT64_MAX || middle < slices->to;
}

uint64_t slice_begin(const struct store *store, uint64_t time)
{
	struct slices slices = slices_in(store, 0, UINT64_MAX, true);
	struct slice slice;

	slices.at = position_of(store, time);
	while (slices_next(&slices, &slice))
		if (slice.end > time)
			return slice.begin < time ? slice.begin : time;
	return time;
}

uint64_t store_oldest(const struct store *store)
{
	struct slices slices = slices_in(store, 0, UINT64_MAX, true);
	struct slice slice;

	return slices_next(&slices, &slice) ? slice.begin : UINT64_MAX;
}
