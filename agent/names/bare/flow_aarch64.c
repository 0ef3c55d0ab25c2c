/* SPDX-License-Identifier: MIT */
/* Arm ARM, C4.1 and C6.2. */
#include <stdbool.h>

#include "agent/base/bytes.h"
#include "flow_parts.h"

enum { SIZE = 4, NOP = 0xd503201f };

/* `bits` bits of the word, from `low` on: a distance in instructions. */
static uint64_t target_of(uint32_t word, unsigned low, unsigned bits, uint64_t address)
{
	int64_t distance = (int32_t)(word << (32 - low - bits)) >> (32 - bits);

	return address + (uint64_t)(distance * SIZE);
}

/* B.cond, CBZ, CBNZ; TBZ, TBNZ. */
static bool is_branch(uint32_t word)
{
	return word >> 24 == 0x54 || (word & 0x7e000000) == 0x34000000;
}

static bool is_test(uint32_t word)
{
	return (word & 0x7e000000) == 0x36000000;
}

/* RET, RETAA, RETAB; ERET. */
static bool is_return(uint32_t word)
{
	return (word & 0xfffff000) == 0xd65f0000 || (word & 0xfffff000) == 0xd69f0000;
}

void flow_aarch64(const uint8_t *bytes, size_t left, uint64_t address, struct flow *flow)
{
	uint32_t word;

	*flow = (struct flow) { .size = SIZE };
	if (left < SIZE)
		return;
	word = bytes_32(bytes);
	if (word >> 26 == 0x25 || word >> 26 == 0x05) {
		flow->kind = word >> 31 ? FLOW_CALL : FLOW_JUMP;
		flow->target = target_of(word, 0, 26, address);
	} else if (is_branch(word) || is_test(word)) {
		flow->kind = FLOW_BRANCH;
		flow->target = target_of(word, 5, is_test(word) ? 14 : 19, address);
	} else if ((word & 0xfefff000) == 0xd63f0000) {
		flow->kind = FLOW_CALL_REGISTER;
	} else if ((word & 0xfefff000) == 0xd61f0000) {
		flow->kind = FLOW_JUMP_REGISTER;
	} else if (is_return(word)) {
		flow->kind = FLOW_RETURN;
	} else if (word == NOP || word == 0) {
		flow->kind = FLOW_PADDING;
	}
}
