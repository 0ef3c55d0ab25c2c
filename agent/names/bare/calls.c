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
