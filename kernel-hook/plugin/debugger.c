/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "debugger.h"
#include "target.h"

/*
 * target/ARCH/gdbstub.c: appends register `number`, as a debugger counts them, and returns its bytes; 0: none has
 * this number.
 */
typedef int read_register(struct qemu_cpu *cpu, struct qemu_bytes *bytes, int number);

/* Fixed after debugger_prepare, but for the bytes: those are of who reads, and that is one thread at a time. */
static struct {
	const struct qemu *qemu;
	const struct target *target;
	read_register *read;
	struct qemu_bytes *bytes;
} debugger;

struct debugged {
	struct target_cpu target;	/* the first member */
	struct qemu_cpu *cpu;
};

static bool get(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value)
{
	struct qemu_bytes *bytes = debugger.bytes;

	debugger.qemu->byte_array_set_size(bytes, 0);
	if (debugger.read(((const struct debugged *)cpu)->cpu, bytes, (int)number) != (int)size || bytes->size != size)
		return false;
	memcpy(value, bytes->data, size);
	return true;
}

const char *debugger_prepare(const struct target *target, const struct qemu *qemu)
{
	qemu_function *read = qemu_function_of(target_function(target));

	debugger.qemu = qemu;
	debugger.target = target;
	debugger.read = (read_register *)read;
	debugger.bytes = qemu->byte_array_new();
	return read ? NULL : target_function(target);
}

bool debugger_read(struct qemu_cpu *cpu, struct target_state *state)
{
	const struct debugged debugged = { .target = { .get = get }, .cpu = cpu };

	return target_read(debugger.target, &debugged.target, state);
}
