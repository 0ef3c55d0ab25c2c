/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "debugger.h"
#include "target.h"

enum { FIELDS_MOST = 256, NAME_MOST = 32, CPU_MOST = 1 << 20 };

/*
 * target/ARCH/gdbstub.c of QEMU: appends the bytes of register `number`, as a debugger counts them, and returns how
 * many they are. 0: no register has this number.
 */
typedef int read_register(struct qemu_cpu *cpu, struct qemu_bytes *bytes, int number);

/*
 * QEMU does not show a debugger all fields of its CPU structure. But for migration, it has a description of that, with
 * the name and the offset of each field: VMStateDescription, include/migration/vmstate.h.
 */
struct qemu_field {			/* VMStateField */
	const char *name, *hint;
	size_t offset, size, start;
	int count;
	size_t count_offset, size_offset;
	const void *info;
	int flags;
	const void *description;
	int version, struct_version;
	void (*exists)(void);
};

struct qemu_description {
	const char *name;
	int unmigratable, version, minimum_version, priority;
	void (*hooks[6])(void);
	const struct qemu_field *fields;	/* up to one without a name */
};

/* Fixed after debugger_prepare. */
static struct {
	const struct qemu *qemu;
	const struct target *target;
	read_register *read;
	size_t places[TARGET_FIELDS];	/* offsets in QEMU's CPU; 0: not known */
} debugger;

struct debugged {
	struct target_cpu target;	/* the first member */
	struct qemu_cpu *cpu;
};

/* In another QEMU these may be other things: reading them must not end it. */
static bool peek(const void *from, void *to, size_t size)
{
	struct iovec there = { .iov_base = (void *)(uintptr_t)from, .iov_len = size };
	struct iovec here = { .iov_base = to, .iov_len = size };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool is_named(const char *name, const char *wanted)
{
	char text[NAME_MOST];
	size_t size = strlen(wanted) + 1;

	return name && size <= sizeof(text) && peek(name, text, size) && memcmp(text, wanted, size) == 0;
}

/* The offset of the field that has this name, and `size` bytes or is an array of such. False: there is none. */
static bool migrated_place(const struct qemu_description *description, const char *field, size_t size, size_t *place)
{
	struct qemu_description copy;
	struct qemu_field one;

	if (description == NULL || !peek(description, &copy, sizeof(copy)) || !is_named(copy.name, "cpu"))
		return false;
	for (int i = 0; i < FIELDS_MOST && peek(copy.fields + i, &one, sizeof(one)) && one.name; i++)
		if (is_named(one.name, field)) {
			*place = one.offset;
			return one.size == size && one.offset % size == 0 && one.offset < CPU_MOST;
		}
	return false;
}

static bool get(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value)
{
	static _Thread_local struct qemu_bytes *bytes;	/* stays when its thread ends: few bytes for each CPU */

	if (!bytes)
		bytes = debugger.qemu->byte_array_new();
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
	const struct qemu_description *description = name ? dlsym(RTLD_DEFAULT, name) : NULL;

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
	find_fields(target);
	return read ? NULL : target_function(target);
}

bool debugger_read(struct qemu_cpu *cpu, struct target_state *state)
{
	const struct debugged debugged = { .target = { .get = get, .field = field }, .cpu = cpu };

	return target_read(debugger.target, &debugged.target, state);
}

uint64_t debugger_sp(struct qemu_cpu *cpu)
{
	const struct debugged debugged = { .target = { .get = get, .field = field }, .cpu = cpu };
	uint64_t sp = 0;

	return get(&debugged.target, target_sp(debugger.target), 8, &sp) ||
		get(&debugged.target, target_sp(debugger.target), 4, &sp) ? sp : 0;
}

uint64_t debugger_argument(struct qemu_cpu *cpu, unsigned number)
{
	const struct debugged debugged = { .target = { .get = get, .field = field }, .cpu = cpu };
	uint64_t value = 0;

	return get(&debugged.target, target_argument(debugger.target, number), 8, &value) ? value : 0;
}
