/* SPDX-License-Identifier: MIT */
/* RISC-V ISA manual, volume I, 2.5, and the C extension. */
#include <stdbool.h>

#include "agent/base/bytes.h"
#include "flow_parts.h"

enum { RA = 1, T0 = 5 };		/* registers */

/* `bits` bits of the word, from `low` on, moved to `place`. */
static uint32_t part(uint32_t word, unsigned low, unsigned bits, unsigned place)
{
	return (word >> low & ((1u << bits) - 1)) << place;
}

static uint64_t plus(uint64_t address, uint32_t distance, unsigned bits)
{
	return address + (uint64_t)(int64_t)((int32_t)(distance << (32 - bits)) >> (32 - bits));
}

static void set_jump(struct flow *flow, unsigned link, uint64_t target)
{
	flow->kind = link ? FLOW_CALL : FLOW_JUMP;
	flow->target = target;
}

static void set_register(struct flow *flow, unsigned link, unsigned from)
{
	if (link)
		flow->kind = FLOW_CALL_REGISTER;
	else
		flow->kind = from == RA || from == T0 ? FLOW_RETURN : FLOW_JUMP_REGISTER;
}

/* C.J, C.BEQZ, C.BNEZ, C.JR, C.JALR, C.NOP; and zeros, which are none. */
static void read_short(uint32_t half, uint64_t address, struct flow *flow)
{
	unsigned from = half >> 7 & 31;

	if ((half & 0xe003) == 0xa001) {
		uint32_t distance = part(half, 12, 1, 11) | part(half, 11, 1, 4) | part(half, 9, 2, 8) |
			part(half, 8, 1, 10) | part(half, 7, 1, 6) | part(half, 6, 1, 7) | part(half, 3, 3, 1) |
			part(half, 2, 1, 5);

		set_jump(flow, 0, plus(address, distance, 12));
	} else if ((half & 0xc003) == 0xc001) {
		uint32_t distance = part(half, 12, 1, 8) | part(half, 10, 2, 3) | part(half, 5, 2, 6) |
			part(half, 3, 2, 1) | part(half, 2, 1, 5);

		flow->kind = FLOW_BRANCH;
		flow->target = plus(address, distance, 9);
	} else if ((half & 0xe07f) == 0x8002 && from) {
		set_register(flow, half >> 12 & 1, from);
	} else if (half == 1 || half == 0) {
		flow->kind = FLOW_PADDING;
	}
}

/* AUIPC, and a JALR by the register that it sets. */
static bool read_pair(const uint8_t *bytes, uint32_t word, uint64_t address, struct flow *flow)
{
	uint32_t next = bytes_32(bytes + 4), high = word & 0xfffff000;
	unsigned set = word >> 7 & 31;

	if ((word & 0x7f) != 0x17 || (next & 0x707f) != 0x67 || (next >> 15 & 31) != set)
		return false;
	flow->size = 8;
	set_jump(flow, next >> 7 & 31, plus(address + (uint64_t)(int64_t)(int32_t)high, next >> 20, 12));
	return true;
}

static void read_long(uint32_t word, uint64_t address, struct flow *flow)
{
	unsigned set = word >> 7 & 31, from = word >> 15 & 31;

	if ((word & 0x7f) == 0x6f) {
		uint32_t distance = part(word, 31, 1, 20) | part(word, 21, 10, 1) | part(word, 20, 1, 11) |
			part(word, 12, 8, 12);

		set_jump(flow, set, plus(address, distance, 21));
	} else if ((word & 0x707f) == 0x67) {
		set_register(flow, set, from);
	} else if ((word & 0x7f) == 0x63) {
		uint32_t distance = part(word, 31, 1, 12) | part(word, 25, 6, 5) | part(word, 8, 4, 1) |
			part(word, 7, 1, 11);

		flow->kind = FLOW_BRANCH;
		flow->target = plus(address, distance, 13);
	} else if (word == 0x00000013) {
		flow->kind = FLOW_PADDING;
	}
}

void flow_riscv64(const uint8_t *bytes, size_t left, uint64_t address, struct flow *flow)
{
	uint32_t half = left >= 2 ? bytes_16(bytes) : 0;
	bool is_long = (half & 3) == 3;

	*flow = (struct flow) { .size = is_long && left >= 4 ? 4 : 2 };
	if (left >= 2 && !is_long)
		read_short(half, address, flow);
	else if (is_long && left >= 4 && !(left >= 8 && read_pair(bytes, bytes_32(bytes), address, flow)))
		read_long(bytes_32(bytes), address, flow);
}
