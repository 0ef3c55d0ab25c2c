/* SPDX-License-Identifier: MIT */
/*
 * The file that a boot loader loads: a bzImage (linux/Documentation/arch/x86/boot.rst), an Image of arm64
 * (arch/arm64/booting.rst) or riscv64, an Image.gz, or an EFI zboot image. Unpacking gives the kernel as it
 * was linked: an ELF file; or, from an Image, its bytes from the start on.
 */
#ifndef BOOT_IMAGE_H
#define BOOT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget;
struct unpacked;

/* Does the file begin like a boot image? An ELF file does not. */
bool boot_image_is(int fd);

/*
 * A bzImage unpacks its kernel within physical memory from 1 MiB up to this address, by its header (pref_address and
 * init_size). Where UEFI loads it, it stays above `start`, which is pref_address. 0: it is no bzImage, or its header is
 * too old to tell.
 */
uint64_t boot_image_room(int fd, uint64_t *start);

/* False with `error` set. `path` is for the error. */
bool boot_image_read(int fd, const char *path, struct budget *budget, struct unpacked *kernel, char **error);

/*
 * Reads what an ELF file loads: from its beginning to the end of its last segment. False with `*why`: it cannot be
 * read, or is no little-endian ELF file. The caller calls unpack_free in either case.
 */
bool boot_image_read_elf(int fd, struct budget *budget, struct unpacked *kernel, const char **why);

/* ---- to unpack a kernel ---- */

/*
 * Unpacks gzip, xz, zstd and lz4, as boot images contain them, and zstd as ELF files do. The only file that uses their
 * libraries.
 */

enum { UNPACK_MOST = 256 << 20 };	/* bytes; no kernel is larger */

struct unpacked {			/* unpack_free frees it */
	uint8_t *bytes;
	size_t size;			/* bytes in use; the budget is charged for `room` */
	size_t room;
};

/* What a file is that is packed, also in ways that unpack does not know, and what to do; `otherwise` if it is not. */
const char *unpack_told(int fd, const char *otherwise);

/*
 * The frames of a whole file of zstd or lz4 tell how large it is at most. Else the last four bytes tell the size once
 * unpacked: Linux puts them behind each payload, and gzip does, too. This takes that much memory and no more, and ends
 * where the input ends. False with `*why`.
 */
bool unpack(const uint8_t *packed, size_t size, struct budget *budget, struct unpacked *unpacked,
	const char **why);
void unpack_free(struct unpacked *unpacked, struct budget *budget);

/* Unpacks frames of zstd that are `room` bytes in all. False: they are not, or are damaged. */
bool unpack_zstd_all(const uint8_t *packed, size_t size, uint8_t *to, size_t room);

#endif
