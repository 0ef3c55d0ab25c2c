/* SPDX-License-Identifier: MIT */
/* Checksums. `sum` is the result for the bytes before; at the beginning it is 0 for CRC-32, 1 for Adler-32. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint32_t checksum_crc32(uint32_t sum, const void *bytes, size_t size);
uint32_t checksum_adler32(uint32_t sum, const void *bytes, size_t size);

#endif
