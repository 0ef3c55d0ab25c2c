/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "instruction.h"
#include "qemu.h"
#include "qemu_plugin.h"

enum { COPIES = 3 };			/* from this version on, qemu_plugin_insn_data copies the bytes */

typedef const void *get_data(const struct qemu_plugin_insn *insn);
typedef size_t copy_data(const struct qemu_plugin_insn *insn, void *to, size_t size);

size_t instruction_bytes(int api, const struct qemu_plugin_insn *insn, uint8_t to[INSTRUCTION_MOST])
{
	static qemu_function *function;		/* the same for all threads */
	size_t size = qemu_plugin_insn_size(insn);

	if (!__atomic_load_n(&function, __ATOMIC_RELAXED))
		__atomic_store_n(&function, qemu_function_of("qemu_plugin_insn_data"), __ATOMIC_RELAXED);
	if (!function || size > INSTRUCTION_MOST)
		return 0;
	if (api >= COPIES)
		return ((copy_data *)function)(insn, to, size);
	memcpy(to, ((get_data *)function)(insn), size);
	return size;
}

/* The number in these bits, the highest of which is its sign. */
static int64_t number_of(uint64_t bits, unsigned width)
{
	return (int64_t)(bits << (64 - width)) >> (64 - width);
}

static uint64_t word_of(const uint8_t *bytes, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, bytes, size);
	return word;
}

static enum instruction_way jump(uint64_t address, int64_t offset, uint64_t *target)
{
	*target = address + (uint64_t)offset;
	return WAY_JUMP;
}

/* Intel SDM, volume 2: RET near, with prefixes that have no effect (f3: rep, f2: bnd); JMP rel8, rel32. */
static enum instruction_way x86_way(uint64_t address, const uint8_t *bytes, size_t size, uint64_t *target)
{
	size_t at = 0;

	while (at < size && (bytes[at] == 0xf2 || bytes[at] == 0xf3))
		at++;
	if (at == size)
		return WAY_NONE;
	if ((bytes[at] == 0xc3 && size == at + 1) || (bytes[at] == 0xc2 && size == at + 3))
		return WAY_RETURN;
	if (bytes[at] == 0xeb && size == at + 2)
		return jump(address + size, number_of(bytes[at + 1], 8), target);
	if (bytes[at] == 0xe9 && size == at + 5)
		return jump(address + size, number_of(word_of(bytes + at + 1, 4), 32), target);
	return WAY_NONE;
}

/* Arm ARM, C6.2: RET, RETAA and RETAB; B. */
static enum instruction_way aarch64_way(uint64_t address, const uint8_t *bytes, size_t size, uint64_t *target)
{
	uint64_t word = word_of(bytes, size < 4 ? size : 4);

	if (size != 4)
		return WAY_NONE;
	if ((word & 0xfffffc1f) == 0xd65f0000 || word == 0xd65f0bff || word == 0xd65f0fff)
		return WAY_RETURN;
	if ((word & 0xfc000000) == 0x14000000)
		return jump(address, number_of(word & 0x3ffffff, 26) * 4, target);
	return WAY_NONE;
}

/* c.j: offset[11|4|9:8|10|6|7|3:1|5] in bits 12 to 2. */
static int64_t short_offset(uint64_t word)
{
	return number_of((word >> 12 & 1) << 11 | (word >> 11 & 1) << 4 | (word >> 9 & 3) << 8 | (word >> 8 & 1) << 10 |
		(word >> 7 & 1) << 6 | (word >> 6 & 1) << 7 | (word >> 3 & 7) << 1 | (word >> 2 & 1) << 5, 12);
}

/* jal: offset[20|10:1|11|19:12] in bits 31 to 12. */
static int64_t long_offset(uint64_t word)
{
	return number_of((word >> 31 & 1) << 20 | (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 |
		(word >> 12 & 0xff) << 12, 21);
}

/*
 * RISC-V unprivileged ISA: ret is `jalr x0, 0(ra)`, or c.jr ra; j is `jal x0`, or c.j. A tail call that is far away is
 * `auipc t1` and `jalr x0, offset(t1)` (the psABI's `tail`), which no switch uses: it leaves.
 */
static enum instruction_way riscv64_way(uint64_t address, const uint8_t *bytes, size_t size, uint64_t *target)
{
	uint64_t word = word_of(bytes, size < 4 ? size : 4);

	if (size == 2 && word == 0x8082)
		return WAY_RETURN;
	if (size == 2 && (word & 0xe003) == 0xa001)
		return jump(address, short_offset(word), target);
	if (size == 4 && (word == 0x00008067 || (word & 0xfffff) == 0x30067))
		return WAY_RETURN;
	return size == 4 && (word & 0xfff) == 0x6f ? jump(address, long_offset(word), target) : WAY_NONE;
}

enum instruction_way instruction_way(const char *arch, uint64_t address, const uint8_t *bytes, size_t size,
	uint64_t *target)
{
	if (size == 0 || size > INSTRUCTION_MOST)
		return WAY_NONE;
	return strcmp(arch, "aarch64") == 0 ? aarch64_way(address, bytes, size, target) :
		strcmp(arch, "riscv64") == 0 ? riscv64_way(address, bytes, size, target) :
		x86_way(address, bytes, size, target);
}
