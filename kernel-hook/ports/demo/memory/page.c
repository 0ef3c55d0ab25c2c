/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/memory.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/string.h"
#include "traced.h"

/* Lies at the beginning of each free block. */
struct block {
	struct block *next, **link;	/* link: the pointer that points to this block */
};

enum { FRAMES = DIRECT_SIZE / PAGE_SIZE };

static struct spin lock;
static struct block *blocks[PAGE_ORDERS];
static uint64_t free_bytes;
struct memory_books page_books;

/* For each page frame: the order of the free block that begins there, plus one; else 0. */
static uint8_t begins[FRAMES];

static uint64_t frame_of(const void *address)
{
	return memory_physical(address) / PAGE_SIZE;
}

static void put(struct block *block, uint32_t order)
{
	block->next = blocks[order];
	block->link = &blocks[order];
	if (block->next != NULL)
		block->next->link = &block->next;
	blocks[order] = block;
	begins[frame_of(block)] = (uint8_t)(order + 1);
	free_bytes += (uint64_t)PAGE_SIZE << order;
}

static void take(struct block *block, uint32_t order)
{
	*block->link = block->next;
	if (block->next != NULL)
		block->next->link = block->link;
	begins[frame_of(block)] = 0;
	free_bytes -= (uint64_t)PAGE_SIZE << order;
}

/* Frees a block, and joins it with its buddy while that is free. The buddy's address differs in the bit of its size. */
static void join(void *block, uint32_t order)
{
	uint64_t physical = memory_physical(block);

	for (; order < PAGE_ORDERS - 1; order++) {
		uint64_t buddy = physical ^ (uint64_t)PAGE_SIZE << order;

		if (begins[buddy / PAGE_SIZE] != order + 1)
			break;
		take(memory_at(buddy), order);
		physical &= ~((uint64_t)PAGE_SIZE << order);
	}
	put(memory_at(physical), order);
}

/* Takes the smallest block that is large enough, and puts back what is too much, half by half. NULL: there is none. */
static void *split(uint32_t order)
{
	uint32_t larger = order;
	struct block *block;

	while (larger < PAGE_ORDERS && blocks[larger] == NULL)
		larger++;
	if (larger == PAGE_ORDERS)
		return NULL;
	block = blocks[larger];
	take(block, larger);
	while (larger-- > order)
		put((struct block *)((char *)block + ((uint64_t)PAGE_SIZE << larger)), larger);
	return block;
}

void *page_alloc(uint32_t order)
{
	void *block;

	spin_lock(&lock);
	block = split(order);
	page_books.objects += block != NULL;
	page_books.bytes += block != NULL ? (uint64_t)PAGE_SIZE << order : 0;
	spin_unlock(&lock);
	traced_alloc(TRACED_PAGES, block, (uint64_t)PAGE_SIZE << order);
	return block;
}

void page_free(void *block, uint32_t order)
{
	traced_free(TRACED_PAGES, block);
	spin_lock(&lock);
	page_books.objects--;
	page_books.bytes -= (uint64_t)PAGE_SIZE << order;
	join(block, order);
	spin_unlock(&lock);
}

void *page_alloc_clear(void)
{
	void *page = page_alloc(0);

	if (page != NULL)
		memset(page, 0, PAGE_SIZE);
	return page;
}

void page_add(uint64_t start, uint64_t end)
{
	start = (start + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;
	if (end > DIRECT_SIZE)
		end = DIRECT_SIZE;
	while (start + PAGE_SIZE <= end) {
		uint64_t size = PAGE_SIZE;
		uint32_t order = 0;

		while (order < PAGE_ORDERS - 1 && start % (2 * size) == 0 &&
				start + 2 * size <= end) {
			size *= 2;
			order++;
		}
		spin_lock(&lock);
		join(memory_at(start), order);
		spin_unlock(&lock);
		start += size;
	}
}

/* Takes free blocks of the largest order that lie side by side, the highest ones. */
void *page_reserve(uint64_t size)
{
	uint64_t largest = (uint64_t)PAGE_SIZE << (PAGE_ORDERS - 1);
	uint64_t count = (size + largest - 1) / largest, found = 0;

	for (uint64_t at = DIRECT_SIZE - largest; at > 0; at -= largest) {
		found = begins[at / PAGE_SIZE] == PAGE_ORDERS ? found + 1 : 0;
		if (found == count) {
			for (uint64_t i = 0; i < count; i++)
				take(memory_at(at + i * largest), PAGE_ORDERS - 1);
			return memory_at(at);
		}
	}
	return NULL;
}

uint64_t page_free_bytes(void)
{
	return free_bytes;
}
