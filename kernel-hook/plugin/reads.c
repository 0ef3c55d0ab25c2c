/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <string.h>

#include "../base/put.h"
#include "../wire.h"
#include "machine/clock.h"
#include "reads.h"

enum {
	PAGES = 64,			/* under way at a time */
	PER_SECOND = 4096,		/* 16 MiB */
	TRIES = 1000,			/* of a page that programs do not map, before it counts as missing */
};

enum state { FREE, WANTED, READ };

struct page {
	enum state state;
	bool physical;
	uint64_t address;
	uint32_t tries, size;
	uint8_t bytes[KTOP_MEMORY_PAGE];
};

/* The lock is held for no longer than it takes to copy a page. A CPU's thread does not wait for it. */
static struct {
	pthread_mutex_t lock;
	struct page pages[PAGES];
	uint32_t wanted;		/* how many are to be read; read without the lock, too */
	uint64_t second;		/* since when `done` pages were read */
	uint32_t done;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

_Static_assert(KTOP_MEMORY_MAX <= KTOP_STACKS_SAMPLE_MAX, "a page fits where a sample does");

/* ---- the drainer ---- */

static struct page *find(enum state state)
{
	for (uint32_t i = 0; i < PAGES; i++)
		if (all.pages[i].state == state)
			return &all.pages[i];
	return NULL;
}

static uint32_t count(enum state state)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < PAGES; i++)
		found += all.pages[i].state == state;
	return found;
}

static void add_wanted(int more)
{
	__atomic_fetch_add(&all.wanted, (uint32_t)more, __ATOMIC_RELAXED);
}

bool reads_ask(bool physical, uint64_t address, uint32_t pages)
{
	bool room;

	pthread_mutex_lock(&all.lock);
	room = count(FREE) >= pages;
	for (uint32_t i = 0; room && i < pages; i++) {
		struct page *page = find(FREE);

		page->state = WANTED;
		page->physical = physical;
		page->address = address - address % KTOP_MEMORY_PAGE + (uint64_t)i * KTOP_MEMORY_PAGE;
		page->tries = page->size = 0;
		add_wanted(1);
	}
	pthread_mutex_unlock(&all.lock);
	return room;
}

uint32_t reads_next(uint8_t *to)
{
	struct ktop_wire_memory fixed;
	const uint8_t *begin = to;
	struct page *page;

	pthread_mutex_lock(&all.lock);
	page = find(READ);
	if (page) {
		fixed = (struct ktop_wire_memory) { .physical = page->physical, .address = page->address };
		to = ktop_put_list(ktop_put(to, &fixed, sizeof(fixed)), page->bytes, page->size);
		page->state = FREE;
	}
	pthread_mutex_unlock(&all.lock);
	return (uint32_t)(to - begin);
}

void reads_forget(void)
{
	pthread_mutex_lock(&all.lock);
	for (uint32_t i = 0; i < PAGES; i++)
		all.pages[i].state = FREE;
	__atomic_store_n(&all.wanted, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&all.lock);
}

/* ---- a CPU's thread ---- */

bool reads_wanted(void)
{
	return __atomic_load_n(&all.wanted, __ATOMIC_RELAXED);
}

/* False: it is to be tried again. */
static bool read_page(struct page *page, const struct reads_reader *reader, bool kernel)
{
	uint32_t size = reader->page(reader->context, page->physical, page->address, page->bytes);

	if (size == READS_LATER)
		return false;
	page->size = size;
	if (!page->size && !page->physical && !kernel && ++page->tries < TRIES)
		return false;
	page->state = READ;
	add_wanted(-1);
	return true;
}

/* How many may be read now. */
static uint32_t allowed(uint64_t now, uint32_t most)
{
	if (now - all.second >= CLOCK_NS_PER_SECOND) {
		all.second = now;
		all.done = 0;
	}
	return PER_SECOND - all.done < most ? PER_SECOND - all.done : most;
}

uint32_t reads_peek(uint64_t *addresses, uint32_t most)
{
	uint32_t found = 0;

	pthread_mutex_lock(&all.lock);
	for (uint32_t i = 0; i < PAGES && found < most; i++)
		if (all.pages[i].state == WANTED && !all.pages[i].physical)
			addresses[found++] = all.pages[i].address;
	pthread_mutex_unlock(&all.lock);
	return found;
}

bool reads_serve(const struct reads_reader *reader, bool kernel, uint64_t now)
{
	uint32_t left;
	bool news = false;

	if (pthread_mutex_trylock(&all.lock) != 0)
		return false;
	left = allowed(now, reader->most);
	for (uint32_t i = 0; i < PAGES && left; i++) {
		if (all.pages[i].state != WANTED)
			continue;
		left--;
		all.done++;
		news |= read_page(&all.pages[i], reader, kernel);
	}
	pthread_mutex_unlock(&all.lock);
	return news;
}
