/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "agent/base/bytes.h"
#include "calls.h"
#include "flow.h"

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
