/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/hash.h"
#include "agent/base/util.h"
#include "agent/names/linux/unpack.h"
#include "agent/wire/event.h"
#include "guest_memory.h"

enum {
	PAGE = GUEST_MEMORY_PAGE,
	PAGES_MAX = 16384,		/* 64 MiB: a recording's pages with a whole kernel's tables are all kept */
	AHEAD = 2,			/* pages that are asked for where one is missing: it, and the next one */
	UNDER_WAY = 32,			/* pages that are asked for at a time */
	LINE_PAGES = 16,		/* pages that one line asks for */
	LATE = 1024,			/* a page that has not come with so many samples is asked for again */
	LATE_MS = 3000,			/* likewise, of QEMU, after this time */
	ASKS = 3,			/* how often one page is asked for at most */
};

enum state { PAGE_WANTED, PAGE_ASKED, PAGE_THERE, PAGE_ABSENT };

struct page {
	uint64_t address;
	bool physical;
	uint8_t asks;
	enum state state;
	uint64_t renewal;		/* `renewals` when it was wanted: out of date if that has grown */
	uint64_t asked;			/* when: as a number of samples; of QEMU: util_now */
	uint64_t time;			/* guest ns at which its bytes came; 0: not known */
	uint8_t *bytes;			/* NULL: none have come */
};

struct view {				/* a memory_reader's context */
	struct guest_memory *memory;
	bool physical;
};

struct guest_memory {
	struct budget *budget;
	struct hash index;		/* of the pages, by address */
	struct page *pages;
	uint32_t count, room;
	uint32_t under_way, wanted;	/* how many are in these states */
	uint64_t renewals;
	uint64_t awaited, unkept, overdue;
	uint64_t rests_until;		/* samples: nothing is asked for before */
	bool refused;
	struct view views[2];
};

struct guest_memory *guest_memory_new(struct budget *budget)
{
	struct guest_memory *memory = util_alloc(sizeof(*memory));

	memory->budget = budget;
	hash_init(&memory->index, budget);
	for (int i = 0; i < 2; i++)
		memory->views[i] = (struct view) { .memory = memory, .physical = i };
	return memory;
}

static void free_bytes(struct guest_memory *memory, struct page *page)
{
	if (page->bytes)
		budget_free(memory->budget, page->bytes, PAGE);
	page->bytes = NULL;
}

void guest_memory_free(struct guest_memory *memory)
{
	if (!memory)
		return;
	for (uint32_t i = 0; i < memory->count; i++)
		free_bytes(memory, &memory->pages[i]);
	budget_free(memory->budget, memory->pages, memory->room * sizeof(*memory->pages));
	hash_clear(&memory->index);
	free(memory);
}

/* ---- pages ---- */

static struct page *find(struct guest_memory *memory, bool physical, uint64_t address)
{
	uint64_t value = hash_pair(&memory->index, address, physical);
	uint32_t at = 0, position;

	while ((position = hash_next(&memory->index, value, &at)) != HASH_NONE) {
		struct page *page = &memory->pages[position];

		if (page->address == address && page->physical == physical)
			return page;
	}
	return NULL;
}

static void set_state(struct guest_memory *memory, struct page *page, enum state state)
{
	memory->wanted -= page->state == PAGE_WANTED;
	memory->under_way -= page->state == PAGE_ASKED;
	page->state = state;
	memory->wanted += state == PAGE_WANTED;
	memory->under_way += state == PAGE_ASKED;
}

/* NULL: there is no room. */
static struct page *add(struct guest_memory *memory, bool physical, uint64_t address)
{
	uint64_t value = hash_pair(&memory->index, address, physical);
	struct page *pages = memory->count == PAGES_MAX ? NULL :
		budget_array(memory->budget, memory->pages, memory->count, &memory->room, sizeof(*pages));

	if (!pages)
		return NULL;
	memory->pages = pages;
	if (!hash_add(&memory->index, value, memory->count))
		return NULL;
	pages[memory->count] = (struct page) { .address = address, .physical = physical, .state = PAGE_ABSENT };
	return &pages[memory->count++];
}

/* The page, which is asked for if it is not up to date. NULL: there is no room for it. */
static struct page *want(struct guest_memory *memory, bool physical, uint64_t address)
{
	struct page *page = find(memory, physical, address);

	if (page && page->renewal == memory->renewals)
		return page;
	if (!page)
		page = add(memory, physical, address);
	if (!page)
		return NULL;
	page->renewal = memory->renewals;
	page->asks = 0;
	if (page->state != PAGE_ASKED)
		set_state(memory, page, PAGE_WANTED);
	return page;
}

/* ---- readers ---- */

/* False: it is not there, or not yet. */
static bool read_piece(const struct view *view, uint64_t address, void *bytes, size_t size)
{
	struct guest_memory *memory = view->memory;
	uint64_t start = address - address % PAGE;
	struct page *page = want(memory, view->physical, start);

	if (!page) {
		memory->unkept++;
		return false;
	}
	if (page->state == PAGE_THERE)
		memcpy(bytes, page->bytes + address % PAGE, size);
	else if (page->state != PAGE_ABSENT)
		memory->awaited++;
	if (page->state == PAGE_WANTED && !view->physical) {
		for (uint64_t i = 1; i < AHEAD; i++)	/* `page` may move */
			want(memory, view->physical, start + i * PAGE);
		return false;
	}
	return page->state == PAGE_THERE;
}

static bool read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	bool good = address + size >= address;

	for (size_t done = 0; good && done < size;) {
		size_t left = PAGE - (size_t)((address + done) % PAGE), piece = size - done < left ? size - done : left;

		good = read_piece(context, address + done, (uint8_t *)bytes + done, piece);
		done += piece;
	}
	return good;
}

static uint64_t awaited(void *context)
{
	return ((const struct view *)context)->memory->awaited;
}

static struct memory_reader reader_of(struct view *view)
{
	return (struct memory_reader) { .read = read_memory, .context = view, .awaited = awaited };
}

struct memory_reader guest_memory_virtual(struct guest_memory *memory)
{
	return reader_of(&memory->views[0]);
}

struct memory_reader guest_memory_physical(struct guest_memory *memory)
{
	return reader_of(&memory->views[1]);
}

uint64_t guest_memory_time(struct guest_memory *memory, uint64_t address)
{
	const struct page *page = find(memory, false, address - address % PAGE);

	return page && page->bytes ? page->time : 0;
}

/* Those that nobody has read since the last time are forgotten. */
void guest_memory_renew(struct guest_memory *memory)
{
	uint32_t kept = 0;

	hash_clear(&memory->index);
	for (uint32_t i = 0; i < memory->count; i++) {
		struct page *page = &memory->pages[i];

		if (page->renewal == memory->renewals && hash_add(&memory->index,
				hash_pair(&memory->index, page->address, page->physical), kept)) {
			memory->pages[kept++] = *page;
			continue;
		}
		set_state(memory, page, PAGE_ABSENT);
		free_bytes(memory, page);
	}
	memory->count = kept;
	memory->renewals++;
}

/* ---- asking ---- */

bool guest_memory_take(struct guest_memory *memory, const struct memory_bytes *bytes)
{
	uint64_t start = bytes->address - bytes->address % PAGE;
	struct page *page = find(memory, bytes->physical, start);
	bool whole = (bytes->packed ? bytes->bytes.size : bytes->bytes.size == PAGE) && start == bytes->address;

	if (!page)
		page = add(memory, bytes->physical, start);
	if (!page) {
		memory->unkept++;
		return false;
	}
	if (whole && !page->bytes)
		page->bytes = budget_resize(memory->budget, NULL, 0, PAGE);
	memory->unkept += whole && !page->bytes;
	whole = whole && page->bytes;
	if (whole && bytes->packed)
		whole = unpack_zstd_all((const uint8_t *)bytes->bytes.bytes, bytes->bytes.size, page->bytes, PAGE);
	else if (whole)
		memcpy(page->bytes, bytes->bytes.bytes, PAGE);
	set_state(memory, page, whole ? PAGE_THERE : PAGE_ABSENT);
	page->renewal = memory->renewals;
	page->time = bytes->time;
	return true;
}

/* A page that is late is asked for again, or given up. */
static void look_at_late(struct guest_memory *memory, uint64_t now, uint64_t late)
{
	for (uint32_t i = 0; memory->under_way && i < memory->count; i++) {
		struct page *page = &memory->pages[i];

		if (page->state != PAGE_ASKED || now - page->asked < late)
			continue;
		memory->overdue += page->asks >= ASKS;
		set_state(memory, page, page->asks < ASKS ? PAGE_WANTED : PAGE_ABSENT);
	}
}

static struct page *first_wanted(struct guest_memory *memory)
{
	for (uint32_t i = 0; memory->wanted && i < memory->count; i++)
		if (memory->pages[i].state == PAGE_WANTED)
			return &memory->pages[i];
	return NULL;
}

bool guest_memory_ask(struct guest_memory *memory, uint64_t samples, char line[COMMANDS_LINE_MAX + 1])
{
	struct page *page;
	uint64_t address;
	bool physical;
	uint32_t count = 0;

	look_at_late(memory, samples, LATE);
	if (memory->refused)
		memory->rests_until = samples + LATE;
	memory->refused = false;
	page = samples < memory->rests_until || memory->under_way + LINE_PAGES > UNDER_WAY ? NULL :
		first_wanted(memory);
	if (!page)
		return false;
	physical = page->physical;
	address = page->address;
	while (page && page->state == PAGE_WANTED && count < LINE_PAGES) {
		set_state(memory, page, PAGE_ASKED);
		page->asked = samples;
		page->asks++;
		count++;
		page = find(memory, physical, address + (uint64_t)count * PAGE);
	}
	snprintf(line, COMMANDS_LINE_MAX + 1, "read %s %" PRIx64 " %" PRIu32, physical ? "physical" : "virtual",
		address, count);
	return true;
}

bool guest_memory_next(struct guest_memory *memory, uint64_t now, uint64_t *address)
{
	struct page *page;

	look_at_late(memory, now, (uint64_t)LATE_MS * NS_PER_MS);
	while ((page = first_wanted(memory)) && (page->physical || !(page->address >> 63)))
		set_state(memory, page, PAGE_ABSENT);
	if (!page)
		return false;
	set_state(memory, page, PAGE_ASKED);
	page->asked = now;
	page->asks++;
	*address = page->address;
	return true;
}

void guest_memory_refused(struct guest_memory *memory)
{
	memory->refused = true;
}

uint64_t guest_memory_unkept(const struct guest_memory *memory)
{
	return memory->unkept;
}

uint64_t guest_memory_overdue(const struct guest_memory *memory)
{
	return memory->overdue;
}
