/* SPDX-License-Identifier: MIT */
#define ZSTD_STATIC_LINKING_ONLY	/* the bound of a stream */
#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "boot_image.h"
#include "kernel_bytes.h"

/* ---- to unpack a kernel ---- */

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

/* Does it begin like a format that unpack knows? */
static bool unpack_knows(const uint8_t *packed, size_t size)
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

/* ---- boot image ---- */

enum {
	HEAD = 0x260,			/* bytes that tell the kind of image, and where its payload is */
	ELF_HEAD = 4096,		/* bytes that hold an ELF file's program headers: linkers put them first */
	X86_SECTORS = 0x1f1, X86_MAGIC = 0x202, X86_VERSION = 0x206, X86_PAYLOAD = 0x248,
	X86_PAYLOAD_SINCE = 0x208,	/* version 2.08 of the boot protocol */
	X86_ADDRESS = 0x258, X86_ROOM = 0x260, X86_ROOM_SINCE = 0x20a, ROOM_HEAD = 0x264,
	SECTOR = 512, SECTORS_OF_OLD = 4,
	ARM64_MAGIC = 0x38, RISCV_MAGIC = 0x38,
	ZBOOT_MAGIC = 4, ZBOOT_PAYLOAD = 8,
};

static const char boot_image_damaged[] = "it is damaged: its kernel lies beyond its end",
	no_linux[] = "it boots as Linux does, but is none: nothing is packed in it";

enum kind { NO_BOOT_IMAGE, BZIMAGE, IMAGE, ZBOOT, PACKED };

static enum kind kind_of(const uint8_t *head, size_t size)
{
	if (size < HEAD)
		return NO_BOOT_IMAGE;
	if (memcmp(head + X86_MAGIC, "HdrS", 4) == 0)
		return BZIMAGE;
	if (memcmp(head, "MZ", 2) == 0 && memcmp(head + ZBOOT_MAGIC, "zimg", 4) == 0)
		return ZBOOT;
	if (memcmp(head + ARM64_MAGIC, "ARM\x64", 4) == 0 || memcmp(head + RISCV_MAGIC, "RSC\x05", 4) == 0)
		return IMAGE;
	return unpack_knows(head, size) ? PACKED : NO_BOOT_IMAGE;
}

bool boot_image_is(int fd)
{
	uint8_t head[HEAD];

	return pread(fd, head, HEAD, 0) == HEAD && kind_of(head, HEAD) != NO_BOOT_IMAGE;
}

/* Reads the file's first `size` bytes. */
static bool read_first(int fd, uint64_t size, struct budget *budget, struct unpacked *file, const char **why)
{
	*why = "it is larger than any kernel";
	if (size > UNPACK_MOST)
		return false;
	*why = "there is no memory for it (--memory gives more)";
	if (size > budget_left(budget))
		return false;
	file->bytes = budget_resize(budget, NULL, 0, (size_t)size);
	if (!file->bytes)
		return false;
	file->room = (size_t)size;
	while (file->size < file->room) {
		ssize_t got = pread(fd, file->bytes + file->size, file->room - file->size, (off_t)file->size);

		*why = got < 0 ? strerror(errno) : "it has become shorter meanwhile";
		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		file->size += got > 0 ? (size_t)got : 0;
	}
	return true;
}

uint64_t boot_image_room(int fd, uint64_t *start)
{
	uint8_t head[ROOM_HEAD];
	uint64_t address;

	*start = 0;
	if (pread(fd, head, ROOM_HEAD, 0) != ROOM_HEAD || kind_of(head, HEAD) != BZIMAGE ||
			bytes_16(head + X86_VERSION) < X86_ROOM_SINCE)
		return 0;
	address = bytes_64(head + X86_ADDRESS);
	if (address >= UINT32_MAX)
		return 0;
	*start = address;
	return address + bytes_32(head + X86_ROOM);
}

static bool read_file(int fd, struct budget *budget, struct unpacked *file, const char **why)
{
	struct stat facts;

	*why = "its size is not known";
	return fstat(fd, &facts) == 0 && read_first(fd, (uint64_t)facts.st_size, budget, file, why);
}

/* Finds the payload. False with `*why`. */
static bool find_payload(const struct unpacked *file, enum kind kind, size_t *at, size_t *size,
	const char **why)
{
	const uint8_t *head = file->bytes, *payload = head + (kind == ZBOOT ? ZBOOT_PAYLOAD : X86_PAYLOAD);

	*at = 0;
	*size = file->size;
	if (kind == PACKED)
		return true;
	*why = "its header tells of no payload: it is older than Linux 2.6.26, or no Linux";
	if (kind == BZIMAGE && bytes_16(head + X86_VERSION) < X86_PAYLOAD_SINCE)
		return false;
	*why = no_linux;
	if (kind == BZIMAGE && !bytes_32(payload + 4))
		return false;
	if (kind == BZIMAGE)
		*at = ((head[X86_SECTORS] ? head[X86_SECTORS] : SECTORS_OF_OLD) + 1) * SECTOR;
	*at += bytes_32(payload);
	*size = bytes_32(payload + 4);
	*why = boot_image_damaged;
	return *at <= file->size && *size <= file->size - *at;
}

/* Replaces the file by what is packed in it, and again, as long as the result is packed, too. */
static bool unwrap(struct unpacked *file, struct budget *budget, const char **why)
{
	enum kind kind = kind_of(file->bytes, file->size);
	struct unpacked kernel;
	size_t at, size;

	if (kind == NO_BOOT_IMAGE || kind == IMAGE)
		return true;
	if (!find_payload(file, kind, &at, &size, why) ||
			!unpack(file->bytes + at, size, budget, &kernel, why))
		return false;
	unpack_free(file, budget);
	*file = kernel;
	return true;
}

bool boot_image_read(int fd, const char *path, struct budget *budget, struct unpacked *kernel, char **error)
{
	const char *why;

	*kernel = (struct unpacked) { .bytes = NULL };
	if (read_file(fd, budget, kernel, &why) && unwrap(kernel, budget, &why) && unwrap(kernel, budget, &why))
		return true;
	unpack_free(kernel, budget);
	if (why == no_linux)
		return util_fail(error, "cannot read the kernel in %s: %s; give its ELF file by --kernel, or the "
			"output of nm by --symbols", path, why);
	return util_fail(error, "cannot read the kernel in %s: %s; give vmlinux by --kernel, or System.map by "
		"--symbols", path, why);
}

bool boot_image_read_elf(int fd, struct budget *budget, struct unpacked *kernel, const char **why)
{
	uint8_t head[ELF_HEAD];
	ssize_t got = pread(fd, head, sizeof(head), 0);
	uint64_t loaded = got > 0 ? kernel_bytes_loaded(head, (size_t)got) : 0;

	*kernel = (struct unpacked) { .bytes = NULL };
	*why = "it is no ELF file that loads anything";
	return loaded && read_first(fd, loaded, budget, kernel, why);
}
