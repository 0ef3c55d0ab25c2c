/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "agent/base/budget.h"
#include "unpack.h"

static const char no_memory[] = "there is no memory to unpack it (--memory gives more)",
	damaged[] = "it is damaged";

enum { LZ4_BLOCK = 8 << 20, TRAILER = 4 };	/* bytes: of a legacy lz4 block unpacked; of a size */

struct packed {
	const uint8_t *bytes;
	size_t size;
	struct budget *budget;
};

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
		(uint32_t)bytes[3] << 24;
}

static const char *unpack_gzip(const struct packed *packed, struct unpacked *to)
{
	z_stream stream = {
		.next_in = (Bytef *)packed->bytes, .avail_in = (uInt)packed->size,
		.next_out = to->bytes, .avail_out = (uInt)to->room,
	};
	int result;

	if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)	/* 16: with gzip's header */
		return no_memory;
	result = inflate(&stream, Z_FINISH);
	to->size = stream.total_out;
	inflateEnd(&stream);
	if (result == Z_MEM_ERROR)
		return no_memory;
	return result == Z_STREAM_END ? NULL : damaged;
}

static lzma_ret decode_xz(const struct packed *packed, struct unpacked *to, uint64_t *memory)
{
	size_t from = 0;

	to->size = 0;
	return lzma_stream_buffer_decode(memory, 0, NULL, packed->bytes, &from, packed->size, to->bytes,
		&to->size, to->room);
}

/* First tries with almost no memory: xz then tells how much it needs. */
static const char *unpack_xz(const struct packed *packed, struct unpacked *to)
{
	uint64_t memory = 1;
	lzma_ret result = decode_xz(packed, to, &memory);

	if (result != LZMA_MEMLIMIT_ERROR)
		return damaged;
	if (memory > UNPACK_MOST || !budget_take(packed->budget, memory))
		return no_memory;
	result = decode_xz(packed, to, &(uint64_t) { memory });
	budget_give(packed->budget, memory);
	if (result == LZMA_MEM_ERROR)
		return no_memory;
	return result == LZMA_OK ? NULL : damaged;
}

static const char *unpack_zstd(const struct packed *packed, struct unpacked *to)
{
	size_t frame = ZSTD_findFrameCompressedSize(packed->bytes, packed->size), size;

	if (ZSTD_isError(frame))
		return damaged;
	size = ZSTD_decompress(to->bytes, to->room, packed->bytes, frame);
	if (ZSTD_isError(size))
		return damaged;
	to->size = size;
	return NULL;
}

/* Reads blocks, each with its size in front of it. Other kinds of blocks do not occur. */
static const char *unpack_lz4(const struct packed *packed, struct unpacked *to)
{
	size_t at = 4, left = packed->size - TRAILER;

	while (at + 4 <= left) {
		uint32_t size = word_at(packed->bytes + at);
		size_t room = to->room - to->size < LZ4_BLOCK ? to->room - to->size : LZ4_BLOCK;
		int got;

		at += 4;
		if (size > left - at || size > INT_MAX)
			return damaged;
		got = LZ4_decompress_safe((const char *)packed->bytes + at, (char *)to->bytes + to->size,
			(int)size, (int)room);
		if (got <= 0)
			return damaged;
		to->size += (size_t)got;
		at += size;
	}
	return NULL;
}

static const struct format {
	uint8_t magic[6];
	size_t size;
	const char *(*unpack)(const struct packed *packed, struct unpacked *to);	/* NULL: done */
} formats[] = {
	{ { 0x1f, 0x8b }, 2, unpack_gzip },
	{ { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, unpack_xz },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, unpack_zstd },
	{ { 0x02, 0x21, 0x4c, 0x18 }, 4, unpack_lz4 },
};

static const struct format *format_of(const uint8_t *packed, size_t size)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (size >= sizeof(formats[i].magic) + TRAILER &&
				memcmp(packed, formats[i].magic, formats[i].size) == 0)
			return &formats[i];
	}
	return NULL;
}

bool unpack_knows(const uint8_t *packed, size_t size)
{
	return format_of(packed, size);
}

bool unpack(const uint8_t *packed, size_t size, struct budget *budget, struct unpacked *unpacked,
	const char **why)
{
	const struct format *format = format_of(packed, size);
	const struct packed input = { .bytes = packed, .size = size, .budget = budget };
	uint32_t room = format ? word_at(packed + size - TRAILER) : 0;

	*unpacked = (struct unpacked) { .bytes = NULL };
	*why = "it is packed in a way that ktop does not know (it knows gzip, xz, zstd and lz4)";
	if (!format)
		return false;
	*why = "it is an xz file, and no boot image of Linux: unpack it";
	if (format->unpack == unpack_xz && memcmp(packed + size - 2, "YZ", 2) == 0)	/* the end of such a file */
		return false;
	*why = "it says that it is larger than any kernel, or empty: it is damaged";
	if (!room || room > UNPACK_MOST || size > UNPACK_MOST)
		return false;
	*why = no_memory;
	unpacked->bytes = room > budget_left(budget) ? NULL : budget_resize(budget, NULL, 0, room);
	if (!unpacked->bytes)
		return false;
	unpacked->room = room;
	*why = format->unpack(&input, unpacked);
	if (!*why)
		return true;
	unpack_free(unpacked, budget);
	return false;
}

void unpack_free(struct unpacked *unpacked, struct budget *budget)
{
	budget_free(budget, unpacked->bytes, unpacked->room);
	*unpacked = (struct unpacked) { .bytes = NULL };
}

bool unpack_zstd_all(const uint8_t *packed, size_t size, uint8_t *to, size_t room)
{
	return ZSTD_decompress(to, room, packed, size) == room;
}
