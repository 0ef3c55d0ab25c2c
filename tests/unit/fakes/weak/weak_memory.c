/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "tests/unit/fakes/random.h"
#include "weak_accesses.h"
#include "weak_memory.h"

enum {
	PLACES = 128,			/* the most words that are accessed atomically */
	KEPT = 8,			/* values that are kept of each place */
	STACK = 64 * 1024,
	ACCESSES_MAX = 1000000,		/* in a run */
};

/* What a thread knows: how far it has seen each thread, and the newest value of each place that it knows. */
struct view {
	uint32_t thread[WEAK_THREADS], place[PLACES];
};

/* A value of a place, and what a thread learns that acquires it. */
struct value {
	uint64_t bits;
	struct view view;
};

struct place {
	uintptr_t at;
	uint32_t size;
	uint32_t newest;		/* the number of the newest value; from value 0 nobody learns anything */
	struct value values[KEPT];
};

/* A byte of plain data: when it was written and read, each in that thread's own time. Valid in one run. */
struct byte {
	uint32_t run;
	uint32_t place;			/* the place that this byte is part of, plus 1; 0: none */
	uint32_t writer, written, read[WEAK_THREADS];
};

struct store {
	struct place *place;
	int order;
	struct value value;
};

struct thread {
	struct weak_thread is;
	struct view knows;
	bool interrupted, ended;
	struct store late;		/* a store that is not done yet; its place is NULL when there is none */
	ucontext_t context;
	char stack[STACK];
};

static struct {
	uintptr_t base;
	size_t size;
	struct random random;
	const char *failure;
	bool running;
	uint32_t run, accesses, used;	/* runs so far; accesses and used places of this run */
	struct place places[PLACES];
	uint32_t latest[PLACES];	/* the value of each place that all sequentially consistent loads know */
	struct thread threads[WEAK_THREADS];
	uint32_t current;
	ucontext_t scheduler;
} weak;

static struct byte *bytes;
static size_t bytes_size;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)random_below(&weak.random, limit);
}

static struct thread *self(void)
{
	return &weak.threads[weak.current];
}

static void fail(const char *why)
{
	weak.failure = why;
	weak.running = false;
	setcontext(&weak.scheduler);
	abort();
}

static bool watched(const volatile void *at)
{
	return weak.running && (uintptr_t)at - weak.base < weak.size;
}

static void later(uint32_t *a, uint32_t b)
{
	if (*a < b)
		*a = b;
}

static void learn(struct view *view, const struct view *other)
{
	for (uint32_t i = 0; i < WEAK_THREADS; i++)
		later(&view->thread[i], other->thread[i]);
	for (uint32_t i = 0; i < weak.used; i++)
		later(&view->place[i], other->place[i]);
}

/* ---- threads ---- */

/* Switches to any thread that has not ended, or back to weak_run(). */
static void resume_any(ucontext_t *from)
{
	uint32_t first = below(WEAK_THREADS), next = 0, i;

	for (i = 0; i < WEAK_THREADS; i++) {
		next = (first + i) % WEAK_THREADS;
		if (!weak.threads[next].ended)
			break;
	}
	if (i < WEAK_THREADS && from == &weak.threads[next].context)
		return;
	weak.current = next;
	swapcontext(from, i < WEAK_THREADS ? &weak.threads[next].context : &weak.scheduler);
}

static void do_store(struct store *store)
{
	struct place *place = store->place;
	uint32_t index = (uint32_t)(place - weak.places);

	place->newest++;
	store->value.view.place[index] = place->newest;
	place->values[place->newest % KEPT] = store->value;
	self()->knows.place[index] = place->newest;
	if (store->order == __ATOMIC_SEQ_CST)
		weak.latest[index] = place->newest;
	memcpy((void *)place->at, &store->value.bits, place->size);
	store->place = NULL;
}

void weak_settle(void)
{
	if (!self()->interrupted && self()->late.place)
		do_store(&self()->late);
}

static void body(void)
{
	self()->is.run();
	weak_settle();
	self()->ended = true;
	resume_any(&self()->context);
}

/* Called before each access. */
static void step(void)
{
	struct thread *thread = self();

	if (++weak.accesses > ACCESSES_MAX)
		fail("the run does not end");
	if (below(4) == 0)
		weak_settle();
	if (thread->is.interrupts && !thread->interrupted && below(16) == 0) {
		thread->is.interrupts--;
		thread->interrupted = true;
		thread->is.interrupt();
		thread->interrupted = false;
	}
	if (below(4) == 0)
		resume_any(&thread->context);
}

/* ---- plain accesses ---- */

static struct byte *byte_at(uintptr_t at)
{
	struct byte *byte = &bytes[at - weak.base];

	if (byte->run != weak.run)
		*byte = (struct byte) { .run = weak.run };
	return byte;
}

static void need_known(const struct byte *byte)
{
	if (byte->written > self()->knows.thread[byte->writer])
		fail("a race: a plain write that this thread does not know of");
}

static void need_place_known(const struct byte *byte)
{
	const struct place *place = &weak.places[byte->place - 1];

	if (self()->late.place == place)
		weak_settle();
	if (place->newest > self()->knows.place[byte->place - 1])
		fail("a race: a plain read of a value that this thread does not know of");
}

void weak_read(const volatile void *at, size_t size)
{
	if (!watched(at))
		return;
	step();
	for (size_t i = 0; i < size; i++) {
		struct byte *byte = byte_at((uintptr_t)at + i);

		need_known(byte);
		if (byte->place)
			need_place_known(byte);
		byte->read[weak.current] = self()->knows.thread[weak.current];
	}
}

void weak_write(const volatile void *at, size_t size)
{
	if (!watched(at))
		return;
	step();
	for (size_t i = 0; i < size; i++) {
		struct byte *byte = byte_at((uintptr_t)at + i);

		need_known(byte);
		for (uint32_t reader = 0; reader < WEAK_THREADS; reader++)
			if (byte->read[reader] > self()->knows.thread[reader])
				fail("a race: a write over what another thread may be reading");
		if (byte->place)
			fail("a plain write over an atomic value");
		byte->writer = weak.current;
		byte->written = self()->knows.thread[weak.current];
	}
}

/* ---- atomic accesses ---- */

static bool acquires(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static struct place *place_at(uintptr_t at, uint32_t size)
{
	struct place *place = &weak.places[weak.used];

	need_known(byte_at(at));
	if (byte_at(at)->place)
		return &weak.places[byte_at(at)->place - 1];
	if (weak.used == PLACES)
		fail("too many atomic places");
	*place = (struct place) { .at = at, .size = size };
	memcpy(&place->values[0].bits, (void *)at, size);
	weak.used++;
	for (uint32_t i = 0; i < size; i++)
		byte_at(at + i)->place = weak.used;
	return place;
}

/* Finds the place, for an access that happens now. */
static struct place *reach(const volatile void *at, uint32_t size, int order)
{
	struct place *place;

	step();
	place = place_at((uintptr_t)at, size);
	if (self()->late.place == place || order == __ATOMIC_SEQ_CST)
		weak_settle();
	return place;
}

/* Picks any value that is not older than what the thread knows. */
static uint32_t choose(const struct place *place, int order)
{
	uint32_t index = (uint32_t)(place - weak.places), oldest = self()->knows.place[index];

	if (place->newest >= KEPT)
		later(&oldest, place->newest - KEPT + 1);
	if (order == __ATOMIC_SEQ_CST)
		later(&oldest, weak.latest[index]);
	return below(2) ? place->newest : oldest + below(place->newest - oldest + 1);
}

static uint64_t take(struct place *place, uint32_t number, int order)
{
	const struct value *value = &place->values[number % KEPT];
	uint32_t index = (uint32_t)(place - weak.places);

	self()->knows.place[index] = number;
	if (acquires(order))
		learn(&self()->knows, &value->view);
	if (order == __ATOMIC_SEQ_CST)
		later(&weak.latest[index], number);
	return value->bits;
}

/* A store that is delayed already may be overtaken. */
static bool can_delay(const struct thread *thread)
{
	return thread->is.interrupts && !thread->interrupted && !thread->late.place && below(2);
}

static void put(struct place *place, uint64_t bits, int order, bool at_once)
{
	struct thread *thread = self();
	struct store store = { .place = place, .order = order, .value.bits = bits };

	if (releases(order)) {
		weak_settle();
		store.value.view = thread->knows;
		thread->knows.thread[weak.current]++;
	}
	if (at_once || order == __ATOMIC_SEQ_CST || !can_delay(thread))
		do_store(&store);
	else
		thread->late = store;
}

void weak_fence(int order)
{
	step();
	weak_settle();
	if (order != __ATOMIC_SEQ_CST)
		return;
	for (uint32_t i = 0; i < weak.used; i++) {
		later(&weak.latest[i], self()->knows.place[i]);
		later(&self()->knows.place[i], weak.latest[i]);
	}
}

static uint64_t plain_bits(const volatile void *at, uint32_t size)
{
	uint64_t bits = 0;

	memcpy(&bits, (const void *)at, size);
	return bits;
}

uint64_t weak_load(const volatile void *at, uint32_t size, int order)
{
	struct place *place;

	if (!watched(at))
		return plain_bits(at, size);
	place = reach(at, size, order);
	return take(place, choose(place, order), order);
}

void weak_store(volatile void *at, uint32_t size, uint64_t bits, int order)
{
	if (watched(at))
		put(reach(at, size, order), bits, order, false);
	else
		memcpy((void *)at, &bits, size);
}

uint64_t weak_change(volatile void *at, uint32_t size, uint64_t keep, uint64_t add, int order)
{
	struct place *place;
	uint64_t old = plain_bits(at, size), bits = (old & keep) + add;

	if (!watched(at)) {
		memcpy((void *)at, &bits, size);
		return old;
	}
	place = reach(at, size, order);
	old = take(place, place->newest, order);
	put(place, (old & keep) + add, order, true);
	learn(&place->values[place->newest % KEPT].view, &place->values[(place->newest - 1) % KEPT].view);
	return old;
}

/* ---- a run ---- */

static void begin(struct thread *thread, const struct weak_thread *is)
{
	thread->is = *is;
	memset(&thread->knows, 0, sizeof(thread->knows));
	thread->knows.thread[thread - weak.threads] = 1;
	thread->interrupted = false;
	thread->ended = is->run == NULL;
	thread->late.place = NULL;
	getcontext(&thread->context);
	thread->context.uc_stack.ss_sp = thread->stack;
	thread->context.uc_stack.ss_size = sizeof(thread->stack);
	makecontext(&thread->context, body, 0);
}

const char *weak_run(uint32_t seed, void *memory, size_t size, const struct weak_thread *threads)
{
	if (bytes_size < size) {
		free(bytes);
		bytes = calloc(size, sizeof(*bytes));
		bytes_size = size;
	}
	if (bytes == NULL)
		return "out of memory";
	weak_remove();
	weak.base = (uintptr_t)memory;
	weak.size = size;
	weak.random.state = seed * 0x9e3779b97f4a7c15u;
	weak.failure = NULL;
	weak.run++;
	weak.accesses = weak.used = 0;
	memset(weak.latest, 0, sizeof(weak.latest));
	for (uint32_t i = 0; i < WEAK_THREADS; i++)
		begin(&weak.threads[i], &threads[i]);
	weak.running = true;
	resume_any(&weak.scheduler);
	weak.running = false;
	return weak.failure;
}
