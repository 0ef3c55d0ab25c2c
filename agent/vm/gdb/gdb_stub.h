/* SPDX-License-Identifier: MIT */
/*
 * A dialogue with QEMU's gdb stub: it stops the machine, reads registers and stacks of all its CPUs, and lets it go on.
 * The caller's loop steps it, and it never waits. Nothing that the stub says is trusted.
 *
 * Connecting stops the machine, and so does each byte that is sent while it runs. If somebody else has stopped the
 * machine, it stays stopped, and the dialogue looks now and then whether it runs again. There is one gap: if somebody
 * stops the machine while it is stopped for a sample, QEMU does not tell, and the machine goes on after the sample.
 *
 * Some devices crash QEMU if a debugger reads them. So only RAM is read, by its physical address: QEMU tells at first
 * where the machine has RAM, and in each sample where the virtual addresses lie that are to be read. If it does not
 * tell where there is RAM, no memory is read.
 */
#ifndef GDB_STUB_H
#define GDB_STUB_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gdb_stub;
struct ktop_task_places;
struct target_state;
struct task;

enum gdb_state {
	GDB_GREETING,			/* the machine is stopped, and is asked what it is */
	GDB_RUNNING,			/* the machine runs; ready for a sample */
	GDB_PAUSED,			/* somebody else has stopped it; ready for a sample that finds out if it runs */
	/* a sample is under way, and the machine is stopped */
	GDB_REGISTERS, GDB_STACKS, GDB_FURTHER, GDB_PROGRAMS,
	GDB_CONFUSED,			/* answers do not fit the questions: awaits a known one */
	GDB_LEAVING,			/* lets it go on, if it is stopped for us, and closes the connection */
	GDB_GONE,			/* no connection */
};

/*
 * Owns the socket `fd` from now on. It does not block, and is connected, or about to be, to the stub of a machine that
 * ran before. `now`, here and below: the host's time, ns.
 */
struct gdb_stub *gdb_stub_new(int fd, uint64_t now);
void gdb_stub_free(struct gdb_stub *stub);

enum gdb_state gdb_stub_state(const struct gdb_stub *stub);
const char *gdb_stub_error(const struct gdb_stub *stub);	/* why the connection is gone; "": gdb_stub_leave */

/* What the caller polls for; and when the next step is due if nothing comes (host ns; UINT64_MAX: never). */
struct pollfd gdb_stub_wait(const struct gdb_stub *stub);
uint64_t gdb_stub_due(const struct gdb_stub *stub);

/* Reads answers, sends what waits. True: a sample is complete. It stays until the next one begins. */
bool gdb_stub_step(struct gdb_stub *stub, uint64_t now);

/* Begins a sample, if the state is GDB_RUNNING or GDB_PAUSED. */
void gdb_stub_sample(struct gdb_stub *stub, uint64_t now);

/*
 * No sample is begun any more. The caller steps until it is gone: by then the machine runs, unless somebody else has
 * stopped it.
 */
void gdb_stub_leave(struct gdb_stub *stub, uint64_t now);

/* Known after the greeting: QEMU's name of the architecture; how many CPUs. */
const char *gdb_stub_arch(const struct gdb_stub *stub);
uint32_t gdb_stub_cpus(const struct gdb_stub *stub);

/*
 * The next sample also reads `size` bytes at this virtual address, by the first CPU. The caller knows that no device is
 * there. gdb_stub_seen: the bytes; NULL: not so many were read.
 */
enum { GDB_SEEN = 64 };			/* bytes at most */
void gdb_stub_look(struct gdb_stub *stub, uint64_t address, uint32_t size);
const uint8_t *gdb_stub_seen(const struct gdb_stub *stub, uint32_t size);

/*
 * The next sample also reads these pages, at virtual addresses, at most GDB_PAGES: by a CPU in its kernel, if there is
 * one, else by the first. The caller knows that no device is there, unless gdb_stub_walks. gdb_stub_page, for the last
 * sample: false: this page was not asked for. `*bytes`: NULL: nothing is mapped there. gdb_stub_in_kernel: that CPU was
 * in its kernel, all of which was mapped.
 */
enum { GDB_PAGES = 8, GDB_PAGE = 4096 };
void gdb_stub_read(struct gdb_stub *stub, const uint64_t *addresses, uint32_t count);
bool gdb_stub_page(const struct gdb_stub *stub, uint64_t address, const uint8_t **bytes);
bool gdb_stub_in_kernel(const struct gdb_stub *stub);

/*
 * Known after the greeting: page tables are walked here (gdb_frames.c), and not by QEMU. So whatever address is asked
 * for, a device is neither read nor met on the way.
 */
bool gdb_stub_walks(const struct gdb_stub *stub);

/*
 * After the greeting. If QEMU keeps the machine's memory in a file that it shares, memory is read there, without QEMU,
 * as soon as the file has proved itself; on x86-64, and on aarch64 in its kernel. gdb_stub_is_direct: it has.
 * gdb_stub_physical: reads physical memory so; false: some of it is not there.
 */
void gdb_stub_share(struct gdb_stub *stub);
bool gdb_stub_is_direct(const struct gdb_stub *stub);
bool gdb_stub_physical(const struct gdb_stub *stub, uint64_t address, void *to, uint32_t size);

/*
 * Known after the greeting: QEMU tells where there is RAM. Of the last sample: a kernel's stack was not read, since it
 * lies elsewhere.
 */
bool gdb_stub_knows_ram(const struct gdb_stub *stub);
bool gdb_stub_refused(const struct gdb_stub *stub);

/* From the next sample on, it tells which thread each CPU runs, as the guest's kernel keeps it there. */
void gdb_stub_follow(struct gdb_stub *stub, const struct ktop_task_places *places);

/*
 * Of the last sample: a CPU's registers, and its stack as a sample on the wire has it: the bytes from the stack pointer
 * on, and where they go on or lead to; and that of the program for which the kernel works. NULL: registers could not
 * be read.
 */
struct gdb_stack {
	const uint8_t *bytes, *linked, *user;
	uint32_t size, linked_size, user_size;
	uint64_t linked_address, user_address;
};
const struct target_state *gdb_stub_cpu(const struct gdb_stub *stub, uint32_t cpu, struct gdb_stack *stack);
struct task gdb_stub_task(const struct gdb_stub *stub, uint32_t cpu);
bool gdb_stub_busy(const struct gdb_stub *stub);			/* a sample is under way */
bool gdb_stub_idle(const struct gdb_stub *stub, uint32_t cpu);	/* it waits for an interrupt */
uint64_t gdb_stub_begun(const struct gdb_stub *stub);		/* the host's time, ns */
uint64_t gdb_stub_stopped(const struct gdb_stub *stub);		/* ns for which the machine was stopped */

/*
 * Before this, host ns, the next sample is not to be begun: after each sample, the machine runs four times as long as
 * it stood, for 20 s at most. It may have stood for long also for a sample that was given up.
 */
uint64_t gdb_stub_rests(const struct gdb_stub *stub);

/* ---- the target ---- */

/*
 * Which registers a machine has, by its target description ("Target Descriptions" in GDB's manual). The description is
 * a number of XML files; the first one names the others. Registers are numbered in the order in which they are
 * listed, unless a register says its number.
 */

enum { GDB_NUMBERS = 512, GDB_FILES = 16, GDB_NAME = 64 };

/* Registers that are asked for by name: of aarch64; of riscv64, its mode, and its page tables. */
enum gdb_named { GDB_SP_EL0, GDB_TCR_EL1, GDB_TTBR1_EL1, GDB_PRIV, GDB_SATP, GDB_NAMED };

struct gdb_target {			/* starts zeroed */
	char architecture[GDB_NAME];	/* as GDB calls it; "": not told */
	char files[GDB_FILES][GDB_NAME];	/* the names of the other files */
	size_t file_count;
	uint32_t next;			/* the number of the next register, if it does not say one */
	uint8_t sizes[GDB_NUMBERS];	/* bytes of each; 0: there is none of this number */
	uint32_t named[GDB_NAMED];	/* the number of each; 0: there is none */
};

/* The offset of a register's bytes in the answer to `g`, which has all registers. -1: there is no such register. */
long gdb_target_offset(const struct gdb_target *target, unsigned number);

#endif
