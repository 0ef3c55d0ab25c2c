/* SPDX-License-Identifier: MIT */
#include "agent/names/linux/kernel_layout.h"
#include "agent/names/linux/linux_kernel.h"
#include "page_cache.h"

/*
 * Where both are without KASLR, if the kernel has no variables for them: linux/Documentation/arch/x86/x86_64/mm.rst,
 * page tables of four levels.
 */
#define RAM UINT64_C(0xffff888000000000)
#define PAGES UINT64_C(0xffffea0000000000)

enum {
	PAGE_SHIFT = 12,
	FOLIO_MOST = 1 << 18,		/* pages: 1 GiB, the largest page of the processor */
	FRAME_BITS = 40,		/* of the number of a page of RAM */
	ADDRESS_BITS = 64,
};

static bool is_kernel(uint64_t address)
{
	return address >> 63;
}

/* The kernel's variable, or what it would be. False: it cannot be read, or is no address of a page. */
static bool read_base(struct page_cache *cache, const struct linux_kernel *kernel, enum landmark landmark,
	uint64_t slide, uint64_t *base)
{
	uint64_t place;

	if (linux_kernel_landmark(kernel, landmark, &place) && !page_reader_64(&cache->files, place + slide, base))
		return false;
	return is_kernel(*base) && *base % PAGE_CACHE_PAGE == 0;
}

bool page_cache_begin(struct page_cache *cache, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory)
{
	*cache = (struct page_cache) {
		.layout = &kernel->layout.cache, .memory = memory, .ram = RAM, .pages = PAGES,
		.files = page_reader_of(memory), .nodes = page_reader_of(memory), .structs = page_reader_of(memory),
	};
	return kernel->arch == ARCH_X86_64 && cache->layout->known &&
		read_base(cache, kernel, LANDMARK_PAGE_OFFSET, slide, &cache->ram) &&
		read_base(cache, kernel, LANDMARK_PAGES, slide, &cache->pages);
}

bool page_cache_size(struct page_cache *cache, uint64_t contents, uint64_t *size)
{
	uint64_t owner;

	return page_reader_64(&cache->files, contents + cache->layout->owner, &owner) && is_kernel(owner) &&
		page_reader_64(&cache->files, owner + cache->layout->size, size);
}

/* ---- the tree ---- */

/*
 * An entry with these low bits is no pointer to a page: see xa_mk_internal() in include/linux/xarray.h of Linux. A
 * large one is a pointer to a node, a small one the number of the slot that has the entry for this slot, too.
 */
enum { INTERNAL = 2, INTERNAL_BITS = 3, INTERNAL_SMALL = 4096, SLOT_SHIFT = 2 };

static bool is_node(uint64_t entry)
{
	return (entry & INTERNAL_BITS) == INTERNAL && entry > INTERNAL_SMALL;
}

static bool read_slot(struct page_cache *cache, uint64_t node, uint64_t slot, uint64_t *entry)
{
	return page_reader_64(&cache->nodes, node + cache->layout->slots + 8 * slot, entry);
}

/* The entry for a page in a node. `top`: the node is the root. False: it has none, or cannot be read. */
static bool enter_node(struct page_cache *cache, uint64_t node, uint64_t index, bool top, uint8_t shift,
	uint64_t *entry)
{
	uint64_t slot = index >> shift, last = cache->layout->slots_count - 1;

	if ((top && slot > last) || !read_slot(cache, node, slot & last, entry))
		return false;
	if ((*entry & INTERNAL_BITS) != INTERNAL || *entry >> SLOT_SHIFT > last)
		return true;
	return read_slot(cache, node, *entry >> SLOT_SHIFT, entry);
}

/* Finds the folio that has the page. Each node covers less than the one above it, so the way ends. */
static bool find_folio(struct page_cache *cache, uint64_t contents, uint64_t index, uint64_t *folio)
{
	uint8_t above = ADDRESS_BITS, shift;
	uint64_t entry;

	if (!page_reader_64(&cache->files, contents + cache->layout->root, &entry) || (!is_node(entry) && index))
		return false;
	for (; is_node(entry); above = shift) {
		uint64_t node = entry - INTERNAL;

		if (!is_kernel(node) || !page_reader_bytes(&cache->nodes, node + cache->layout->shift, &shift, 1) ||
				shift >= above || !enter_node(cache, node, index, above == ADDRESS_BITS, shift, &entry))
			return false;
	}
	*folio = entry;
	return is_kernel(entry) && !(entry & INTERNAL_BITS);
}

/* ---- pages ---- */

/* The struct of the page. What does not say that it is this page of this file is another's by now. */
static bool find_page(struct page_cache *cache, uint64_t contents, uint64_t index, uint64_t *page)
{
	const struct cache_layout *layout = cache->layout;
	uint64_t folio, owner, first, head;

	if (!find_folio(cache, contents, index, &folio) ||
			!page_reader_64(&cache->structs, folio + layout->contents, &owner) ||
			!page_reader_64(&cache->structs, folio + layout->index, &first) ||
			owner != contents || first > index || index - first >= FOLIO_MOST)
		return false;
	*page = folio + (index - first) * layout->page_size;
	return first == index || (page_reader_64(&cache->structs, *page + layout->head, &head) && head == folio + 1);
}

bool page_cache_read(struct page_cache *cache, uint64_t contents, uint64_t index, uint8_t bytes[PAGE_CACHE_PAGE])
{
	const struct memory_reader *memory = cache->memory->reader;
	uint64_t page, frame;

	if (!find_page(cache, contents, index, &page) || page < cache->pages ||
			(page - cache->pages) % cache->layout->page_size)
		return false;
	frame = (page - cache->pages) / cache->layout->page_size;
	if (frame >> FRAME_BITS || !is_kernel(cache->ram + (frame << PAGE_SHIFT)))
		return false;
	quota_spend(cache->memory->quota, PAGE_CACHE_PAGE);
	return memory->read(memory->context, cache->ram + (frame << PAGE_SHIFT), bytes, PAGE_CACHE_PAGE);
}
