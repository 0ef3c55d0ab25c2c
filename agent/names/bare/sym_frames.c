/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "sym_frames.h"

/* How an address is written: its form, and what it is relative to. */
enum {
	ABSOLUTE = 0x00, HALF = 0x02, WORD = 0x03, GIANT = 0x04, SIGNED = 0x08, FORM = 0x0f,
	RELATIVE = 0x10, BASE = 0x70,
};

#define EXTENDED UINT32_MAX		/* this length is followed by one of 64 bits */

struct cursor {
	const struct sym_frames *frames;
	size_t at, end;			/* within the section */
	bool bad;			/* it has gone beyond the end */
};

static uint64_t take_number(struct cursor *cursor, unsigned size)
{
	uint64_t value = 0;

	if (cursor->end - cursor->at < size) {
		cursor->bad = true;
		return 0;
	}
	for (unsigned i = 0; i < size; i++) {
		unsigned place = cursor->frames->big_endian ? size - 1 - i : i;

		value |= (uint64_t)cursor->frames->bytes[cursor->at + i] << 8 * place;
	}
	cursor->at += size;
	return value;
}

/* A LEB128 number of up to 64 bits. */
static uint64_t take_leb(struct cursor *cursor)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;

	for (unsigned shift = 0; byte & 0x80 && !cursor->bad; shift += 7) {
		byte = (uint8_t)take_number(cursor, 1);
		value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
	}
	return value;
}

static unsigned size_of(const struct cursor *cursor, uint8_t encoding)
{
	switch (encoding & (FORM & ~SIGNED)) {
	case ABSOLUTE:
		return cursor->frames->word;
	case HALF:
		return 2;
	case WORD:
		return 4;
	case GIANT:
		return 8;
	default:
		return 0;
	}
}

static uint64_t take_value(struct cursor *cursor, uint8_t encoding)
{
	unsigned size = size_of(cursor, encoding);
	uint64_t value = take_number(cursor, size);

	cursor->bad |= size == 0;
	if (encoding & SIGNED && size && size < 8 && value >> (8 * size - 1) & 1)
		value |= UINT64_MAX << 8 * size;
	return value;
}

static uint64_t take_address(struct cursor *cursor, uint8_t encoding)
{
	uint64_t place = cursor->frames->address + cursor->at, value = take_value(cursor, encoding);

	cursor->bad |= (encoding & BASE) != 0 && (encoding & BASE) != RELATIVE;
	value += (encoding & BASE) == RELATIVE ? place : 0;
	return cursor->frames->word == 4 ? (uint32_t)value : value;
}

/* How the functions of this CIE give their addresses: by the letters of its augmentation. */
static bool read_cie(struct cursor *cursor, uint8_t *encoding)
{
	uint8_t version = (uint8_t)take_number(cursor, 1);
	const char *letters = (const char *)cursor->frames->bytes + cursor->at;
	size_t size = strnlen(letters, cursor->end - cursor->at);

	*encoding = ABSOLUTE;
	cursor->at += size;
	take_number(cursor, 1);
	if (version == 4)
		take_number(cursor, 2);
	take_leb(cursor);
	take_leb(cursor);
	if (version == 1)
		take_number(cursor, 1);
	else
		take_leb(cursor);
	if (!size || letters[0] != 'z')
		return !cursor->bad && !size;
	take_leb(cursor);
	for (size_t i = 1; i < size && !cursor->bad; i++) {
		if (letters[i] == 'R')
			*encoding = (uint8_t)take_number(cursor, 1);
		else if (letters[i] == 'L')
			take_number(cursor, 1);
		else if (letters[i] == 'P')
			take_value(cursor, (uint8_t)take_number(cursor, 1) & FORM);
		else if (letters[i] != 'S' && letters[i] != 'B')
			return false;
	}
	return !cursor->bad;
}

/* The entry that begins here. False: the section ends. Its length may be told in 64 bits. */
static bool next_entry(struct cursor *all, struct cursor *entry)
{
	uint64_t size = take_number(all, 4);

	if (size == EXTENDED)
		size = take_number(all, 8);
	if (all->bad || size < 4 || size > all->end - all->at)
		return false;
	*entry = (struct cursor) { .frames = all->frames, .at = all->at, .end = all->at + (size_t)size };
	all->at = entry->end;
	return true;
}

/* The CIE's encoding, for an entry whose pointer to it is at `place`. */
static bool find_encoding(const struct sym_frames *frames, size_t place, uint64_t back, uint8_t *encoding)
{
	struct cursor all = { .frames = frames, .at = place - (size_t)back, .end = frames->size }, cie;

	return next_entry(&all, &cie) && take_number(&cie, 4) == 0 && read_cie(&cie, encoding);
}

void sym_frames_read(const struct sym_frames *frames, sym_frames_take *take, void *context)
{
	struct cursor all = { .frames = frames, .end = frames->size }, entry;
	uint64_t known = UINT64_MAX;
	uint8_t encoding = ABSOLUTE;

	while (next_entry(&all, &entry)) {
		size_t place = entry.at;
		uint64_t back = take_number(&entry, 4), address, size;

		if (back == 0)
			continue;
		if (back > place)
			return;
		if (place - back != known && !find_encoding(frames, place, back, &encoding))
			continue;
		known = place - back;
		address = take_address(&entry, encoding);
		size = take_value(&entry, encoding & (FORM & ~SIGNED));
		if (!entry.bad && size && address + size > address && !take(context, address, size))
			return;
	}
}
