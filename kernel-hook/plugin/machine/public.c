/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "asked.h"
#include "clock.h"
#include "public.h"
#include "qemu.h"
#include "qemu_plugin.h"
#include "target.h"

enum {
	API = 4,			/* the version that has qemu_plugin_read_memory_vaddr */
	/*
	 * A scoreboard has room for so many CPUs at first (plugins/core.c). QEMU moves it when it plugs in one more,
	 * while the timer's thread may write to it.
	 */
	ROOM = 16,
};

/* include/qemu/qemu-plugin.h of QEMU 10.0 */
enum { QEMU_PLUGIN_CB_R_REGS = 1, QEMU_PLUGIN_COND_NE = 3 };

struct qemu_array {			/* GArray, glib/garray.h */
	void *data;
	unsigned count;
};

struct qemu_register {			/* qemu_plugin_reg_descriptor */
	void *handle;			/* any value, NULL too */
	const char *name, *feature;
};

struct qemu_word {			/* qemu_plugin_u64: a word of each CPU */
	void *scoreboard;
	size_t offset;
};

typedef void block_ends(unsigned index, void *address);

struct handle {
	bool known;
	void *handle;
};

struct public_cpu {
	uint32_t index;
	bool is_set_up;			/* the handles were looked for */
	struct asked asked;

	/* of the call: the timer's thread writes them before it asks */
	qemu_work *work;
	union qemu_work_data data;

	/* of the CPU's thread */
	uint64_t pc;			/* of the instruction that it comes to */
	struct handle registers[TARGET_NUMBERS], fields[TARGET_FIELDS];
};

/* Fixed after public_prepare, but for `bytes`: boot.c lets one CPU at a time make its call. */
static struct {
	const struct target *target;
	uint32_t count;
	struct public_cpu *cpus;
	struct qemu_bytes *bytes;
	struct qemu_word word;
	uint64_t begun;			/* ns of the host's clock */

	void *(*scoreboard_new)(size_t size);
	void *(*scoreboard_find)(void *scoreboard, unsigned index);
	void (*call_if)(struct qemu_plugin_insn *insn, block_ends *call, int registers, int condition,
		struct qemu_word word, uint64_t operand, void *data);
	struct qemu_array *(*get_registers)(void);
	int (*read_register)(void *handle, struct qemu_bytes *bytes);
	bool (*read_memory)(uint64_t address, struct qemu_bytes *bytes, size_t size);
	struct qemu_bytes *(*byte_array_new)(void);
	struct qemu_bytes *(*byte_array_set_size)(struct qemu_bytes *bytes, unsigned size);
	char *(*array_free)(struct qemu_array *array, int elements);
} api;

/* The CPU whose call this thread makes, as it is that CPU's own. QEMU reads that CPU, and no other. */
static _Thread_local const struct public_cpu *here;

static struct public_cpu *of(struct qemu_cpu *cpu)
{
	return (struct public_cpu *)cpu;
}

/* ---- the calls ---- */

static uint64_t *word_of(const struct public_cpu *cpu)
{
	return api.scoreboard_find(api.word.scoreboard, cpu->index);
}

/* The timer's thread. */
static void ask(struct qemu_cpu *which, qemu_work *work, union qemu_work_data data)
{
	struct public_cpu *cpu = of(which);

	cpu->work = work;
	cpu->data = data;
	asked_want(&cpu->asked);
	__atomic_store_n(word_of(cpu), 1, __ATOMIC_RELAXED);
}

/* The timer's thread. If the CPU wakes up just now, one of the two threads makes the call. */
static bool take_back_asleep(struct qemu_cpu *which)
{
	return asked_take_back_asleep(&of(which)->asked);
}

/* On the CPU's thread: its word is set, and it comes to a block's last instruction, at this address. */
static void end_block(unsigned index, void *address)
{
	struct public_cpu *cpu = &api.cpus[index];

	__atomic_store_n(word_of(cpu), 0, __ATOMIC_RELAXED);
	if (!asked_take_back(&cpu->asked))
		return;
	cpu->pc = (uint64_t)(uintptr_t)address;
	here = cpu;
	cpu->work((struct qemu_cpu *)cpu, cpu->data);
	here = NULL;
}

void public_block(struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);

	api.call_if(last, end_block, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE, api.word, 0,
		(void *)(uintptr_t)qemu_plugin_insn_vaddr(last));
}

static void set_sleeps(unsigned index, bool sleeps)
{
	if (index < api.count)
		asked_sleep(&api.cpus[index].asked, sleeps);
}

void public_sleeps(uint64_t id, unsigned index)
{
	(void)id;
	set_sleeps(index, true);
}

void public_wakes(uint64_t id, unsigned index)
{
	(void)id;
	set_sleeps(index, false);
}

/* ---- what a call reads ---- */

static void find_handle(const struct qemu_register *all, unsigned count, const char *name, struct handle *handle)
{
	for (unsigned i = 0; name && i < count; i++)
		if (all[i].name && strcmp(all[i].name, name) == 0) {
			*handle = (struct handle) { .known = true, .handle = all[i].handle };
			return;
		}
}

static void set_up(struct public_cpu *cpu)
{
	struct qemu_array *all = api.get_registers();

	cpu->is_set_up = true;
	for (unsigned i = 0; all && i < TARGET_NUMBERS; i++)
		find_handle(all->data, all->count, target_register(api.target, i), &cpu->registers[i]);
	for (unsigned i = 0; all && i < TARGET_FIELDS; i++)
		find_handle(all->data, all->count, target_field_register(api.target, (enum target_field)i),
			&cpu->fields[i]);
	if (all)
		api.array_free(all, true);
}

/* Versions of QEMU differ in what the function returns. The bytes tell how many they are. */
static bool get_handle(const struct handle *handle, unsigned size, uint64_t *value)
{
	struct qemu_bytes *bytes = api.bytes;

	api.byte_array_set_size(bytes, 0);
	if (!handle->known)
		return false;
	api.read_register(handle->handle, bytes);
	if (bytes->size != size)
		return false;
	memcpy(value, bytes->data, size);
	return true;
}

static bool get(const struct target_cpu *cpu, unsigned number, unsigned size, uint64_t *value)
{
	(void)cpu;
	return number < TARGET_NUMBERS && get_handle(&here->registers[number], size, value);
}

static bool field(const struct target_cpu *cpu, enum target_field which, uint64_t *value)
{
	(void)cpu;
	return get_handle(&here->fields[which], sizeof(*value), value);
}

/* While a block runs, QEMU does not keep the program counter in its place. The instruction's address is right. */
bool public_read(struct qemu_cpu *which, struct target_state *state)
{
	static const struct target_cpu reader = { .get = get, .field = field };
	struct public_cpu *cpu = of(which);

	if (here != cpu)
		return false;
	if (!cpu->is_set_up)
		set_up(cpu);
	if (!target_read(api.target, &reader, state) || state->count == 0)
		return false;
	state->pc = state->registers[state->count - 1] = cpu->pc;
	return true;
}

static uint32_t read_virtual(struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size)
{
	if (here != of(cpu) || !api.read_memory(address, api.bytes, size) || api.bytes->size != size)
		return 0;
	memcpy(to, api.bytes->data, size);
	return size;
}

/* ---- the stand-ins ---- */

static struct qemu_cpu *cpu_of(int index)
{
	return index >= 0 && (uint32_t)index < api.count ? (struct qemu_cpu *)&api.cpus[index] : NULL;
}

static bool is_idle(struct qemu_cpu *cpu)
{
	return here != of(cpu);
}

static uint64_t host_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * CLOCK_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static int64_t host_clock(int clock)
{
	(void)clock;
	return (int64_t)(host_now() - api.begun);
}

void public_stand_in(struct qemu *qemu)
{
	qemu->read_state = public_read;
	qemu->async_run_on_cpu = ask;
	qemu->take_back_asleep = take_back_asleep;
	qemu->get_cpu = cpu_of;
	qemu->cpu_thread_is_idle = is_idle;
	qemu->read_virtual = read_virtual;
	qemu->guest_clock = false;
	if (!qemu->clock_get_ns)
		qemu->clock_get_ns = host_clock;
}

/* ---- the beginning ---- */

static bool find(const char *name, void *function)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

static const char *find_functions(void)
{
	const struct { const char *name; void *function; } wanted[] = {
		{ "qemu_plugin_read_memory_vaddr", &api.read_memory },
		{ "qemu_plugin_register_vcpu_insn_exec_cond_cb", &api.call_if },
		{ "qemu_plugin_scoreboard_new", &api.scoreboard_new },
		{ "qemu_plugin_scoreboard_find", &api.scoreboard_find },
		{ "qemu_plugin_get_registers", &api.get_registers },
		{ "qemu_plugin_read_register", &api.read_register },
		{ "g_byte_array_new", &api.byte_array_new },
		{ "g_byte_array_set_size", &api.byte_array_set_size },
		{ "g_array_free", &api.array_free },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!find(wanted[i].name, wanted[i].function))
			return wanted[i].name;
	return NULL;
}

const char *public_prepare(const struct target *target, const struct qemu_plugin_info *info)
{
	const char *missing = info->version.cur < API ? "qemu_plugin_read_memory_vaddr" : find_functions();

	if (missing)
		return missing;
	if (info->system.max_vcpus > ROOM && info->system.max_vcpus > info->system.smp_vcpus)
		return "CPUs that are plugged in later, beyond 16";
	api.target = target;
	api.count = (uint32_t)info->system.max_vcpus;
	api.cpus = calloc(api.count, sizeof(*api.cpus));
	api.bytes = api.byte_array_new();
	api.word.scoreboard = api.scoreboard_new(sizeof(uint64_t));
	api.begun = host_now();
	if (!api.cpus || !api.word.scoreboard)
		return "memory";
	for (uint32_t i = 0; i < api.count; i++)
		api.cpus[i].index = i;
	return NULL;
}
