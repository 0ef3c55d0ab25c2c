/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "page.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/spin.h"
#include "slab.h"
#include "traced.h"

/* Lies at the beginning of each page. */
struct slab_page {
	struct slab_page *next, **link;	/* link NULL: the page is full and in no list */
	void *free;			/* the first free object; each begins with a pointer to the next */
	uint32_t used;
};

struct memory_books slab_books;		/* of all slabs, each of which has a lock of its own */

static struct slab_page *page_of(void *object)
{
	return (struct slab_page *)((uint64_t)object & -(uint64_t)PAGE_SIZE);
}

static void list(struct slab *slab, struct slab_page *page)
{
	page->next = slab->partial;
	page->link = &slab->partial;
	if (page->next != NULL)
		page->next->link = &page->next;
	slab->partial = page;
}

static void unlist(struct slab_page *page)
{
	*page->link = page->next;
	if (page->next != NULL)
		page->next->link = page->link;
	page->link = NULL;
}

/* The slab's lock is held; page_alloc() takes its own lock. They are always taken in this order. */
static struct slab_page *slab_grow(struct slab *slab)
{
	struct slab_page *page = page_alloc(0);
	uint32_t step = (slab->size + 15) & ~15u;

	if (page == NULL)
		return NULL;
	*page = (struct slab_page) { .free = NULL };
	for (uint32_t at = sizeof(*page); at + step <= PAGE_SIZE; at += step) {
		void **object = (void **)((char *)page + at);

		*object = page->free;
		page->free = object;
	}
	list(slab, page);
	return page;
}

static void *take(struct slab *slab)
{
	struct slab_page *page = slab->partial != NULL ? slab->partial : slab_grow(slab);
	void **object;

	if (page == NULL)
		return NULL;
	object = page->free;
	page->free = *object;
	page->used++;
	slab->used++;
	if (page->free == NULL)
		unlist(page);
	return object;
}

static void slab_count(uint64_t objects, uint64_t bytes)
{
	__atomic_fetch_add(&slab_books.objects, objects, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slab_books.bytes, bytes, __ATOMIC_RELAXED);
}

void *slab_alloc(struct slab *slab)
{
	void *object;

	spin_lock(&slab->lock);
	object = take(slab);
	spin_unlock(&slab->lock);
	if (object != NULL)
		slab_count(1, slab->size);
	traced_alloc(TRACED_SLAB, object, slab->size);
	return object;
}

void slab_free(struct slab *slab, void *object)
{
	struct slab_page *page = page_of(object);

	traced_free(TRACED_SLAB, object);
	slab_count(-1ull, -(uint64_t)slab->size);
	spin_lock(&slab->lock);
	*(void **)object = page->free;
	page->free = object;
	slab->used--;
	if (page->link == NULL)
		list(slab, page);
	if (--page->used == 0) {
		unlist(page);
		page_free(page, 0);
	}
	spin_unlock(&slab->lock);
}
