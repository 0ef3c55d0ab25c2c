/* SPDX-License-Identifier: MIT */
/* The phase `files`: files are read through the cache, checked, indexed and searched. */
#include <stdbool.h>
#include <stdint.h>

#include "mix.h"
#include "ports/demo/kernel/file.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/machine/checksum.h"
#include "ports/demo/machine/random.h"
#include "ports/demo/machine/time.h"

enum { CHUNK = 4096, REQUESTS = 64 };

struct index {
	uint32_t counts[256];
	uint32_t order[256];
};

static void index_count(struct index *index, const uint8_t *bytes, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		index->counts[bytes[i]]++;
}

static bool index_less(const struct index *index, uint32_t a, uint32_t b)
{
	return index->counts[index->order[a]] < index->counts[index->order[b]];
}

static void index_sift(struct index *index, uint32_t root, uint32_t end)
{
	for (uint32_t child; (child = 2 * root + 1) < end; root = child) {
		uint32_t held = index->order[root];

		if (child + 1 < end && index_less(index, child, child + 1))
			child++;
		if (index->counts[index->order[child]] <= index->counts[held])
			return;
		index->order[root] = index->order[child];
		index->order[child] = held;
	}
}

/* Heap sort; the most frequent byte comes last. */
static void index_sort(struct index *index)
{
	for (uint32_t i = 0; i < 256; i++)
		index->order[i] = i;
	for (uint32_t i = 128; i-- > 0;)
		index_sift(index, i, 256);
	for (uint32_t end = 255; end > 0; end--) {
		uint32_t top = index->order[0];

		index->order[0] = index->order[end];
		index->order[end] = top;
		index_sift(index, 0, end);
	}
}

static uint32_t search_pattern(const uint8_t *bytes, uint32_t size, const uint8_t *pattern)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i + 3 <= size; i++)
		found += bytes[i] == pattern[0] && bytes[i + 1] == pattern[1] &&
			bytes[i + 2] == pattern[2];
	return found;
}

static uint32_t file_verify(uint32_t file, uint64_t offset)
{
	uint8_t bytes[CHUNK];

	file_read(file, offset, bytes, sizeof(bytes));
	return checksum_crc32(0, bytes, sizeof(bytes)) ^ checksum_adler32(1, bytes, sizeof(bytes));
}

static void file_index(uint32_t file, uint64_t offset)
{
	struct index index = { .counts = { 0 } };
	uint8_t bytes[CHUNK];

	file_read(file, offset, bytes, sizeof(bytes));
	index_count(&index, bytes, sizeof(bytes));
	index_sort(&index);
}

static uint32_t file_search(uint32_t file, uint64_t offset)
{
	uint8_t bytes[CHUNK];

	file_read(file, offset, bytes, sizeof(bytes));
	return search_pattern(bytes, sizeof(bytes), (const uint8_t[3]) { 1, 1, 2 });
}

/* Files with low numbers are read more often, so the cache keeps them. */
void files_work(uint32_t worker, uint32_t round)
{
	struct random random = random_seed((uint64_t)worker << 32 | round);

	for (uint32_t i = 0; i < REQUESTS; i++) {
		uint32_t file = random_below(&random, random_below(&random, FILE_COUNT) + 1);
		uint64_t offset = random_below(&random, FILE_SIZE / CHUNK) * (uint64_t)CHUNK;
		uint32_t kind = random_below(&random, 8);

		if (kind < 4)
			file_verify(file, offset);
		else if (kind < 6)
			file_index(file, offset);
		else
			file_search(file, offset);
	}
	sched_sleep(2 * NS_PER_MS);
}
