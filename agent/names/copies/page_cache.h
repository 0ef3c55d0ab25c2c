/* SPDX-License-Identifier: MIT */
/*
 * Reads a file's contents out of the memory of a Linux kernel that runs: the pages that it keeps of the file. Of a file
 * in memory, as of an initramfs, these are all pages; of one on a disk, those that were used lately. They may change
 * while they are read, and are hostile: each call ends after a few reads. On x86-64.
 */
#ifndef PAGE_CACHE_H
#define PAGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/names/linux/page_reader.h"
#include "agent/names/linux/walk.h"

struct linux_kernel;

enum { PAGE_CACHE_PAGE = 4096 };

struct page_cache {
	const struct cache_layout *layout;
	const struct walked_memory *memory;
	uint64_t ram;			/* where all RAM is mapped */
	uint64_t pages;			/* where the structs of its pages are */
	struct page_reader files, nodes, structs;
};

/* `slide`: run address minus link address of the kernel. Borrows all. False: some of it is not known, or not yet. */
bool page_cache_begin(struct page_cache *cache, const struct linux_kernel *kernel, uint64_t slide,
	const struct walked_memory *memory);

/* `contents`: the address of the file's struct address_space. False: it cannot be read (yet). */
bool page_cache_size(struct page_cache *cache, uint64_t contents, uint64_t *size);

/* Reads the page at `index` times its size. False: it is not in memory, or cannot be read (yet). */
bool page_cache_read(struct page_cache *cache, uint64_t contents, uint64_t index, uint8_t bytes[PAGE_CACHE_PAGE]);

#endif
