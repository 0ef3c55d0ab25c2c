/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/budget.h"
#include "agent/base/bytes.h"
#include "agent/base/util.h"
#include "boot_image.h"
#include "kernel_bytes.h"
#include "unpack.h"

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

static const char damaged[] = "it is damaged: its kernel lies beyond its end",
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
	*why = damaged;
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
