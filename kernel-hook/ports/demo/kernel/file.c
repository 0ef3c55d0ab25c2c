/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file.h"
#include "hook_calls.h"
#include "mutex.h"
#include "ports/demo/machine/panic.h"
#include "ports/demo/machine/random.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/memory/page.h"
#include "thread.h"
#include "trace.h"

/*
 * The cache has BUCKETS lists of pages, the most recently used page first. When the cache is full, the last page of the
 * bucket is reused.
 */
enum { BLOCK_SIZE = 4096, BUCKETS = 32, DEPTH = 8 };

struct cached {
	struct cached *next;
	uint32_t file, block;
	uint8_t *page;
};

static struct bucket {
	struct mutex lock;		/* guards the list */
	struct cached *first;
	uint32_t count;
	struct cached entries[DEPTH];
} buckets[BUCKETS];

/* Each block on the disk is run-length encoded: pairs of a count and a byte. */
static uint32_t disk_read_packed(uint32_t file, uint32_t block, uint8_t *packed, uint32_t room)
{
	struct random random = random_seed((uint64_t)file << 32 | block);
	uint32_t total = 0, size = 0;

	while (total < BLOCK_SIZE && size + 2 <= room) {
		uint32_t run = random_below(&random, 30) + 1;

		packed[size++] = (uint8_t)run;
		packed[size++] = (uint8_t)random_next(&random);
		total += run;
	}
	return size;
}

static void block_unpack(const uint8_t *packed, uint32_t size, uint8_t *page)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i + 1 < size && at < BLOCK_SIZE; i += 2) {
		uint32_t run = packed[i] < BLOCK_SIZE - at ? packed[i] : BLOCK_SIZE - at;

		memset(page + at, packed[i + 1], run);
		at += run;
	}
	memset(page + at, 0, BLOCK_SIZE - at);
}

/*
 * For ktop this is a request, though the disk is imaginary, and the thread itself does its work. The page tells it
 * apart: nobody else fills it meanwhile.
 */
static void disk_read(uint32_t file, uint32_t block, uint8_t *page)
{
	uint64_t sector = ((uint64_t)file * FILE_SIZE + (uint64_t)block * BLOCK_SIZE) / 512;
	uint8_t packed[1024];

	ktop_trace_block_begin(hook, (uintptr_t)page, thread_current()->id, FILE_DISK_READ, 0, sector, BLOCK_SIZE);
	block_unpack(packed, disk_read_packed(file, block, packed, sizeof(packed)), page);
	ktop_trace_block_end(hook, (uintptr_t)page, 0);
}

static uint32_t cache_hash(uint32_t file, uint32_t block)
{
	return (file * 2654435761u ^ block * 2246822519u) >> 16 & (BUCKETS - 1);
}

/* Unlinks the entry of this block; if there is none, the last entry. */
static struct cached *cache_take(struct bucket *bucket, uint32_t file, uint32_t block)
{
	struct cached **link = &bucket->first, *entry;

	while ((*link)->next != NULL && ((*link)->file != file || (*link)->block != block))
		link = &(*link)->next;
	entry = *link;
	*link = entry->next;
	return entry;
}

static void cache_grow(struct bucket *bucket)
{
	struct cached *entry = &bucket->entries[bucket->count];

	entry->page = page_alloc(0);
	if (entry->page == NULL)
		panic("no memory for the file cache");
	entry->file = FILE_COUNT;
	entry->next = bucket->first;
	bucket->first = entry;
	bucket->count++;
}

static struct cached *cache_fill(struct bucket *bucket, struct cached *entry, uint32_t file,
	uint32_t block)
{
	if (entry->file != file || entry->block != block) {
		disk_read(file, block, entry->page);
		entry->file = file;
		entry->block = block;
	}
	entry->next = bucket->first;
	bucket->first = entry;
	return entry;
}

static struct cached *cache_find(struct bucket *bucket, uint32_t file, uint32_t block)
{
	if (bucket->count < DEPTH)
		cache_grow(bucket);
	return cache_fill(bucket, cache_take(bucket, file, block), file, block);
}

static void cache_read(uint32_t file, uint64_t offset, void *to, uint64_t size)
{
	uint32_t block = (uint32_t)(offset / BLOCK_SIZE);
	struct bucket *bucket = &buckets[cache_hash(file, block)];

	mutex_lock(&bucket->lock);
	memcpy(to, cache_find(bucket, file, block)->page + offset % BLOCK_SIZE, size);
	mutex_unlock(&bucket->lock);
}

void file_start(void)
{
	for (int i = 0; i < BUCKETS; i++)
		mutex_init(&buckets[i].lock, "cache", i);
}

void file_read(uint32_t file, uint64_t offset, void *to, uint64_t size)
{
	while (size > 0) {
		uint64_t at = offset % FILE_SIZE, part = BLOCK_SIZE - at % BLOCK_SIZE;

		if (part > size)
			part = size;
		cache_read(file % FILE_COUNT, at, to, part);
		to = (char *)to + part;
		offset += part;
		size -= part;
	}
}
