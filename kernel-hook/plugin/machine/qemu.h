/* SPDX-License-Identifier: MIT */
/*
 * QEMU's own functions, found by name in the program that has loaded us. QEMU does not promise that they stay as they
 * are. These declarations are those of QEMU 7.2 and 10.0; self_test.h checks the functions against QEMU's interface for
 * plugins.
 */
#ifndef PLUGIN_QEMU_H
#define PLUGIN_QEMU_H

#include <stdbool.h>
#include <stdint.h>

struct target_state;
struct qemu_cpu;			/* QEMU's CPUState; where public.c stands in, its own */

union qemu_work_data {			/* run_on_cpu_data, include/hw/core/cpu.h */
	int number;
	unsigned long target;
	void *pointer;
};

typedef void qemu_work(struct qemu_cpu *cpu, union qemu_work_data data);

struct qemu_bytes {			/* GByteArray, glib/garray.h */
	uint8_t *data;
	unsigned size;
};

/* include/qemu/timer.h: stands while the machine does; with -icount it counts instructions */
enum { QEMU_CLOCK_VIRTUAL = 1 };

struct qemu {
	/* Ours, not QEMU's: debugger_read or public_read. */
	bool (*read_state)(struct qemu_cpu *cpu, struct target_state *state);
	bool guest_clock;		/* samples are due by the guest's clock, not by the host's */

	/* cpus-common.c: the CPU's thread calls `work` between two blocks of guest code, with QEMU's lock held. */
	void (*async_run_on_cpu)(struct qemu_cpu *cpu, qemu_work *work, union qemu_work_data data);
	struct qemu_cpu *(*get_cpu)(int index);			/* cpus-common.c */
	bool (*cpu_thread_is_idle)(struct qemu_cpu *cpu);	/* softmmu/cpus.c */
	int64_t (*clock_get_ns)(int clock);			/* util/qemu-timer.c */

	/* softmmu/cpu-timers.c: the host's time that has passed while the machine ran. NULL: not known */
	int64_t (*cpu_get_clock)(void);

	/* util/qemu-timer.c, any thread. QEMU calls `due` with its lock held; no group: the clock's own */
	void (*timer_init_full)(void *timer, void *group, int clock, int scale, int attributes,
		void (*due)(void *context), void *context);
	void (*timer_mod_ns)(void *timer, int64_t at);

	/*
	 * No functions of QEMU's: public.c has them, where it stands in for QEMU; else they are NULL. The first one
	 * takes back what async_run_on_cpu was asked for, since the CPU sleeps: the caller does the work itself. The
	 * second one reads memory within one page, all of the bytes or none, and returns how many.
	 */
	bool (*take_back_asleep)(struct qemu_cpu *cpu);
	uint32_t (*read_virtual)(struct qemu_cpu *cpu, uint64_t address, void *to, uint32_t size);

	/* cpu.c, exec.c: a page's physical address, or UINT64_MAX; whether a device is there; reads RAM and ROM */
	uint64_t (*cpu_get_phys_page_debug)(struct qemu_cpu *cpu, uint64_t page);
	bool (*cpu_physical_memory_is_io)(uint64_t address);
	void (*cpu_physical_memory_rw)(uint64_t address, void *bytes, uint64_t size, bool write);

	void (*register_reset)(void (*handler)(void *data), void *data);	/* hw/core/reset.c */

	/* qom/object.c: a text that QMP's qom-get reads */
	void *(*object_get_root)(void);
	void *(*object_property_add_str)(void *object, const char *name, char *(*get)(void *object, void **error),
		void (*set)(void *object, const char *value, void **error));

	/* glib */
	struct qemu_bytes *(*byte_array_new)(void);
	struct qemu_bytes *(*byte_array_set_size)(struct qemu_bytes *bytes, unsigned size);
	char *(*strdup)(const char *text);
};

/* Finds them. Returns NULL, or the name of the first function that this QEMU does not have: it is NULL then. */
const char *qemu_find(struct qemu *qemu);

/* A function that only one target's QEMU has, or one version. The caller casts it. NULL: this QEMU does not have it. */
typedef void qemu_function(void);
qemu_function *qemu_function_of(const char *name);

/* The CPU whose thread this is. NULL: it is no CPU's thread, or QEMU does not tell. */
struct qemu_cpu *qemu_this_cpu(void);

#endif
