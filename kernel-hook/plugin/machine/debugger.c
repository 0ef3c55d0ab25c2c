/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "debugger.h"
#include "migrated.h"
#include "target.h"

/*
 * target/ARCH/gdbstub.c of QEMU: appends the bytes of register `number`, as a debugger counts them, and returns how
 * many they are. 0: no register has this number.
 */
typedef int read_register(struct qemu_cpu *cpu, struct qemu_bytes *bytes, int number);

/* Fixed after debugger_prepare, but for `bytes`: the thread that reads uses it, and boot.c lets one read at a time. */
static struct {
	const struct qemu *qemu;
	const struct target *target;
	read_register *read;
	struct qemu_bytes *bytes;
	size_t places[TARGET_FIELDS];	/* offsets in QEMU's CPU; 0: not known */
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

static uint64_t field_at(const struct target_cpu *cpu, enum target_field which)
{
	uint64_t value;

	memcpy(&value, (const char *)((const struct debugged *)cpu)->cpu + debugger.places[which], sizeof(value));
	return value;
}

/* The offsets are believed only if the program counter lies at its own. */
static bool field(const struct target_cpu *cpu, enum target_field which, uint64_t *value)
{
	uint64_t pc = 0;

	if (!debugger.places[TARGET_FIELD_PC] || !debugger.places[which] ||
			!get(cpu, target_pc(debugger.target), sizeof(pc), &pc) || field_at(cpu, TARGET_FIELD_PC) != pc)
		return false;
	*value = field_at(cpu, which);
	return true;
}

static void find_fields(const struct target *target)
{
	const char *name = target_description(target);
	const struct qemu_description *description = name ? migrated_find(name) : NULL;

	for (int i = 0; i < TARGET_FIELDS; i++) {
		size_t place;

		name = target_field(target, (enum target_field)i);
		debugger.places[i] = name && migrated_place(description, name, sizeof(uint64_t), &place) ? place : 0;
	}
}

const char *debugger_prepare(const struct target *target, const struct qemu *qemu)
{
	qemu_function *read = qemu_function_of(target_function(target));

	debugger.qemu = qemu;
	debugger.target = target;
	debugger.read = (read_register *)read;
	debugger.bytes = qemu->byte_array_new();
	find_fields(target);
	return read ? NULL : target_function(target);
}

bool debugger_read(struct qemu_cpu *cpu, struct target_state *state)
{
	const struct debugged debugged = { .target = { .get = get, .field = field }, .cpu = cpu };

	return target_read(debugger.target, &debugged.target, state);
}
