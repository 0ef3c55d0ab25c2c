/* SPDX-License-Identifier: MIT */
/*
 * The file that a boot loader is given: a bzImage (linux/Documentation/arch/x86/boot.rst), an Image of
 * arm64 (arch/arm64/booting.rst) or riscv64, one packed as Image.gz, or in an EFI zboot image. What
 * comes out is the kernel as it was linked: ELF, or, out of an Image, its bytes from its start on.
 */
#ifndef BOOT_IMAGE_H
#define BOOT_IMAGE_H

#include <stdbool.h>

struct budget;
struct unpacked;

/* Does the file begin like one? No ELF file does. */
bool boot_image_is(int fd);

/* False with `error` set; `path` is for that. */
bool boot_image_read(int fd, const char *path, struct budget *budget, struct unpacked *kernel, char **error);

#endif
