/* SPDX-License-Identifier: MIT */
/* Which thread a CPU runs, out of the registers and the memory of a guest. Both are fakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/machine/qemu.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/task.h"
#include "kernel-hook/wire.h"

enum { PROCESS = 0x40, THREAD = 0x44, NAME = 0x50, MEMORY = 0x60, POINTER = 0x8 };

/* ---- the guest's memory: a record, and perhaps a pointer to it ---- */

static struct {
	uint64_t record, pointer;	/* where they are; 0: nowhere */
	uint32_t word;
	uint8_t bytes[0x80];
} guest;

/* 0: nothing is there. */
static uint32_t read_guest(uint64_t address, void *to, uint64_t size)
{
	if (guest.pointer && address == guest.pointer && size == guest.word) {
		memcpy(to, &guest.record, size);
		return (uint32_t)size;
	}
	if (!guest.record || address < guest.record || address + size > guest.record + sizeof(guest.bytes))
		return 0;
	memcpy(to, guest.bytes + (address - guest.record), size);
	return (uint32_t)size;
}

/* By QEMU's own functions; addresses are physical ones. What is not there is a device. */
static uint64_t physical_page(struct qemu_cpu *cpu, uint64_t page)
{
	(void)cpu;
	return page;
}

static bool is_io(uint64_t address)
{
	bool at_pointer = guest.pointer && address - guest.pointer < guest.word;

	return !at_pointer && !(guest.record && address - guest.record < sizeof(guest.bytes));
}

static void read_physical(uint64_t address, void *to, uint64_t size, bool write)
{
	assert_false(write);
	assert_int_equal(read_guest(address, to, size), size);
}

static const struct qemu own = {
	.cpu_get_phys_page_debug = physical_page, .cpu_physical_memory_is_io = is_io,
	.cpu_physical_memory_rw = read_physical,
};

/* By QEMU's interface for plugins, which tells no device from RAM. */
static unsigned reads;

static uint32_t read_virtual(struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size)
{
	(void)cpu;
	reads++;
	return read_guest(address, to, size);
}

static const struct qemu public = { .read_virtual = read_virtual };
static const struct qemu *qemu = &own;
static struct task_kept kept;

static void set_guest(uint64_t record, uint64_t pointer, uint32_t word)
{
	const uint32_t process = 100, thread = 101;

	memset(&kept, 0, sizeof(kept));
	memset(&guest, 0, sizeof(guest));
	guest.record = record;
	guest.pointer = pointer;
	guest.word = word;
	memcpy(guest.bytes + PROCESS, &process, sizeof(process));
	memcpy(guest.bytes + THREAD, &thread, sizeof(thread));
	memcpy(guest.bytes + NAME, "find", 5);
	memset(guest.bytes + MEMORY, 0xc1, word);
	memset(guest.bytes + MEMORY + word, 0xee, 8);		/* what follows is something else */
}

static uint64_t read(bool itself, const struct target_state *state, struct task *task)
{
	const struct ktop_task_places places = {
		.known = true, .itself = itself, .pointer = POINTER, .process = PROCESS, .thread = THREAD, .name = NAME,
		.memory = MEMORY,
	};
	const struct task_cpu cpu = { .qemu = qemu, .state = state, .kept = &kept };

	return task_read(&places, &cpu, task);
}

static void check_found(const struct task *task)
{
	assert_int_equal(task->process, 100);
	assert_int_equal(task->thread, 101);
	assert_int_equal(task->size, 4);
	assert_memory_equal(task->name, "find", 4);
}

/* ---- the guest's registers, by the debugger's numbers ---- */

static uint64_t registers[TARGET_NUMBERS], fields[TARGET_FIELDS];

static bool get(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value)
{
	(void)cpu, (void)size;
	*value = registers[number];
	return true;
}

static bool field(const struct target_cpu *cpu, enum target_field which, uint64_t *value)
{
	(void)cpu;
	*value = fields[which];
	return true;
}

static struct target_state state_of(const char *target)
{
	const struct target_cpu cpu = { .get = get, .field = field };
	struct target_state state;

	assert_true(target_read(target_find(target), &cpu, &state));
	return state;
}

/* ---- the tests ---- */

static void riscv64_has_the_record_in_a_register(void **unused)
{
	const uint64_t record = UINT64_C(0xff60000001234000);
	struct target_state state;
	struct task task;

	(void)unused;
	memset(registers, 0, sizeof(registers));
	registers[4] = record;
	fields[TARGET_FIELD_MODE] = 1;
	fields[TARGET_FIELD_BASE] = 0;
	set_guest(record, 0, 8);
	state = state_of("riscv64");
	assert_int_equal(read(true, &state, &task), record);
	check_found(&task);

	/* A program: its own tp, and pages of the kernel cannot be read. */
	guest.record = 0;
	registers[4] = 0x1000;
	fields[TARGET_FIELD_MODE] = 0;
	fields[TARGET_FIELD_BASE] = record;
	state = state_of("riscv64");
	assert_int_equal(state.base, record);
	read(true, &state, &task);
	check_found(&task);

	/* Another thread's program. */
	fields[TARGET_FIELD_BASE] = record + 0x1000;
	state = state_of("riscv64");
	read(true, &state, &task);
	assert_int_equal(task.size, 0);

	/* Firmware: its tp is no kernel's. */
	registers[4] = 0x80040000;
	fields[TARGET_FIELD_MODE] = 3;
	assert_int_equal(state_of("riscv64").base, 0);
}

static void i386_has_a_pointer_in_the_cpus_data(void **unused)
{
	const uint64_t base = 0x35400000, record = 0xc2345000;
	struct target_state state;
	struct task task;

	(void)unused;
	memset(registers, 0, sizeof(registers));
	registers[10] = 0x60;		/* cs */
	registers[14] = 0xd8;		/* fs */
	registers[16] = base;
	registers[19] = 0x80000001;	/* cr0 */
	set_guest(record, base + POINTER, 4);
	state = state_of("i386");
	assert_int_equal(state.base, base);
	assert_int_equal(read(false, &state, &task), base);
	check_found(&task);

	/* A program, with a segment of its own: the CPU's base is still known. */
	registers[10] = 0x73;
	registers[14] = 0x33;
	registers[16] = 0xb7000000;
	state = state_of("i386");
	assert_int_equal(state.base, 0);
	assert_int_equal(read(false, &state, &task), base);
	check_found(&task);

	/* The kernel's entry, still with the program's segment. */
	registers[10] = 0x60;
	assert_int_equal(state_of("i386").base, 0);

	/* A thread of the kernel's own has no memory. */
	memset(guest.bytes + MEMORY, 0, 4);
	read(false, &state, &task);
	assert_int_equal(task.process, KTOP_KERNEL);
	assert_int_equal(task.thread, 101);

	/* The pointer may be to anything: below the kernel nothing is read. */
	guest.record = 0x12345000;
	read(false, &state, &task);
	assert_int_equal(task.size, 0);
}

/* The guest's pointer may be to a device: it is followed only to where Linux has nothing but RAM. */
static void by_the_interface_for_plugins_no_device_is_read(void **unused)
{
	const uint64_t base = UINT64_C(0xffff88803ec00000), near = base + 0x10000;
	const struct { const char *target; uint64_t record; bool is_found; } cases[] = {
		{ "x86_64", near, true }, { "x86_64", UINT64_C(0xffffc90000080000), false },
		{ "riscv64", UINT64_C(0xff60000001234000), true }, { "i386", 0xc2345000, false },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool itself = strcmp(cases[i].target, "riscv64") == 0, i386 = strcmp(cases[i].target, "i386") == 0;
		struct target_state state = {
			.arch = itself ? KTOP_RISCV64 : i386 ? KTOP_I386 : KTOP_X86_64, .flat = true,
			.mode = KTOP_MODE_KERNEL, .base = itself ? cases[i].record : i386 ? 0x35400000 : base,
		};
		struct task task;

		set_guest(cases[i].record, itself ? 0 : state.base + POINTER, i386 ? 4 : 8);
		qemu = &own;
		read(itself, &state, &task);
		check_found(&task);
		memset(&kept, 0, sizeof(kept));
		qemu = &public;
		reads = 0;
		read(itself, &state, &task);
		assert_int_equal(task.size, cases[i].is_found ? 4 : 0);
		assert_true(cases[i].is_found || reads <= 1);	/* the pointer, at most */
	}
	qemu = &own;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_interface_for_plugins_no_device_is_read),
		cmocka_unit_test(riscv64_has_the_record_in_a_register),
		cmocka_unit_test(i386_has_a_pointer_in_the_cpus_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
