/* SPDX-License-Identifier: MIT */
/* Reads little-endian numbers from bytes, at any alignment. The caller has checked that the bytes are there. */
#ifndef BYTES_H
#define BYTES_H

#include <stdint.h>

static inline uint16_t bytes_16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t bytes_32(const uint8_t *bytes)
{
	return (uint32_t)bytes_16(bytes) | (uint32_t)bytes_16(bytes + 2) << 16;
}

static inline uint64_t bytes_64(const uint8_t *bytes)
{
	return (uint64_t)bytes_32(bytes) | (uint64_t)bytes_32(bytes + 4) << 32;
}

#endif
