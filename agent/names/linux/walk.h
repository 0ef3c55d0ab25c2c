/* SPDX-License-Identifier: MIT */
/*
 * Walks through a guest's memory, along its lists. A list may be of any length and lead anywhere, so a walk is made in
 * turns: each spends a quota and then pauses, and the next one goes on at the same place. A turn does one piece of work
 * at least, and that piece is bounded.
 */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/base/memory_reader.h"
#include "agent/base/util.h"

/*
 * How much may be done in one turn, before others have theirs. What is done counts in bytes: those that are copied, and
 * what takes about as long. Who does it spends, and pauses when the quota is spent; a piece of work may overdraw it.
 */
struct quota {
	uint64_t most, spent;
};

static inline void quota_spend(struct quota *quota, uint64_t bytes)
{
	quota->spent += bytes;
}

static inline bool quota_is_spent(const struct quota *quota)
{
	return quota->spent >= quota->most;
}

/* ---- walks ---- */

enum walk {				/* how a turn has ended */
	WALK_FAILED,			/* something cannot be read (yet), or makes no sense: the walk is over */
	WALK_PAUSED,			/* the next turn goes on */
	WALK_ENDED,			/* all was visited */
};

/* What it spends to tell the symbols (symbols.h) of a function, and of an object's mapping. */
enum { WALK_TELL_COST = 1024, WALK_MAP_COST = 16384 };

/* What is read, and how much of it in this turn. */
struct walked_memory {
	const struct memory_reader *reader;
	struct quota *quota;
};

/* How far a walk along a list has come. Starts zeroed. */
struct list_place {
	uint64_t next;			/* the address of the next one's links; 0: the list's head was not read */
	uint32_t passed;		/* how many were visited */
};

/* ---- pages ---- */

/* Reads a guest's memory a page at a time, so that many small reads cost few reads of the guest. */

enum {
	PAGE_READER_SIZE = 4096,
	PAGE_READER_CALL = 16,		/* what a call spends besides its bytes */
};

/* Keeps the last page, so that reads in order of address cost one read a page. All that is read is spent. */
struct page_reader {
	const struct memory_reader *memory;
	struct quota *quota;
	uint64_t page;
	bool known;			/* bytes are those of the page */
	uint8_t bytes[PAGE_READER_SIZE];
};

static inline struct page_reader page_reader_of(const struct walked_memory *memory)
{
	return (struct page_reader) { .memory = memory->reader, .quota = memory->quota };
}

/* The bytes from the address to its page's end, `*left` of them. NULL: they cannot be read. */
static inline const uint8_t *page_reader_rest(struct page_reader *reader, uint64_t address, size_t *left)
{
	uint64_t page = address / PAGE_READER_SIZE * PAGE_READER_SIZE;

	if (!reader->known || reader->page != page) {
		quota_spend(reader->quota, PAGE_READER_SIZE);
		reader->known = reader->memory->read(reader->memory->context, page, reader->bytes,
			sizeof(reader->bytes));
	}
	reader->page = page;
	*left = PAGE_READER_SIZE - (size_t)(address - page);
	return reader->known ? reader->bytes + (address - page) : NULL;
}

static inline bool page_reader_bytes(struct page_reader *reader, uint64_t address, void *to, size_t size)
{
	quota_spend(reader->quota, PAGE_READER_CALL + size);
	for (size_t done = 0; done < size;) {
		size_t left;
		const uint8_t *from = page_reader_rest(reader, address + done, &left);

		if (!from)
			return false;
		left = size - done < left ? size - done : left;
		memcpy((uint8_t *)to + done, from, left);
		done += left;
	}
	return true;
}

/* Reads a text, up to its end, the end of `room`, or the first page that cannot be read. */
static inline void page_reader_text(struct page_reader *reader, uint64_t address, char *text, size_t room)
{
	size_t size = 0, length = 0, left = 0;
	const uint8_t *from;

	quota_spend(reader->quota, PAGE_READER_CALL);
	while (length == left && size + 1 < room && (from = page_reader_rest(reader, address + size, &left))) {
		left = room - 1 - size < left ? room - 1 - size : left;
		length = strnlen((const char *)from, left);
		memcpy(text + size, from, length);
		quota_spend(reader->quota, length);
		size += length;
	}
	text[size] = '\0';
}

static inline bool page_reader_64(struct page_reader *reader, uint64_t address, uint64_t *value)
{
	uint8_t bytes[8];

	if (!page_reader_bytes(reader, address, bytes, sizeof(bytes)))
		return false;
	*value = bytes_64(bytes);
	return true;
}

static inline bool page_reader_32(struct page_reader *reader, uint64_t address, uint32_t *value)
{
	uint8_t bytes[4];

	if (!page_reader_bytes(reader, address, bytes, sizeof(bytes)))
		return false;
	*value = bytes_32(bytes);
	return true;
}

/* Where a list has no place yet, reads where its head leads to. False: it cannot be read. */
static inline bool page_reader_begin(struct page_reader *reader, uint64_t head, struct list_place *place)
{
	return place->next || page_reader_64(reader, head, &place->next);
}

#endif
