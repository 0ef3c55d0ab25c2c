/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "agent/base/util.h"
#include "kallsyms.h"
#include "kernel_bytes.h"

enum { TOKENS = 256 };

/* The length of a name takes one byte, or two of seven bits each with the lower bits first. Returns how many. */
static size_t length_at(const uint8_t *at, const uint8_t *end, size_t *length)
{
	if (at == end)
		return 0;
	*length = *at & 0x7f;
	if (*at < 0x80)
		return 1;
	if (end - at < 2)
		return 0;
	*length |= (size_t)at[1] << 7;
	return 2;
}

/* Writes the name with its type in front, as far as there is room. */
static size_t expand(const struct kallsyms *kallsyms, const uint8_t *codes, size_t count, char *text, size_t room)
{
	size_t size = 0;

	for (size_t i = 0; i < count && size < room; i++) {
		const uint8_t *token = kallsyms->tokens + bytes_16(kallsyms->token_index + 2 * codes[i]);

		for (; *token && size < room; token++)
			text[size++] = (char)*token;
	}
	return size;
}

static void set_address(const struct kallsyms *kallsyms, struct kallsyms_cursor *cursor)
{
	const uint8_t *words = kallsyms->addresses;
	int64_t offset;

	cursor->absolute = false;
	if (kallsyms->kind == KALLSYMS_WORDS) {
		cursor->address = kallsyms->word == 8 ? bytes_64(words + (size_t)cursor->index * 8) :
			bytes_32(words + (size_t)cursor->index * 4);
		return;
	}
	offset = (int32_t)bytes_32(words + (size_t)cursor->index * 4);
	if (kallsyms->kind == KALLSYMS_OFFSETS)
		cursor->address = kallsyms->base + (uint32_t)offset;
	else if (offset < 0)
		cursor->address = kallsyms->base - 1 - (uint64_t)offset;
	else
		cursor->address = (uint64_t)offset;
	cursor->absolute = kallsyms->kind == KALLSYMS_OFFSETS_PERCPU && offset >= 0;
	if (kallsyms->word == 4)
		cursor->address &= UINT32_MAX;
}

bool kallsyms_next(const struct kallsyms *kallsyms, struct kallsyms_cursor *cursor)
{
	const uint8_t *at = cursor->next ? cursor->next : kallsyms->names;
	char text[1 + KALLSYMS_NAME_MAX];
	size_t length, head, size;

	if (cursor->index == kallsyms->count)
		return false;
	head = length_at(at, kallsyms->names_end, &length);
	if (!head || length > (size_t)(kallsyms->names_end - at) - head)
		return false;
	size = expand(kallsyms, at + head, length, text, sizeof(text));
	cursor->type = size ? text[0] : '?';
	cursor->size = size ? size - 1 : 0;
	memcpy(cursor->name, text + 1, cursor->size);
	cursor->name[cursor->size] = '\0';
	set_address(kallsyms, cursor);
	cursor->next = at + head + length;
	cursor->index++;
	return true;
}

/* ---- where it is ---- */

/*
 * The parts of the table, in the order in which the kernel's linker puts them; each is aligned to a word:
 *
 *	up to 6.3:	offsets, base, count, names, markers, [sequence], tokens, token index
 *	since 6.4:	count, names, markers, tokens, token index, offsets, base, [sequence]
 *
 * Markers: where each 256th name begins. Sequence: the order by name, three bytes each. The tokens for '0' to '9'
 * are these characters themselves, so a search can find them; it finds all other parts from there.
 */

enum {
	INDEX_SIZE = 2 * TOKENS, TOKENS_SIZE_MAX = 1 << 16,
	COUNT_MAX = 4 << 20, SPAN_MAX = 64 << 20,	/* symbols; bytes between the count and the tokens */
	NAME_LEAST = 2, NAME_AVERAGE_MAX = 160,		/* bytes of a packed name */
	MARKED = 256,
	STEPS_MAX = 1 << 26,				/* names that are looked at, in the whole search */
	FIRST = 16,					/* names that are read for a first check */
	HITS_MAX = 4096, TABLES_MAX = 16,		/* places with digits; those of them that have tokens */
};

static const char digits[20] = "0\0001\0002\0003\0004\0005\0006\0007\0008\0009";

struct search {
	const uint8_t *bytes;
	size_t size, word;
	size_t tokens, tokens_end, index;	/* offsets of the tokens and of their index */
	size_t steps;				/* names that may still be looked at */
};

static size_t up(size_t at, size_t word)
{
	return (at + word - 1) / word * word;
}

/* The offset behind `count` zero-terminated texts; 0: that is too far. */
static size_t skip_texts(const struct search *search, size_t at, size_t count)
{
	size_t limit = at + TOKENS_SIZE_MAX < search->size ? at + TOKENS_SIZE_MAX : search->size;

	for (; count; count--) {
		const uint8_t *end = at < limit ? memchr(search->bytes + at, 0, limit - at) : NULL;

		if (!end)
			return 0;
		at = (size_t)(end - search->bytes) + 1;
	}
	return at;
}

/* Do these digits belong to a table of tokens with its index behind it? */
static bool are_tokens(struct search *search, size_t at)
{
	size_t end = skip_texts(search, at, TOKENS - '0'), index, start;

	index = up(end, search->word);
	if (!end || index > search->size || search->size - index < INDEX_SIZE)
		return false;
	start = bytes_16(search->bytes + index + 2 * '0');
	if (start > at)
		return false;
	search->tokens = at - start;
	search->tokens_end = end;
	search->index = index;
	at = search->tokens;
	for (size_t i = 0; i < TOKENS; i++) {
		if (!at || search->tokens + bytes_16(search->bytes + index + 2 * i) != at)
			return i == 0 && at == 0;
		at = skip_texts(search, at, 1);
	}
	return at == end;
}

/* If names begin here: do the markers follow the last one, and the tokens the markers? */
static bool are_names(struct search *search, size_t names, uint32_t count, size_t *names_end)
{
	size_t marks = (count + MARKED - 1) / MARKED, at = names, markers, gap;
	const uint8_t *bytes = search->bytes;

	for (uint32_t i = 0; i < count; i++) {
		size_t length;

		if (search->steps-- == 1 || at >= search->tokens)
			return false;
		length = bytes[at] < 0x80 ? bytes[at] : (bytes[at] & 0x7f) | (size_t)bytes[at + 1] << 7;
		if (!length)
			return false;
		at += (bytes[at] < 0x80 ? 1 : 2) + length;
	}
	markers = up(at, search->word);
	*names_end = at;
	if (at > search->tokens || markers > search->tokens || 4 * marks > search->tokens - markers)
		return false;
	gap = search->tokens - up(markers + 4 * marks, search->word);
	if (gap && gap != up(3 * (size_t)count, search->word))
		return false;
	for (uint32_t i = 0, place = (uint32_t)names; i < count; i++) {
		if (i % MARKED == 0 && bytes_32(bytes + markers + i / MARKED * 4) != place - names)
			return false;
		place += bytes[place] < 0x80 ? 1u + bytes[place] :
			2u + ((bytes[place] & 0x7fu) | (unsigned)bytes[place + 1] << 7);
	}
	return true;
}

/* Are the first names symbols, judged by their types? */
static bool are_symbols(const struct kallsyms *kallsyms)
{
	struct kallsyms shape = *kallsyms;
	struct kallsyms_cursor cursor = { .index = 0 };

	shape.addresses = shape.names;		/* any valid place: the addresses are not used here */
	shape.kind = KALLSYMS_OFFSETS;
	shape.count = shape.count < FIRST ? shape.count : FIRST;
	if ((size_t)(shape.names_end - shape.names) < 4 * (size_t)shape.count)
		return false;
	while (kallsyms_next(&shape, &cursor)) {
		if (!isalpha((unsigned char)cursor.type) && cursor.type != '?' && cursor.type != '-')
			return false;
	}
	return cursor.index == shape.count;
}

/* The offset of the count, which stands before the names; 0: not found. */
static size_t find_count(struct search *search, struct kallsyms *kallsyms)
{
	size_t lowest = search->tokens > SPAN_MAX ? search->tokens - SPAN_MAX : 0;

	for (size_t at = search->tokens / search->word * search->word; at >= lowest + search->word;) {
		size_t names, end, span;
		uint32_t count;

		at -= search->word;
		count = bytes_32(search->bytes + at);
		names = at + search->word;
		span = search->tokens - names;
		if (!count || count > COUNT_MAX || count > span / NAME_LEAST || span / NAME_AVERAGE_MAX > count ||
				(search->word == 8 && bytes_32(search->bytes + at + 4)))
			continue;
		if (!search->steps)
			return 0;
		if (!are_names(search, names, count, &end))
			continue;
		kallsyms->count = count;
		kallsyms->names = search->bytes + names;
		kallsyms->names_end = search->bytes + end;
		if (are_symbols(kallsyms))
			return at;
	}
	return 0;
}

/* Do the addresses grow, and are they not all equal? */
static bool do_rise(const struct kallsyms *kallsyms)
{
	struct kallsyms all = *kallsyms;
	struct kallsyms_cursor cursor = { .index = 0 };
	uint64_t before = 0;
	uint32_t distinct = 0;

	while (kallsyms_next(&all, &cursor)) {
		uint64_t address = cursor.address - (kallsyms->kind == KALLSYMS_OFFSETS ? kallsyms->base : 0);

		if (address < before)
			return false;
		distinct += address != before;
		before = address;
	}
	return cursor.index == all.count && distinct >= all.count / 4;
}

/* A negative offset means that there are absolute symbols, too: no kernel is as large as 2 GB. */
static enum kallsyms_addresses kind_of(const struct kallsyms *kallsyms)
{
	for (uint32_t i = 0; i < kallsyms->count; i++) {
		if (bytes_32(kallsyms->addresses + (size_t)i * 4) >> 31)
			return KALLSYMS_OFFSETS_PERCPU;
	}
	return KALLSYMS_OFFSETS;
}

static bool try_offsets(const struct search *search, struct kallsyms *kallsyms, size_t offsets)
{
	size_t base = up(offsets + 4 * (size_t)kallsyms->count, search->word);

	if (base > search->size || search->word > search->size - base)
		return false;
	kallsyms->addresses = search->bytes + offsets;
	kallsyms->kind = kind_of(kallsyms);
	kallsyms->base_at = base;
	kallsyms->base = search->word == 8 ? bytes_64(search->bytes + base) : bytes_32(search->bytes + base);
	return do_rise(kallsyms);
}

static bool find_addresses(const struct search *search, struct kallsyms *kallsyms, size_t count)
{
	size_t words = search->word * (size_t)kallsyms->count;
	size_t offsets = up(4 * (size_t)kallsyms->count, search->word) + search->word;

	if (try_offsets(search, kallsyms, up(search->index + INDEX_SIZE, search->word)))
		return true;
	if (count >= offsets && try_offsets(search, kallsyms, count - offsets))
		return true;
	if (count < words)
		return false;
	kallsyms->addresses = search->bytes + count - words;
	kallsyms->kind = KALLSYMS_WORDS;
	kallsyms->base = kallsyms->base_at = 0;
	return do_rise(kallsyms);
}

bool kallsyms_find(const struct kernel_bytes *kernel, struct kallsyms *kallsyms)
{
	struct search search = {
		.bytes = kernel->bytes, .size = kernel->size, .word = kernel_bytes_word(kernel), .steps = STEPS_MAX,
	};
	const uint8_t *from = kernel->bytes, *end = from + kernel->size;

	for (int hits = 0, tables = 0; hits < HITS_MAX && tables < TABLES_MAX; hits++) {
		const uint8_t *hit = memmem(from, (size_t)(end - from), digits, sizeof(digits));
		size_t count;

		if (!hit)
			return false;
		from = hit + 1;
		if (!are_tokens(&search, (size_t)(hit - kernel->bytes)))
			continue;
		tables++;
		*kallsyms = (struct kallsyms) {
			.word = search.word,
			.tokens = search.bytes + search.tokens,
			.token_index = search.bytes + search.index,
		};
		count = find_count(&search, kallsyms);
		if (count && find_addresses(&search, kallsyms, count))
			return true;
	}
	return false;
}
