/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/names/linux/processes.h"
#include "elf_parts.h"
#include "file_copies.h"
#include "page_cache.h"

enum {
	PAGE = PAGE_CACHE_PAGE,
	WANTED = 16,			/* copies that wait at a time */
	KNOWN = 256,			/* that are remembered; a newer one may take the place of another */
	TRIES = 3,			/* of one file: what is not in memory may come */
	WINDOW = 16,			/* pages that are asked for at a time; the bits of `there` */
	PAGES_MOST = 1024,		/* that are copied of a file */
	SIZE_MOST = 1 << 30,		/* bytes of a file */
};

struct wanted {
	uint64_t contents;		/* as in struct file_copy */
	char path[PROCESS_PATH_MAX + 1];
};

struct known {
	uint64_t contents;
	uint32_t tries;
};

struct file_copies {
	struct wanted wanted[WANTED];	/* the first one is being copied */
	uint32_t count;
	struct known known[KNOWN];	/* by their contents' address */

	/* The copy, of those bytes that were wanted. */
	int fd;				/* -1: it is not made yet */
	uint64_t begun;			/* ns; 0: not yet */
	bool tried;			/* this was counted */
	uint64_t size;			/* of the file */
	enum elf_part part;		/* that is being copied, and of it: */
	struct elf_ranges ranges;
	size_t range;
	uint64_t page;			/* the first one that is missing, in the file */
	uint32_t there;			/* bit i: the page that lies i pages behind was copied */
	uint32_t pages;			/* that were copied, of all parts */
};

struct file_copies *file_copies_new(void)
{
	struct file_copies *copies = util_alloc(sizeof(*copies));

	copies->fd = -1;
	return copies;
}

static void drop_copy(struct file_copies *copies)
{
	if (copies->fd >= 0)
		close(copies->fd);
	copies->fd = -1;
	copies->begun = 0;
	copies->tried = false;
}

void file_copies_free(struct file_copies *copies)
{
	if (copies)
		drop_copy(copies);
	free(copies);
}

/* ---- what is wanted ---- */

static struct known *known_of(struct file_copies *copies, uint64_t contents)
{
	struct known *known = &copies->known[contents / 8 % KNOWN];

	if (known->contents != contents)
		*known = (struct known) { .contents = contents };
	return known;
}

void file_copies_want(struct file_copies *copies, uint64_t contents, const char *path)
{
	struct wanted *wanted = &copies->wanted[copies->count];

	for (uint32_t i = 0; i < copies->count; i++)
		if (copies->wanted[i].contents == contents)
			return;
	if (copies->count == WANTED || known_of(copies, contents)->tries == TRIES)
		return;
	wanted->contents = contents;
	util_print(wanted->path, sizeof(wanted->path), "%s", path);
	copies->count++;
}

/* The first one was copied, or is not to be copied any more. */
static void end_file(struct file_copies *copies)
{
	drop_copy(copies);
	memmove(copies->wanted, copies->wanted + 1, --copies->count * sizeof(*copies->wanted));
}

/* ---- copying ---- */

/* What came of a piece of work: more of the memory has to come; it cannot be done. */
enum outcome { DONE, WAITS, FAILED };

static enum outcome failed(const struct page_cache *cache, uint64_t awaited)
{
	return memory_reader_awaited(cache->memory->reader) != awaited ? WAITS : FAILED;
}

static uint64_t page_behind(const struct file_copies *copies)
{
	return (copies->ranges.list[copies->range].offset + copies->ranges.list[copies->range].size + PAGE - 1) / PAGE;
}

static void begin_range(struct file_copies *copies)
{
	if (copies->range < copies->ranges.count)
		copies->page = copies->ranges.list[copies->range].offset / PAGE;
	copies->there = 0;
}

/* Which bytes a part has. False: it makes no sense, or is too much. */
static bool find_part(struct file_copies *copies, enum elf_part part)
{
	uint64_t pages = copies->pages;

	if (!elf_parts_find(copies->fd, part, &copies->ranges))
		return false;
	for (size_t i = 0; i < copies->ranges.count; i++) {
		uint64_t offset = copies->ranges.list[i].offset, size = copies->ranges.list[i].size;

		if (offset > copies->size || size > copies->size - offset)
			return false;
		pages += size / PAGE + 2;
	}
	return pages <= PAGES_MOST;
}

/* A copy is of use without what is loaded. */
static bool begin_part(struct file_copies *copies, enum elf_part part)
{
	bool found = find_part(copies, part);

	if (!found && part == ELF_PART_LOADED)
		copies->ranges.count = 0;
	copies->part = part;
	copies->range = 0;
	begin_range(copies);
	return found || part == ELF_PART_LOADED;
}

static enum outcome begin_copy(struct file_copies *copies, struct page_cache *cache)
{
	uint64_t awaited = memory_reader_awaited(cache->memory->reader);

	if (!copies->tried)
		known_of(copies, copies->wanted[0].contents)->tries++;
	copies->tried = true;
	if (!page_cache_size(cache, copies->wanted[0].contents, &copies->size))
		return failed(cache, awaited);
	if (!copies->size || copies->size > SIZE_MOST)
		return FAILED;
	copies->fd = memfd_create("ktop-program", MFD_CLOEXEC);
	copies->pages = 0;
	return copies->fd >= 0 && ftruncate(copies->fd, (off_t)copies->size) == 0 && begin_part(copies, ELF_PART_HEAD) ?
		DONE : FAILED;
}

/* The last page has bytes behind the file's end. Of what is loaded, a page that is not in memory stays zero. */
static enum outcome copy_page(struct file_copies *copies, struct page_cache *cache, uint64_t page)
{
	uint64_t awaited = memory_reader_awaited(cache->memory->reader), left = copies->size - page * PAGE;
	size_t size = left < PAGE ? (size_t)left : PAGE;
	uint8_t bytes[PAGE];

	if (!page_cache_read(cache, copies->wanted[0].contents, page, bytes)) {
		enum outcome outcome = failed(cache, awaited);

		return outcome == FAILED && copies->part == ELF_PART_LOADED ? DONE : outcome;
	}
	return pwrite(copies->fd, bytes, size, (off_t)(page * PAGE)) == (ssize_t)size ? DONE : FAILED;
}

/* Asks for the next pages of a range, and copies those that are there. DONE: some more of them are. */
static enum outcome copy_window(struct file_copies *copies, struct page_cache *cache)
{
	uint64_t end = page_behind(copies);

	for (unsigned i = 0; i < WINDOW && copies->page + i < end; i++) {
		enum outcome outcome = copies->there >> i & 1 ? DONE : copy_page(copies, cache, copies->page + i);

		if (outcome == FAILED)
			return outcome;
		if (outcome == DONE)
			copies->there |= 1u << i;
	}
	if (copies->page < end && !(copies->there & 1))
		return WAITS;
	for (; copies->there & 1; copies->there >>= 1, copies->page++)
		copies->pages++;
	return DONE;
}

static struct file_copy first_of(const struct file_copies *copies)
{
	const struct wanted *wanted = &copies->wanted[0];

	return (struct file_copy) { .contents = wanted->contents, .path = wanted->path, .fd = copies->fd };
}

/* All parts of the first file are there. */
static void give(struct file_copies *copies, const struct file_copy_taker *taker)
{
	const struct file_copy copy = first_of(copies);

	copies->fd = -1;
	taker->take(taker->context, &copy);
}

static bool is_whole(const struct file_copies *copies)
{
	return copies->fd >= 0 && copies->range == copies->ranges.count && copies->part + 1 == ELF_PARTS;
}

/* A piece of work on the first file, which is not whole. FAILED: it has no copy. */
static enum outcome copy(struct file_copies *copies, struct page_cache *cache, const struct file_copy_taker *taker)
{
	const struct file_copy file = first_of(copies);
	enum file_state state = copies->fd < 0 ? taker->state(taker->context, &file) : FILE_MISSING;
	enum outcome outcome;

	if (state != FILE_MISSING)
		return state == FILE_SOUGHT ? WAITS : FAILED;
	if (copies->fd < 0)
		return begin_copy(copies, cache);
	if (copies->range == copies->ranges.count)
		return begin_part(copies, copies->part + 1) ? DONE : FAILED;
	outcome = copy_window(copies, cache);
	if (outcome == DONE && copies->page >= page_behind(copies)) {
		copies->range++;
		begin_range(copies);
	}
	return outcome;
}

enum walk file_copies_read(struct file_copies *copies, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory, uint64_t samples, const struct file_copy_taker *taker)
{
	struct page_cache cache;

	if (!copies->count)
		return WALK_ENDED;
	if (!page_cache_begin(&cache, kernel, slide, memory))
		return WALK_FAILED;
	do {
		enum outcome outcome;

		copies->begun = copies->begun ? copies->begun : samples;
		outcome = samples - copies->begun >= FILE_COPIES_LONGEST ? FAILED : copy(copies, &cache, taker);
		if (outcome == WAITS)
			return WALK_FAILED;
		if (outcome == DONE && is_whole(copies))
			give(copies, taker);
		if (outcome == FAILED || copies->fd < 0)
			end_file(copies);
	} while (copies->count && !quota_is_spent(memory->quota));
	return copies->count ? WALK_PAUSED : WALK_ENDED;
}
