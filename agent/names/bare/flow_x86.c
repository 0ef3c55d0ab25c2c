/* SPDX-License-Identifier: MIT */
/* Intel SDM, volume 2: chapter 2, and the opcode maps of appendix A. */
#include <stdbool.h>
#include <string.h>

#include "agent/base/bytes.h"
#include "flow_parts.h"

/*
 * What follows each opcode. m: ModRM; b, w, d, z: a number of 1, 2 or 4 bytes, or of the operands' size; B, Z: ModRM
 * and such a number; v: like z, but of 8 bytes where the operands have them; a: an address; e: 3 bytes; f: a far
 * address; g, G: ModRM, and a number where it says so.
 */
static const char one_byte[] =
	"mmmmbz..mmmmbz.." "mmmmbz..mmmmbz.." "mmmmbz..mmmmbz.." "mmmmbz..mmmmbz.."
	"................" "................" "..mm....zZbB...." "bbbbbbbbbbbbbbbb"
	"BZBBmmmmmmmmmmmm" "..........f....." "aaaa....bz......" "bbbbbbbbvvvvvvvv"
	"BBw.mmBZe.w..b.." "mmmmbb..mmmmmmmm" "bbbbbbbbddfb...." "......gG......mm";
static const char two_bytes[] =
	"mmmm.........m.B" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "................"
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm"
	"dddddddddddddddd" "mmmmmmmmmmmmmmmm" "...mBm.....mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm";

enum { LONGEST = 15, DIRECT = 5, INDEXED = 4, NO_BASE = 5 };	/* bytes; values of ModRM's and SIB's fields */

struct reading {
	const uint8_t *bytes;
	size_t at, left;		/* what has been read; all that is there */
	bool wide;			/* 64 bits */
	bool wide_operands, short_operands;
	bool repeats, bad;
	unsigned map;			/* of opcodes: 1; 2: 0F; 3: 0F 38; 4: 0F 3A */
	uint8_t opcode, mod;		/* `mod`: ModRM; 0 where there is none */
	bool plain_address;		/* the memory operand has no base: `displacement` says where it is */
	bool indexed;
	uint8_t scaled;			/* SIB */
	int64_t displacement, number;	/* `number`: behind all else, such as a distance */
};

/* A number with a sign; of another size, only how many bytes it has. */
static int64_t take(struct reading *reading, unsigned size)
{
	const uint8_t *bytes = reading->bytes + reading->at;

	if (reading->at > reading->left || size > reading->left - reading->at) {
		reading->bad = true;
		return 0;
	}
	reading->at += size;
	switch (size) {
	case 1: return (int8_t)bytes[0];
	case 2: return (int16_t)bytes_16(bytes);
	case 4: return (int32_t)bytes_32(bytes);
	case 8: return (int64_t)bytes_64(bytes);
	default: return 0;
	}
}

/* ModRM, SIB, displacement. */
static void take_operands(struct reading *reading)
{
	uint8_t mod = (uint8_t)take(reading, 1), base = mod & 7;

	reading->mod = mod;
	if (mod >> 6 == 3)
		return;
	if (base == INDEXED) {
		reading->indexed = true;
		reading->scaled = (uint8_t)take(reading, 1);
		base = reading->scaled & 7;
	}
	reading->plain_address = mod >> 6 == 0 && base == NO_BASE;
	if (mod >> 6 == 1)
		reading->displacement = take(reading, 1);
	else if (mod >> 6 == 2 || reading->plain_address)
		reading->displacement = take(reading, 4);
}

static void take_rest(struct reading *reading, char rest)
{
	unsigned size = reading->short_operands && !reading->wide_operands ? 2 : 4;

	if (strchr("mBZgG", rest))
		take_operands(reading);
	switch (rest) {
	case 'b': case 'B': reading->number = take(reading, 1); break;
	case 'w': reading->number = take(reading, 2); break;
	case 'd': reading->number = take(reading, 4); break;
	case 'z': case 'Z': reading->number = take(reading, size); break;
	case 'v': reading->number = take(reading, reading->wide_operands ? 8 : size); break;
	case 'a': take(reading, reading->wide ? 8 : 4); break;
	case 'e': take(reading, 3); break;
	case 'f': take(reading, size + 2); break;
	case 'g': case 'G':
		if ((reading->mod >> 3 & 7) < 2)
			take(reading, rest == 'g' ? 1 : size);
		break;
	default: break;
	}
}

/* The prefixes before the opcode. */
static void take_prefixes(struct reading *reading)
{
	for (; reading->at < reading->left && reading->at < LONGEST; reading->at++) {
		uint8_t byte = reading->bytes[reading->at];

		if (reading->wide && byte >> 4 == 4) {
			reading->wide_operands = byte >> 3 & 1;
			if (reading->at + 1 < reading->left && reading->bytes[reading->at + 1] >> 4 != 4)
				reading->at++;
			return;
		}
		reading->short_operands |= byte == 0x66;
		reading->repeats |= byte == 0xf3;
		if (!memchr("\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", byte, 11))
			return;
	}
}

/* VEX and EVEX name the map themselves, and have no opcodes without ModRM but VZEROUPPER. */
static bool take_vector(struct reading *reading)
{
	uint8_t byte = reading->left > reading->at + 1 ? reading->bytes[reading->at] : 0, next;

	if (byte != 0xc4 && byte != 0xc5 && byte != 0x62)
		return false;
	next = reading->bytes[reading->at + 1];
	if (!reading->wide && next >> 6 != 3)
		return false;
	reading->map = byte == 0xc5 ? 2 : byte == 0xc4 ? (next & 31) + 1u : (next & 7) + 1u;
	reading->at += byte == 0xc5 ? 2 : byte == 0xc4 ? 3 : 4;
	reading->bad = reading->at >= reading->left;
	reading->opcode = (uint8_t)take(reading, reading->bad ? 0 : 1);
	if (reading->map == 2 && reading->opcode == 0x77)
		return true;
	take_rest(reading, reading->map == 4 || (reading->map == 2 && two_bytes[reading->opcode] == 'B') ? 'B' : 'm');
	return true;
}

static void take_opcode(struct reading *reading)
{
	reading->map = 1;
	reading->opcode = (uint8_t)take(reading, 1);
	if (reading->opcode == 0x0f) {
		reading->map = 2;
		reading->opcode = (uint8_t)take(reading, 1);
	}
	if (reading->map == 2 && (reading->opcode == 0x38 || reading->opcode == 0x3a)) {
		reading->map = reading->opcode == 0x38 ? 3 : 4;
		reading->opcode = (uint8_t)take(reading, 1);
		take_rest(reading, reading->map == 3 ? 'm' : 'B');
	} else {
		take_rest(reading, (reading->map == 1 ? one_byte : two_bytes)[reading->opcode]);
	}
}

/* LEA of a register into itself, by which assemblers fill gaps of i386. */
static bool changes_nothing(const struct reading *reading)
{
	uint8_t base = reading->indexed ? reading->scaled & 7 : reading->mod & 7;
	bool scales = reading->indexed && (reading->scaled >> 3 & 7) != INDEXED;

	return !reading->wide && reading->opcode == 0x8d && reading->mod >> 6 && reading->mod >> 6 != 3 &&
		!reading->displacement && !scales && base == (reading->mod >> 3 & 7);
}

static enum flow_kind kind_of_group(const struct reading *reading)
{
	bool in_register = reading->mod >> 6 == 3;

	switch (reading->mod >> 3 & 7) {
	case 2: case 3: return FLOW_CALL_REGISTER;
	case 4: return in_register ? FLOW_JUMP_REGISTER :
		reading->plain_address && reading->indexed ? FLOW_JUMP_TABLE :
		reading->indexed ? FLOW_JUMP_REGISTER : FLOW_END;
	case 5: return FLOW_END;
	default: return FLOW_ON;
	}
}

static enum flow_kind kind_of(const struct reading *reading)
{
	uint8_t opcode = reading->opcode;

	if (reading->map == 2)
		return opcode >> 4 == 8 ? FLOW_BRANCH : opcode == 0x0b ? FLOW_END :
			opcode == 0x1f ? FLOW_PADDING : FLOW_ON;
	if (reading->map != 1)
		return FLOW_ON;
	if (opcode >> 4 == 7 || (opcode >= 0xe0 && opcode <= 0xe3))
		return FLOW_BRANCH;
	if (changes_nothing(reading))
		return FLOW_PADDING;
	switch (opcode) {
	case 0x90: return reading->repeats ? FLOW_ON : FLOW_PADDING;
	case 0xcc: return FLOW_PADDING;
	case 0xe8: return FLOW_CALL;
	case 0xe9: case 0xeb: return FLOW_JUMP;
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf: return FLOW_RETURN;
	case 0xff: return kind_of_group(reading);
	default: return FLOW_ON;
	}
}

static void read_x86(struct reading *reading, uint64_t address, struct flow *flow)
{
	uint64_t behind;

	*flow = (struct flow) { .size = 1 };
	take_prefixes(reading);
	if (!take_vector(reading))
		take_opcode(reading);
	if (reading->bad || reading->at > LONGEST)
		return;
	flow->kind = kind_of(reading);
	flow->size = (unsigned)reading->at;
	behind = address + reading->at;
	flow->target = behind + (uint64_t)reading->number;
	if (reading->plain_address && ((reading->map == 1 && reading->opcode == 0x8d) || flow->kind == FLOW_JUMP_TABLE))
		flow->names = (reading->wide && !reading->indexed ? behind : 0) + (uint64_t)reading->displacement;
	if (!reading->wide) {
		flow->target = (uint32_t)flow->target;
		flow->names = (uint32_t)flow->names;
	}
}

void flow_x86_64(const uint8_t *bytes, size_t left, uint64_t address, struct flow *flow)
{
	read_x86(&(struct reading) { .bytes = bytes, .left = left, .wide = true }, address, flow);
}

void flow_i386(const uint8_t *bytes, size_t left, uint64_t address, struct flow *flow)
{
	read_x86(&(struct reading) { .bytes = bytes, .left = left }, address, flow);
}
