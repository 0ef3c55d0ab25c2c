/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "checksum.h"

/* CRC-32 of ITU-T V.42, lowest bit first: the table's entry of four bits. */
static uint32_t crc32_nibble(uint32_t nibble)
{
	for (uint32_t bit = 0; bit < 4; bit++)
		nibble = nibble >> 1 ^ (nibble & 1 ? 0xedb88320 : 0);
	return nibble;
}

static void crc32_table(uint32_t *table)
{
	for (uint32_t i = 0; i < 16; i++)
		table[i] = crc32_nibble(i);
}

uint32_t checksum_crc32(uint32_t sum, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint32_t table[16];

	crc32_table(table);
	sum = ~sum;
	for (size_t i = 0; i < size; i++) {
		sum ^= at[i];
		sum = sum >> 4 ^ table[sum & 15];
		sum = sum >> 4 ^ table[sum & 15];
	}
	return ~sum;
}

/* RFC 1950, section 8.2. */
uint32_t checksum_adler32(uint32_t sum, const void *bytes, size_t size)
{
	uint32_t low = sum & 0xffff, high = sum >> 16;
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i++) {
		low = (low + at[i]) % 65521;
		high = (high + low) % 65521;
	}
	return high << 16 | low;
}
