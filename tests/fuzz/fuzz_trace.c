/* SPDX-License-Identifier: MIT */
/*
 * Any events of any CPUs, in packets that lie as they like, through order and pairs. What comes out is in order, and
 * none is lost or made up; spans of one CPU, lock or pair do not overlap, nor do the states of a thread, and each
 * single event has one. While nothing is missing, calls are those of a simple model: an end belongs to the beginning
 * that is the last event of its thread and has the same number; all else has no partner.
 *
 * The spans go on into the rows that are kept, each of them many times over and through days, into little memory. The
 * model is the list of all: the rows are its end, to the letter; what has gone from them is in the sums, or said to be
 * gone; and all of it stays within its part of the memory.
 *
 * Some of the single events are those of allocators: what lives, how it came to that, and what had no partner is as in
 * a table of all addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/trace/allocations.h"
#include "agent/trace/pairs.h"
#include "agent/trace/span_rows.h"
#include "agent/trace/trace_order.h"
#include "agent/wire/event.h"
#include "fuzz.h"
#include "kernel-hook/wire.h"

enum { CPUS = 4, THREADS = 8, LOCKS = 4, PAIRS = 4, HELD = 64, ALLOCATORS = 2, ADDRESSES = 32 };
enum { KEPT_MOST = 400000, BLOCK = 66 << 10 };	/* rows; bytes, somewhat more than one of theirs */

struct seen {				/* one that has spans, which do not overlap */
	uint64_t until;
};

struct call {
	bool known, begun;
	uint64_t number;
};

struct kept {				/* a row, by the model */
	struct span_row row;
	struct span_name name, woken_in;	/* woken_in: if an interrupt woke; SPAN_THREAD: not known */
};

struct store {
	struct budget *budget;
	struct span_rows *rows;
	uint32_t copies, threads;	/* of each span; in so many threads, a power of 2 */
	uint32_t stretch;		/* its times are so many bits longer */
	struct kept *kept;		/* all that came, in that order */
	size_t count, room, left;	/* of them; bytes of the budget at first */
};

struct memory {				/* what allocators have given out, by the model */
	struct allocations *allocations;
	struct { bool is; uint64_t bytes; } live[ALLOCATORS][ADDRESSES];
	struct allocation_counts counts;
	uint64_t gap;
};

struct world {
	struct memory memory;
	struct pairs *pairs;
	struct store store;
	uint64_t in, out, last;		/* events; the time of the last one that came out */
	bool only_calls;		/* there was nothing else, and nothing was missing */
	struct call calls[THREADS];
	uint64_t whole, beginnings, ends;	/* by the model */
	uint64_t paired, singles, pair_ends, alone;	/* single events, ends of pairs; those that came out alone */
	struct seen cpus[CPUS], states[THREADS], waits[THREADS][LOCKS], holds[LOCKS], pairs_of[PAIRS];
};

/* ---- the rows ---- */

/* The first bytes of the input say how much of it all there is: most inputs are short. */
static void store_open(struct store *store, uint8_t size, uint8_t times)
{
	store->budget = budget_new((BUDGET_BASE >> 20) + (1u << size % 4));
	store->left = budget_left(store->budget);
	store->rows = span_rows_new(store->budget);
	store->copies = 1u << size / 4 % 16 % 10;
	store->threads = 4u << times / 32;
	store->stretch = times % 32;
	store->room = 64;
	store->kept = util_alloc(store->room * sizeof(*store->kept));
}

static void store_close(struct store *store)
{
	span_rows_free(store->rows);
	require(budget_left(store->budget) == store->left);
	budget_release(store->budget);
	free(store->kept);
}

/* Copies of a span are of some threads, each of which has sums of its own, and are somewhat longer. */
static void store_add(struct store *store, const struct trace_span *span)
{
	size_t most = budget_share(store->budget, 16) + budget_share(store->budget, 12) + 4 * BLOCK;

	for (uint32_t i = 0; i < store->copies && store->count < KEPT_MOST; i++) {
		struct trace_span one = *span;

		one.begin <<= store->stretch;
		one.end = (span->end << store->stretch) + i / store->threads;
		one.thread += (uint64_t)(i % store->threads) * THREADS;
		span_rows_add(store->rows, &one);
		require_memory(!span_rows_refused(store->rows));
		require(store->left - budget_left(store->budget) <= most);
		if (store->count == store->room)
			store->kept = util_grow(store->kept, store->room *= 2, sizeof(*store->kept));
		store->kept[store->count++] = (struct kept) {
			span_row_of(&one), { one.kind, one.number }, { one.woken_in_kind, one.woken_in } };
	}
}

struct told {				/* what the rows and sums of a range tell; of all alike sums the same */
	const struct span_rows *rows;
	const struct kept *next;	/* of the model, which the next row equals; NULL: that is not asked */
	uint64_t from, to, count, total, digest;
};

static void tell(struct told *told, const struct span_name *name, const struct span_sum *sum)
{
	uint64_t digest = name->number * 31 + name->kind;

	digest = (digest * 0x9e3779b97f4a7c15u + sum->thread) * 0x9e3779b97f4a7c15u + sum->cpu;
	digest = (digest * 0x9e3779b97f4a7c15u + sum->stack) * 0x9e3779b97f4a7c15u + sum->lost;
	told->count += sum->count;
	told->total += sum->total;
	told->digest += (digest ^ digest >> 29) * sum->count;
}

static const struct span_name *name_of(const struct told *told, uint32_t number)
{
	const struct span_name *names;

	require(number < span_rows_names(told->rows, &names));
	return &names[number];
}

static void tell_row(struct told *told, const struct span_name *name, const struct span_row *row)
{
	if (row->end >= told->from && row->end < told->to)
		tell(told, name, &(struct span_sum) { .total = row->lost ? 0 : row->duration, .count = 1,
			.thread = row->thread, .stack = row->stack, .cpu = row->cpu, .lost = row->lost });
}

/* Of a wake by an interrupt, the row has the number of its handler's name. */
static bool is_woken_alike(const struct told *told, const struct span_row *row, const struct kept *kept)
{
	const struct span_name *name;

	if (!row->interrupt || kept->woken_in.kind == SPAN_THREAD)
		return row->waker == kept->row.waker;
	require_memory(span_row_handler(row) < SPAN_NAMES);
	name = name_of(told, span_row_handler(row));
	return span_row_cpu(row) == span_row_cpu(&kept->row) && name->kind == kept->woken_in.kind &&
		name->number == kept->woken_in.number;
}

static void each_row(void *context, const struct span_row *row)
{
	struct told *told = context;
	const struct span_name *name = name_of(told, row->name);

	if (told->next) {
		const struct kept *kept = told->next++;

		require(name->kind == kept->name.kind && name->number == kept->name.number &&
			row->end == kept->row.end && row->duration == kept->row.duration &&
			row->thread == kept->row.thread && is_woken_alike(told, row, kept) &&
			row->stack == kept->row.stack && row->cpu == kept->row.cpu && row->lost == kept->row.lost &&
			row->interrupt == kept->row.interrupt);
	}
	tell_row(told, name, row);
}

static void each_sum(void *context, const struct span_sum *sum, uint64_t slot)
{
	struct told *told = context;

	uint64_t begin = sum->end / slot * slot;

	require(sum->count && begin + slot > told->from);
	if (begin >= told->from && begin < told->to)	/* slots lie in the range whole, or not at all */
		tell(told, name_of(told, sum->name), sum);
}

/* Of a range, as it is told: rows and sums together are what came. */
static void check_range(const struct store *store, uint64_t from, uint64_t to)
{
	struct told told = { .rows = store->rows }, all = { .rows = store->rows };

	span_rows_cover(store->rows, &from, &to);
	require(from <= to && from >= span_rows_sums_from(store->rows));
	told.from = all.from = from;
	told.to = all.to = to;
	span_rows_read_sums(store->rows, from, to, each_sum, &told);
	span_rows_read(store->rows, from, UINT64_MAX, each_row, &told);
	for (size_t i = 0; i < store->count; i++)
		tell_row(&all, &store->kept[i].name, &store->kept[i].row);
	require(told.count == all.count && told.total == all.total && told.digest == all.digest);
}

static void store_check(const struct store *store, const uint8_t *at)
{
	uint64_t from = span_rows_sums_from(store->rows), last = 0, width;
	struct told told = { .rows = store->rows, .to = UINT64_MAX };

	span_rows_read(store->rows, 0, UINT64_MAX, each_row, &told);
	require(told.count <= store->count);
	told.next = store->kept + store->count - told.count;
	for (const struct kept *gone = store->kept; gone < told.next; gone++)
		require(gone->row.end < span_rows_from(store->rows));
	span_rows_read(store->rows, 0, UINT64_MAX, each_row, &told);
	for (size_t i = 0; i < store->count; i++)
		last = store->kept[i].row.end > last ? store->kept[i].row.end : last;
	check_range(store, from, last + 1);
	if (last <= from)
		return;
	width = (last - from) / 256 + 1;
	check_range(store, from + at[0] * width, from + (uint64_t)(at[0] + at[1]) * width);
}

/* ---- allocators ---- */

static void memory_take(struct memory *memory, const struct trace_event *event)
{
	uint64_t allocator = event->values[1] % ALLOCATORS, address = event->values[2] % ADDRESSES;
	bool gives = event->id == KTOP_EVENT_memory_alloc, lived = memory->live[allocator][address].is;

	if (event->lost || event->doubt) {
		allocations_gap(memory->allocations, event->time);
		memory->gap = event->time;
	}
	if (event->lost || event->doubt || (!gives && event->id != KTOP_EVENT_memory_free))
		return;
	allocations_add(memory->allocations, event);
	memory->counts.given += gives;
	memory->counts.taken += lived;
	memory->counts.reused += gives && lived;
	memory->counts.unmatched += !gives && !lived;
	memory->live[allocator][address].is = gives;
	memory->live[allocator][address].bytes = event->values[3];
}

struct sums {				/* of an allocator */
	const struct origin *origins;
	uint64_t objects[ALLOCATORS], bytes[ALLOCATORS];
	uint64_t second;
};

static void sum_object(void *context, uint32_t origin, uint64_t bytes, uint64_t born, bool sure)
{
	struct sums *sums = context;

	(void)born;
	(void)sure;
	sums->objects[sums->origins[origin].allocator]++;
	sums->bytes[sums->origins[origin].allocator] += bytes;
}

static void sum_change(void *context, const struct allocation_change *change)
{
	struct sums *sums = context;
	uint32_t allocator = sums->origins[change->origin].allocator;

	require(change->second <= sums->second && (change->given || change->taken));
	sums->second = change->second;
	sums->objects[allocator] += change->given - (uint64_t)change->taken;
	sums->bytes[allocator] += change->given_bytes - change->taken_bytes;
}

static void memory_check(const struct memory *memory)
{
	const struct allocation_counts counts = allocations_counts(memory->allocations);
	struct sums model = { .second = 0 }, objects = { .second = 0 }, changes = { .second = UINT64_MAX };

	for (uint64_t i = 0; i < ALLOCATORS * ADDRESSES; i++)
		if (memory->live[i / ADDRESSES][i % ADDRESSES].is) {
			model.objects[i / ADDRESSES]++;
			model.bytes[i / ADDRESSES] += memory->live[i / ADDRESSES][i % ADDRESSES].bytes;
		}
	allocations_origins(memory->allocations, &objects.origins);
	allocations_origins(memory->allocations, &changes.origins);
	allocations_live(memory->allocations, sum_object, &objects);
	allocations_changes(memory->allocations, sum_change, &changes);
	require_memory(!counts.unkept && !counts.merged && !allocations_from(memory->allocations));
	require(memcmp(&memory->counts, &counts, sizeof(counts)) == 0);
	require(allocations_sure_from(memory->allocations) == memory->gap);
	for (int i = 0; i < ALLOCATORS; i++)
		require(model.objects[i] == objects.objects[i] && model.bytes[i] == objects.bytes[i] &&
			model.objects[i] == changes.objects[i] && model.bytes[i] == changes.bytes[i]);
}

/* ---- the pairs ---- */

static void check_apart(struct seen *seen, const struct trace_span *span)
{
	require(span->begin >= seen->until && span->end >= span->begin);
	seen->until = span->end;
}

static void begin(void *context, const struct trace_span *span)
{
	(void)context;
	require(span->kind == SPAN_THREAD || span_is_handler(span->kind));
}

static void end(void *context, const struct trace_span *span)
{
	struct world *world = context;
	uint64_t thread = span->thread % THREADS;

	require(span->end >= span->begin);
	world->paired += span->kind == SPAN_CALL && !span->lost;
	if (span->kind == SPAN_THREAD)
		check_apart(&world->cpus[span->cpu], span);
	else if (span->kind == SPAN_SLEEP || span->kind == SPAN_READY)
		check_apart(&world->states[thread], span);
	else if (span->kind == SPAN_LOCK)
		check_apart(&world->waits[thread][span->number % LOCKS], span);
	else if (span->kind == SPAN_HOLD)
		check_apart(&world->holds[span->number % LOCKS], span);
	else if (span->kind == SPAN_PAIR && SPAN_EVENT(span->number) <= PAIRS)
		check_apart(&world->pairs_of[SPAN_EVENT(span->number) % PAIRS], span);
	world->alone += span->kind == SPAN_SINGLE;
	store_add(&world->store, span);
}

static void model(struct world *world, const struct trace_event *event)
{
	struct call *call = &world->calls[event->values[0] % THREADS];
	bool ends = event->role == ROLE_CALL_END, pair = call->begun && ends && call->number == event->values[1];

	if (event->role != ROLE_CALL_BEGIN && !ends)
		return;
	world->whole += pair;
	world->beginnings += call->begun && !pair;
	world->ends += ends && call->known && !pair;
	*call = (struct call) { true, !ends, event->values[1] };
}

static void take(void *context, const struct trace_event *event)
{
	struct world *world = context;

	require(event->time >= world->last);
	world->last = event->time;
	world->out++;
	model(world, event);
	world->singles += event->role == ROLE_SINGLE && !event->lost && !event->doubt;
	world->pair_ends += (event->role == ROLE_PAIR_END || event->role == ROLE_FRAME_END) && !event->lost &&
		!event->doubt;
	memory_take(&world->memory, event);
	pairs_add(world->pairs, event);
}

static struct trace_event make(struct world *world, struct fuzz_input *input, uint32_t cpu, uint64_t time)
{
	struct trace_event event = { .time = time, .cpu = cpu, .role = input_byte(input) % ROLES };
	uint8_t who = input_byte(input), what = input_byte(input);

	for (int i = 0; i < 3; i++)
		event.values[i] = (i == 1 ? what : who) % 4 == 3 && !world->only_calls ? EVENT_NONE :
			(uint32_t)(who >> i) % THREADS;
	if (event.role == ROLE_CALL_BEGIN || event.role == ROLE_CALL_END)
		event.values[1] = what % 3;
	else if (event.role == ROLE_FRAME_BEGIN || event.role == ROLE_FRAME_END)
		event.pair = PAIRS + 1;		/* the frame says which of them an end ends: others go on meanwhile */
	else if (event.role >= ROLE_PAIR_BEGIN)
		event.values[PAIR_KEY] = event.pair = what % PAIRS + 1;
	else if (event.role >= ROLE_LOCK_WAIT)
		event.values[0] = what % LOCKS;
	if (event.role == ROLE_SINGLE && !world->only_calls) {
		event.id = what % 2 ? KTOP_EVENT_memory_alloc : KTOP_EVENT_memory_free;
		event.stack = what / 64;
		event.values[1] = what / 2 % ALLOCATORS;
		event.values[2] = who % ADDRESSES;
		event.values[3] = who;
	}
	for (uint8_t i = 0; i < ROLE_VALUES; i++)
		event.role_values[i] = i;
	if (world->only_calls)
		event.role = event.role % 2 ? ROLE_CALL_BEGIN : ROLE_CALL_END;
	else if (what >= 253)
		event.lost = what - 253;
	event.doubt = !world->only_calls && what >= 253 && (what == 253 || who % 2);
	return event;
}

static void play(struct world *world, struct trace_order *order, struct fuzz_input *input)
{
	uint64_t times[CPUS] = { 1, 1, 1, 1 };

	while (input->left) {
		uint8_t step = input_byte(input);
		uint32_t cpu = step % CPUS;
		const struct trace_event event = make(world, input, cpu, times[cpu] += step / CPUS);

		if (step == 251 && !world->only_calls)
			pairs_changed(world->pairs, times[cpu]);
		if (step % 8 == 7)
			trace_order_complete(order, cpu, times[cpu]);
		trace_order_add(order, &event);
		world->in++;
	}
	trace_order_end(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	uint8_t kind = input_byte(&input);
	struct world world = { .only_calls = kind % 2 };
	struct budget *budget = budget_new(64);
	size_t left = budget_left(budget);
	struct trace_order *order = trace_order_new(budget, HELD, take, &world);
	struct pairs_counts counts;
	uint8_t range[2];

	store_open(&world.store, kind / 2, input_byte(&input));
	range[0] = input_byte(&input);
	range[1] = input_byte(&input);
	world.pairs = pairs_new(budget, &(struct pairs_sink) { .context = &world, .begin = begin, .end = end });
	world.memory.allocations = allocations_new(budget);
	play(&world, order, &input);
	pairs_end(world.pairs);
	counts = pairs_counts(world.pairs);
	require_memory(counts.refused == 0);
	require(world.in == world.out);
	require(world.alone >= world.singles && world.alone <= world.singles + world.pair_ends);
	if (world.only_calls)
		require(world.paired == world.whole && counts.beginnings == world.beginnings &&
			counts.ends == world.ends);
	memory_check(&world.memory);
	allocations_free(world.memory.allocations);
	store_check(&world.store, range);
	store_close(&world.store);
	trace_order_free(order);
	pairs_free(world.pairs);
	require(budget_left(budget) == left);
	budget_release(budget);
	return 0;
}
