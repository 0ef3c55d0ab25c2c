/* SPDX-License-Identifier: MIT */
/* Instructions of the guest: their bytes, and which of them leave a function. */
#ifndef PLUGIN_INSTRUCTION_H
#define PLUGIN_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qemu_plugin_insn;

enum { INSTRUCTION_MOST = 16 };		/* bytes of one */

/* Copies the bytes, and returns how many they are. 0: QEMU does not tell. `api`: its version of the interface. */
size_t instruction_bytes(int api, const struct qemu_plugin_insn *insn, uint8_t to[INSTRUCTION_MOST]);

/*
 * What an instruction does to the function that it is in: nothing; it returns; or it goes on at `target`, always. That
 * is another function where the target is not in this one: a tail call, or a thunk that returns. Jumps with a
 * condition, and those to where a register says, count as nothing, but for the ones by which riscv64 returns or calls a
 * tail.
 */
enum instruction_way { WAY_NONE, WAY_RETURN, WAY_JUMP };

/* Of the architecture with QEMU's name `arch`. The bytes lie at `address`. */
enum instruction_way instruction_way(const char *arch, uint64_t address, const uint8_t *bytes, size_t size,
	uint64_t *target);

#endif
