/* SPDX-License-Identifier: MIT */
/* A new format needs a file of its own and a row here. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/base/util_file.h"
#include "agent/samples/sample_set.h"
#include "set_import.h"

/* ---- gunzip ---- */

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

/* ---- what it is that none of the formats is ---- */

static const char older[] = "it is a profile of pprof's older form; convert it: pprof -proto -output=FILE PROGRAM OLD";
static const char json[] = "it is JSON; give folded stacks, or a profile of pprof";
static const char page[] = "it is a picture or a page; give folded stacks, or a profile of pprof";

struct other {
	const char *begins, *is;	/* is: "why; what to do" */
	size_t size;
	const char *packer;		/* that has packed it; NULL: see `is` */
};

#define OTHER(begins, is) { begins, is, sizeof(begins) - 1, NULL }
#define PACKED(begins, packer) { begins, NULL, sizeof(begins) - 1, packer }

static const struct other others[] = {
	OTHER("heap profile: ", older), OTHER("heapprofile: ", older),
	OTHER("goroutine profile: ", older), OTHER("threadcreate profile: ", older),
	OTHER("--- ", older), OTHER("heap_v2/", older),
	/* of gperftools: words of 4 or 8 bytes, 0 and 3 at first */
	OTHER("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", older), OTHER("\0\0\0\0\3\0\0\0", older),
	OTHER("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3", older), OTHER("\0\0\0\0\0\0\0\3", older),
	OTHER("PERFILE2", "it is perf's own file; give what perf script says of it, folded by stackcollapse-perf.pl"),
	OTHER("\177ELF", "it is a program, not a profile; ktop diff --size compares programs"),
	OTHER("{\"", json), OTHER("{\n", json), OTHER("[{", json),
	PACKED("\3757zXZ", "xz"),
	PACKED("\x28\xb5\x2f\xfd", "zstd"),
	PACKED("BZh", "bzip2"),
	PACKED("\x04\x22\x4d\x18", "lz4"),
	PACKED("\x02\x21\x4c\x18", "lz4"),
	PACKED("\x5d\0\0", "lzma"),
	PACKED("\x89LZO", "lzop"),
	PACKED("\x1f\x9d", "compress"),
	PACKED("\x1f\x8b", "gzip, twice"),
	PACKED("PK\3\4", "zip"),
	OTHER("<?xml ", page), OTHER("<svg ", page), OTHER("<!DOCTYPE ", page),
};

static const struct other *other_of(const char *bytes, size_t size)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (size >= others[i].size && memcmp(bytes, others[i].begins, others[i].size) == 0)
			return &others[i];
	return NULL;
}

static bool is_other(const char *bytes, size_t size)
{
	return other_of(bytes, size);
}

static bool refuse_other(struct sample_set *set, char *bytes, size_t size, struct budget *budget, char **error)
{
	const struct other *other = other_of(bytes, size);

	(void)set;
	(void)budget;
	if (other->packer)
		return util_fail(error, "it is packed by %s; unpack it", other->packer);
	return util_fail(error, "%s", other->is);
}

static const struct set_import import_other = { .name = "other", .fits = is_other, .read = refuse_other };

static const struct set_import *const set_imports[] = {
	&import_other,
	&import_pprof,
	&import_folded,
};

static const char no_memory[] = "there is no memory for so much; give more by --memory";

/* NULL with `error` set; without it there is no memory. */
static struct sample_set *read_set(char *bytes, size_t size, struct budget *budget, char **error)
{
	struct sample_set *set = sample_set_new(budget);
	const struct set_import *const *import = set_imports;

	while (!(*import)->fits(bytes, size))
		import++;
	if ((*import)->read(set, bytes, size, budget, error) && !sample_set_is_full(set))
		return set;
	if (sample_set_is_full(set)) {
		free(*error);
		*error = NULL;
	}
	sample_set_free(set);
	return NULL;
}

static struct sample_set *read_packed(const char *bytes, size_t size, struct budget *budget, char **error)
{
	struct sample_set *set = NULL;
	struct gunzip unpacked;

	if (gunzip_all(&unpacked, bytes, size, budget, error))
		set = read_set(unpacked.bytes, unpacked.size, budget, error);
	gunzip_clear(&unpacked, budget);
	return set;
}

struct sample_set *set_import_bytes(char *bytes, size_t size, struct budget *budget, char **error)
{
	char *why = NULL;
	struct sample_set *set = gunzip_fits(bytes, size) ? read_packed(bytes, size, budget, &why) :
		read_set(bytes, size, budget, &why);

	if (!set)
		util_fail(error, "%s", why ? why : no_memory);
	free(why);
	return set;
}

struct file_bytes {
	char *bytes;
	size_t size, room;
};

enum {
	PIECE = 64 << 10,
	PIPE_MS = 30000,		/* the longest wait for a pipe's writer */
};

/* Makes room for one more piece and a zero. False: there is none. */
static bool have_room(struct file_bytes *read, struct budget *budget)
{
	size_t room = 2 * read->room + PIECE + 1;
	char *moved;

	if (read->room - read->size > PIECE)
		return true;
	moved = budget_resize(budget, read->bytes, read->room, room);
	if (moved) {
		read->bytes = moved;
		read->room = room;
	}
	return moved;
}

/* Reads all, and puts a zero behind it. False with `error` set: "why; what to do". */
static bool read_all(struct file_bytes *read, FILE *file, struct budget *budget, char **error)
{
	size_t got;

	do {
		if (!have_room(read, budget))
			return util_fail(error, "%s", no_memory);
		got = fread(read->bytes + read->size, 1, PIECE, file);
		read->size += got;
	} while (got == PIECE);
	read->bytes[read->size] = 0;
	return !ferror(file) || util_fail(error, "%s; copy it to another disk", strerror(errno));
}

struct sample_set *set_import_file(const char *path, struct budget *budget, char **error)
{
	struct spool spool = { .fd = -1 };		/* `diff <(gzip -dc a) b` gives a pipe */
	struct file_bytes read = { 0 };
	struct sample_set *set = NULL;
	const char *what = NULL;
	char *why = NULL;
	FILE *file;
	int fd;

	if (!spool_open(&spool, path, PIPE_MS, budget, error))
		return NULL;
	fd = util_file_read(AT_FDCWD, spool.path, 0, &what);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	spool_close(&spool);
	if (!file) {
		util_fail(error, "%s: not read: %s; %s", path, what ? what : strerror(errno),
			util_open_remedy(what ? 0 : errno, "name a file of stacks"));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (read_all(&read, file, budget, &why))
		set = set_import_bytes(read.bytes, read.size, budget, &why);
	if (!set)
		util_fail(error, "%s: not read: %s", path, why);
	free(why);
	budget_free(budget, read.bytes, read.room);
	fclose(file);
	return set;
}
