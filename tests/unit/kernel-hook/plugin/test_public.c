/* SPDX-License-Identifier: MIT */
/* How CPUs are called and read by QEMU's interface for plugins alone. The QEMU is a fake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/plugin/machine/memory.h"
#include "kernel-hook/plugin/machine/public.h"
#include "kernel-hook/plugin/machine/qemu.h"
#include "kernel-hook/plugin/machine/qemu_plugin.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/wire.h"

enum { CPUS = 2, REGISTERS = 35 };

#define PC UINT64_C(0xffffffff81000123)
#define SP UINT64_C(0xffffc90000012000)

/* ---- the fake QEMU: one block, whose last instruction is at PC; register N has the value SP + N ---- */

struct qemu_plugin_insn { int none; };
struct qemu_plugin_tb { int none; };
struct word { void *scoreboard; size_t offset; };
struct named { void *handle; const char *name, *feature; };
struct array { void *data; unsigned count; };

static struct {
	const char *missing;
	uint64_t words[CPUS];
	void (*call)(unsigned index, void *data);
	void *data;
	struct qemu_plugin_insn insns[3];
	struct qemu_bytes bytes;
	uint8_t room[4096];
	uint64_t mapped;		/* the page that can be read */
	unsigned reads;
} fake;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	(void)tb;
	return 3;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index)
{
	(void)tb;
	return &fake.insns[index];
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn == &fake.insns[2] ? PC : 0;
}

static void *scoreboard_new(size_t size)
{
	assert_int_equal(size, sizeof(uint64_t));
	return fake.words;
}

static void *scoreboard_find(void *scoreboard, unsigned index)
{
	assert_ptr_equal(scoreboard, fake.words);
	assert_true(index < CPUS);
	return &fake.words[index];
}

static void call_if(struct qemu_plugin_insn *insn, void (*call)(unsigned index, void *data), int registers,
	int condition, struct word word, uint64_t operand, void *data)
{
	assert_ptr_equal(insn, &fake.insns[2]);
	assert_int_equal(registers, 1);
	assert_int_equal(condition, 3);
	assert_ptr_equal(word.scoreboard, fake.words);
	assert_int_equal(word.offset, 0);
	assert_int_equal(operand, 0);
	fake.call = call;
	fake.data = data;
}

/* The first handle is NULL, as in QEMU 10.0. The registers are listed in another order than the debugger's. */
static struct array *get_registers(void)
{
	static const char *const names[REGISTERS] = {
		"efer", "rip", "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
		"r13", "r14", "r15", "eflags", "cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base", "k_gs_base",
		"cr0", "cr2", "cr3", "cr4", "cr8", "st0", NULL,
	};
	struct array *array = malloc(sizeof(*array));
	struct named *all = calloc(REGISTERS, sizeof(*all));

	for (uintptr_t i = 0; i < REGISTERS; i++)
		all[i] = (struct named) { .handle = (void *)i, .name = names[i] };
	*array = (struct array) { .data = all, .count = REGISTERS };
	return array;
}

static char *array_free(struct array *array, int elements)
{
	assert_true(elements);
	free(array->data);
	free(array);
	return NULL;
}

/* In 64-bit mode, in the kernel. The program counter is an old one. */
static int read_register(void *handle, struct qemu_bytes *bytes)
{
	uintptr_t which = (uintptr_t)handle;
	uint64_t value = which == 0 ? 1 << 10 : which == 1 ? 0x1111 : which == 9 ? SP : which == 19 ? 0x10 :
		which == 28 ? 0x80000011 : 7;
	unsigned size = which >= 18 && which <= 24 ? 4 : 8;

	fake.reads++;
	memcpy(bytes->data + bytes->size, &value, size);
	bytes->size += size;
	return (int)size;
}

static bool read_memory(uint64_t address, struct qemu_bytes *bytes, size_t size)
{
	if (address / 4096 != fake.mapped / 4096)
		return false;
	memset(bytes->data, 0x5a, size);
	bytes->size = (unsigned)size;
	return true;
}

static struct qemu_bytes *byte_array_new(void)
{
	fake.bytes = (struct qemu_bytes) { .data = fake.room };
	return &fake.bytes;
}

static struct qemu_bytes *byte_array_set_size(struct qemu_bytes *bytes, unsigned size)
{
	bytes->size = size;
	return bytes;
}

void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name)
{
	static const struct { const char *name; void (*function)(void); } all[] = {
		{ "qemu_plugin_scoreboard_new", (void (*)(void))scoreboard_new },
		{ "qemu_plugin_scoreboard_find", (void (*)(void))scoreboard_find },
		{ "qemu_plugin_register_vcpu_insn_exec_cond_cb", (void (*)(void))call_if },
		{ "qemu_plugin_get_registers", (void (*)(void))get_registers },
		{ "qemu_plugin_read_register", (void (*)(void))read_register },
		{ "qemu_plugin_read_memory_vaddr", (void (*)(void))read_memory },
		{ "g_byte_array_new", (void (*)(void))byte_array_new },
		{ "g_byte_array_set_size", (void (*)(void))byte_array_set_size },
		{ "g_array_free", (void (*)(void))array_free },
	};
	void *symbol = NULL;

	(void)handle;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].name, name) == 0 && (!fake.missing || strcmp(fake.missing, name) != 0))
			memcpy(&symbol, &all[i].function, sizeof(symbol));
	return symbol;
}

/* ---- the tests ---- */

static const struct qemu_plugin_info good = {
	.version = { .min = 2, .cur = 4 }, .system_emulation = true, .system = { CPUS, CPUS },
};
static struct qemu qemu;
static unsigned works;
static struct {
	bool idle, known;
	struct target_state state;
	uint32_t bytes;
} seen;

static void work(struct qemu_cpu *cpu, union qemu_work_data data)
{
	uint8_t page[256];

	assert_int_equal(data.number, 42);
	works++;
	seen.idle = qemu.cpu_thread_is_idle(cpu);
	seen.known = qemu.read_state(cpu, &seen.state);
	seen.bytes = memory_read(&qemu, cpu, SP, page, sizeof(page));
}

static struct qemu_cpu *cpu(int index)
{
	return qemu.get_cpu(index);
}

static void ask(int index)
{
	qemu.async_run_on_cpu(cpu(index), work, (union qemu_work_data) { .number = 42 });
}

/* The CPU runs the block, as QEMU translated it. */
static void run_block(unsigned index)
{
	if (fake.words[index])
		fake.call(index, fake.data);
}

static int prepare(void **state)
{
	struct qemu_plugin_tb tb = { 0 };

	(void)state;
	if (public_prepare(target_find("x86_64"), &good) != NULL)
		return -1;
	public_stand_in(&qemu);
	public_block(&tb);
	return 0;
}

static int begin(void **state)
{
	(void)state;
	works = 0;
	fake.mapped = SP;
	return 0;
}

static void what_a_qemu_lacks_is_told(void **state)
{
	struct qemu_plugin_info info = good;

	(void)state;
	info.version.cur = 3;
	assert_string_equal(public_prepare(target_find("x86_64"), &info), "qemu_plugin_read_memory_vaddr");
	fake.missing = "qemu_plugin_get_registers";
	assert_string_equal(public_prepare(target_find("x86_64"), &good), fake.missing);
	fake.missing = NULL;
	info = good;
	info.system.max_vcpus = 17;
	assert_non_null(strstr(public_prepare(target_find("x86_64"), &info), "plugged in later"));
}

static void a_cpu_that_runs_is_called_once(void **state)
{
	(void)state;
	run_block(0);
	assert_int_equal(works, 0);
	ask(0);
	assert_false(qemu.take_back_asleep(cpu(0)));
	run_block(1);
	assert_int_equal(works, 0);
	run_block(0);
	run_block(0);
	assert_int_equal(works, 1);
	assert_false(qemu.take_back_asleep(cpu(0)));
	ask(0);
	run_block(0);
	assert_int_equal(works, 2);
}

static void its_registers_and_stack_are_read(void **state)
{
	(void)state;
	ask(1);
	run_block(1);
	assert_false(seen.idle);
	assert_true(seen.known);
	assert_int_equal(seen.state.arch, KTOP_X86_64);
	assert_int_equal(seen.state.mode, KTOP_MODE_KERNEL);
	assert_int_equal(seen.state.pc, PC);
	assert_int_equal(seen.state.registers[16], PC);
	assert_int_equal(seen.state.sp, SP);
	assert_int_equal(seen.bytes, 256);
	fake.mapped = 0;
	ask(1);
	run_block(1);
	assert_int_equal(seen.bytes, 0);
}

static void a_cpu_that_sleeps_is_called_by_whoever_asked(void **state)
{
	unsigned reads;

	(void)state;
	ask(0);
	public_sleeps(0, 0);
	assert_true(qemu.take_back_asleep(cpu(0)));
	assert_false(qemu.take_back_asleep(cpu(0)));
	reads = fake.reads;
	work(cpu(0), (union qemu_work_data) { .number = 42 });
	assert_true(seen.idle);
	assert_false(seen.known);
	assert_int_equal(seen.bytes, 0);
	assert_int_equal(fake.reads, reads);
	public_wakes(0, 0);
	run_block(0);			/* its word is still set */
	assert_int_equal(works, 1);
	assert_int_equal(fake.words[0], 0);
	ask(0);
	assert_false(qemu.take_back_asleep(cpu(0)));
	run_block(0);
	assert_int_equal(works, 2);
	assert_false(seen.idle);
}

static void no_cpu_is_read_for_another(void **state)
{
	struct target_state its;
	uint8_t byte;

	(void)state;
	assert_false(qemu.read_state(cpu(0), &its));
	assert_int_equal(memory_read(&qemu, cpu(0), SP, &byte, 1), 0);
	assert_int_equal(memory_read_physical(&qemu, 0x1000, &byte, 1), 0);
	assert_null(cpu(CPUS));
	public_sleeps(0, CPUS);
	public_wakes(0, CPUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_a_qemu_lacks_is_told, begin),
		cmocka_unit_test_setup(a_cpu_that_runs_is_called_once, begin),
		cmocka_unit_test_setup(its_registers_and_stack_are_read, begin),
		cmocka_unit_test_setup(a_cpu_that_sleeps_is_called_by_whoever_asked, begin),
		cmocka_unit_test_setup(no_cpu_is_read_for_another, begin),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
