/* SPDX-License-Identifier: MIT */
/* Checksums: both take what they gave for the bytes before, or 0 and 1. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint32_t checksum_crc32(uint32_t sum, const void *bytes, size_t size);
uint32_t checksum_adler32(uint32_t sum, const void *bytes, size_t size);

#endif
