/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stddef.h>
#include <zlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "gunzip.h"

enum { FIRST = 64 << 10 };		/* bytes */

bool gunzip_fits(const char *bytes, size_t size)
{
	return size > 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b;
}

/* Makes room for more, and for a zero. */
static bool grow(struct gunzip *to, struct budget *budget)
{
	size_t room = to->room ? 2 * to->room : FIRST;
	char *moved;

	if (to->room - to->size > 1)
		return true;
	moved = budget_resize(budget, to->bytes, to->room, room);
	if (!moved)
		return false;
	to->bytes = moved;
	to->room = room;
	return true;
}

static uInt portion(size_t size)
{
	return size < UINT_MAX ? (uInt)size : UINT_MAX;
}

/* Unpacks what has room. Returns what zlib says. */
static int step(z_stream *zip, struct gunzip *to, const char *end)
{
	uInt room = portion(to->room - to->size - 1);
	int result;

	zip->avail_in = portion((size_t)(end - (const char *)zip->next_in));
	zip->next_out = (Bytef *)to->bytes + to->size;
	zip->avail_out = room;
	result = inflate(zip, Z_NO_FLUSH);
	to->size += room - zip->avail_out;
	return result;
}

static bool unpack(z_stream *zip, struct gunzip *to, const char *end, struct budget *budget, char **error)
{
	for (;;) {
		int result = grow(to, budget) ? step(zip, to, end) : Z_MEM_ERROR;
		size_t left = (size_t)(end - (const char *)zip->next_in);

		if (result == Z_MEM_ERROR)
			return false;
		if (result == Z_STREAM_END && !gunzip_fits((const char *)zip->next_in, left)) {
			while (left && !end[-(ptrdiff_t)left])		/* zeros fill up a block */
				left--;
			return !left || util_fail(error, "it is packed by gzip, and has other bytes behind its end; "
				"give the file as it was written");
		}
		if (result == Z_STREAM_END ? inflateReset(zip) != Z_OK : result != Z_OK)
			return util_fail(error, "it is packed by gzip, and damaged or cut; give the whole file");
	}
}

bool gunzip_all(struct gunzip *to, const char *bytes, size_t size, struct budget *budget, char **error)
{
	z_stream zip = { .next_in = (Bytef *)bytes };
	bool good;

	*to = (struct gunzip) { 0 };
	if (inflateInit2(&zip, 16 + MAX_WBITS) != Z_OK)	/* 16: with gzip's header */
		return false;
	good = unpack(&zip, to, bytes + size, budget, error);
	if (good)
		to->bytes[to->size] = 0;
	inflateEnd(&zip);
	return good;
}

void gunzip_clear(struct gunzip *to, struct budget *budget)
{
	budget_free(budget, to->bytes, to->room);
	*to = (struct gunzip) { 0 };
}
