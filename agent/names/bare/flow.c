/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <string.h>

#include "agent/base/util.h"
#include "flow.h"

/* The readers of each architecture. */

flow_reader flow_x86_64, flow_i386, flow_aarch64, flow_riscv64;

flow_reader *flow_reader_of(enum arch_id arch)
{
	switch (arch) {
	case ARCH_X86_64: return flow_x86_64;
	case ARCH_I386: return flow_i386;
	case ARCH_AARCH64: return flow_aarch64;
	case ARCH_RISCV64: return flow_riscv64;
	default: return NULL;
	}
}

/* ---- x86-64 ---- */

/* Intel SDM, volume 2: chapter 2, and the opcode maps of appendix A. */

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

/* ---- aarch64 ---- */

/* Arm ARM, C4.1 and C6.2. */

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

/* ---- riscv64 ---- */

/* RISC-V ISA manual, volume I, 2.5, and the C extension. */

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

/* ---- calls ---- */

/*
 * Where a signal's handler returns to: the system call sigreturn, by its number in Linux. No call stands before it. See
 * restore_rt and restore in the C libraries, and arch/.../vdso of Linux.
 */
static const struct { enum arch_id arch; uint8_t size; const char *bytes; } signals[] = {
	{ ARCH_X86_64, 9, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05" },
	{ ARCH_I386, 7, "\xb8\xad\x00\x00\x00\xcd\x80" },
	{ ARCH_I386, 8, "\x58\xb8\x77\x00\x00\x00\xcd\x80" },
	{ ARCH_AARCH64, 8, "\x68\x11\x80\xd2\x01\x00\x00\xd4" },
	{ ARCH_RISCV64, 8, "\x93\x08\xb0\x08\x73\x00\x00\x00" },
};

static bool is_signal(enum arch_id arch, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signals[i].arch == arch && size >= signals[i].size &&
				memcmp(bytes, signals[i].bytes, signals[i].size) == 0)
			return true;
	return false;
}

static unsigned step_of(enum arch_id arch)
{
	return arch == ARCH_AARCH64 ? 4 : arch == ARCH_RISCV64 ? 2 : 1;
}

/* A longer call is looked for first: the end of it may look like a shorter one. */
bool calls_return(enum arch_id arch, const uint8_t *bytes, size_t before, size_t size, uint64_t address,
	uint64_t *target)
{
	flow_reader *read = flow_reader_of(arch);
	bool called = false;

	*target = 0;
	if (!read)
		return true;
	if (address % step_of(arch))
		return false;
	for (size_t back = before < CALLS_BEFORE ? before : CALLS_BEFORE; back > 0 && !*target; back--) {
		struct flow flow;

		read(bytes + before - back, back, address - back, &flow);
		if (flow.size != back || (flow.kind != FLOW_CALL && flow.kind != FLOW_CALL_REGISTER))
			continue;
		called = true;
		*target = flow.kind == FLOW_CALL ? flow.target : 0;
	}
	return called || is_signal(arch, bytes + before, size - before);
}

static bool is_interrupts_end(enum arch_id arch, const uint8_t *bytes, const struct flow *flow)
{
	switch (arch) {
	case ARCH_X86_64: case ARCH_I386:	/* IRET */
		return flow->kind == FLOW_RETURN && bytes[flow->size - 1] == 0xcf;
	case ARCH_AARCH64:			/* ERET */
		return flow->kind == FLOW_RETURN && bytes_32(bytes) == 0xd69f03e0;
	case ARCH_RISCV64:			/* SRET, MRET */
		return flow->size == 4 && (bytes_32(bytes) == 0x10200073 || bytes_32(bytes) == 0x30200073);
	default:
		return false;
	}
}

bool calls_leave_interrupt(enum arch_id arch, const uint8_t *bytes, size_t size, uint64_t address, uint64_t *next)
{
	flow_reader *read = flow_reader_of(arch);
	struct flow flow;

	*next = 0;
	if (!read || !size)
		return false;
	read(bytes, size, address, &flow);
	if (flow.size > size)
		return false;
	if (is_interrupts_end(arch, bytes, &flow))
		return true;
	if (flow.kind == FLOW_JUMP)
		*next = flow.target;
	else if (flow.kind != FLOW_RETURN && flow.kind != FLOW_END && flow.kind != FLOW_JUMP_REGISTER &&
			flow.kind != FLOW_JUMP_TABLE)
		*next = address + flow.size;
	return false;
}

/* MOV and LEA of the stack pointer to the frame pointer, ENTER; MOV or ADD to x29; ADDI to s0, C.ADDI4SPN. */
static bool lays_frame(enum arch_id arch, const uint8_t *bytes, size_t size)
{
	switch (arch) {
	case ARCH_X86_64:
		return bytes[0] == 0xc8 || (size >= 3 && bytes[0] == 0x48 && (memcmp(bytes + 1, "\x89\xe5", 2) == 0 ||
			memcmp(bytes + 1, "\x8b\xec", 2) == 0 || (bytes[1] == 0x8d && (bytes[2] & 0x3f) == 0x2c)));
	case ARCH_I386:
		return bytes[0] == 0xc8 || (size >= 2 && (memcmp(bytes, "\x89\xe5", 2) == 0 ||
			memcmp(bytes, "\x8b\xec", 2) == 0 || (bytes[0] == 0x8d && (bytes[1] & 0x3f) == 0x2c)));
	case ARCH_AARCH64:
		return size == 4 && (bytes_32(bytes) & 0xffc003ff) == 0x910003fd;
	case ARCH_RISCV64:
		return size == 4 ? (bytes_32(bytes) & 0xfffff) == 0x10413 :
			size == 2 && bytes_16(bytes) && (bytes_16(bytes) & 0xe01f) == 0;
	default:
		return false;
	}
}

enum calls_frame calls_frame(enum arch_id arch, const uint8_t *bytes, size_t size, size_t at)
{
	flow_reader *read = flow_reader_of(arch);
	struct flow flow;

	if (!read || at >= size)
		return CALLS_FRAME_UNKNOWN;
	read(bytes + at, size - at, 0, &flow);
	if (flow.kind == FLOW_RETURN && (arch == ARCH_X86_64 || arch == ARCH_I386))
		return is_interrupts_end(arch, bytes + at, &flow) ? CALLS_FRAME_UNKNOWN : CALLS_FRAME_LEFT;
	for (size_t i = 0; i < at; i += flow.size) {
		read(bytes + i, size - i, 0, &flow);
		if (lays_frame(arch, bytes + i, flow.size < size - i ? flow.size : size - i))
			return CALLS_FRAME_LAID;
	}
	return CALLS_FRAME_NONE;
}
