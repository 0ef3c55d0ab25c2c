/* SPDX-License-Identifier: MIT */
#define ZSTD_STATIC_LINKING_ONLY	/* the bound of a stream */
#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <unistd.h>
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

/* What stands in a boot image is one frame, with its size behind; a file is made of frames. */
static const char *unpack_zstd(const struct packed *packed, struct unpacked *to)
{
	size_t frame = ZSTD_findFrameCompressedSize(packed->bytes, packed->size), size;
	bool file = ZSTD_decompressBound(packed->bytes, packed->size) != ZSTD_CONTENTSIZE_ERROR;

	if (ZSTD_isError(frame))
		return damaged;
	size = ZSTD_decompress(to->bytes, to->room, packed->bytes, file ? packed->size : frame);
	if (ZSTD_isError(size))
		return damaged;
	to->size = size;
	return NULL;
}

/* Bytes of a whole file of zstd, or more: a stream may not tell. False: it is none, there is something behind it. */
static bool zstd_room(const struct packed *packed, uint64_t *room)
{
	unsigned long long size = ZSTD_findDecompressedSize(packed->bytes, packed->size);

	if (size == ZSTD_CONTENTSIZE_UNKNOWN)
		size = ZSTD_decompressBound(packed->bytes, packed->size);
	*room = size;
	return size != ZSTD_CONTENTSIZE_ERROR;
}

/* Bytes of a whole file of lz4's older form, or more. False: it is none, as of zstd. */
static bool lz4_room(const struct packed *packed, uint64_t *room)
{
	uint64_t at = 4;
	uint32_t size = 1;

	for (*room = 0; size && at + 4 < packed->size; *room += LZ4_BLOCK) {
		size = word_at(packed->bytes + at);
		at += 4 + (uint64_t)size;
	}
	return size && at == packed->size;
}

/* Reads blocks, each with its size in front of it. Other kinds of blocks do not occur. */
static const char *unpack_lz4(const struct packed *packed, struct unpacked *to)
{
	size_t at = 4, left = packed->size;

	while (at + TRAILER < left) {
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
	const char *is;
	const char *(*unpack)(const struct packed *packed, struct unpacked *to);	/* NULL: not here */
} formats[] = {
	{ { 0x1f, 0x8b }, 2, "it is packed by gzip: unpack it", unpack_gzip },
	{ { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, "it is packed by xz: unpack it", unpack_xz },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, "it is packed by zstd: unpack it", unpack_zstd },
	{ { 0x02, 0x21, 0x4c, 0x18 }, 4, "it is packed by lz4: unpack it", unpack_lz4 },
	{ { 0x04, 0x22, 0x4d, 0x18 }, 4, "it is packed by lz4: unpack it", NULL },
	{ { 'B', 'Z', 'h' }, 3, "it is packed by bzip2: unpack it", NULL },
	{ { 0x5d, 0, 0 }, 3, "it is packed by lzma: unpack it", NULL },
	{ { 0x89, 'L', 'Z', 'O' }, 4, "it is packed by lzop: unpack it", NULL },
	{ { 'P', 'K', 3, 4 }, 4, "it is packed by zip: unpack it", NULL },
};

static const struct format *format_of(const uint8_t *packed, size_t size)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (size >= sizeof(formats[i].magic) && memcmp(packed, formats[i].magic, formats[i].size) == 0)
			return &formats[i];
	}
	return NULL;
}

bool unpack_knows(const uint8_t *packed, size_t size)
{
	const struct format *format = format_of(packed, size);

	return format && format->unpack;
}

const char *unpack_told(int fd, const char *otherwise)
{
	uint8_t head[sizeof(formats->magic)];
	const struct format *format = pread(fd, head, sizeof(head), 0) == sizeof(head) ?
		format_of(head, sizeof(head)) : NULL;

	return format ? format->is : otherwise;
}

bool unpack(const uint8_t *packed, size_t size, struct budget *budget, struct unpacked *unpacked,
	const char **why)
{
	const struct format *format = format_of(packed, size);
	const struct packed input = { .bytes = packed, .size = size, .budget = budget };
	uint64_t room = 0;

	*unpacked = (struct unpacked) { .bytes = NULL };
	*why = "it is packed in a way that ktop does not know (it knows gzip, xz, zstd and lz4)";
	if (!format)
		return false;
	*why = format->is;
	if (!format->unpack || (format->unpack == unpack_xz && memcmp(packed + size - 2, "YZ", 2) == 0))
		return false;				/* so ends a file of xz */
	if (!(format->unpack == unpack_zstd && zstd_room(&input, &room)) &&
			!(format->unpack == unpack_lz4 && lz4_room(&input, &room)))
		room = word_at(packed + size - TRAILER);
	*why = "it says that it is larger than any kernel, or empty: it is damaged";
	if (!room || room > UNPACK_MOST || size > UNPACK_MOST)
		return false;
	*why = no_memory;
	unpacked->bytes = room > budget_left(budget) ? NULL : budget_resize(budget, NULL, 0, (size_t)room);
	if (!unpacked->bytes)
		return false;
	unpacked->room = (size_t)room;
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
