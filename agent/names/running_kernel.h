/* SPDX-License-Identifier: MIT */
/*
 * Finds in a running Linux kernel's memory where the kernel runs, and its modules with their functions; of another
 * kernel, where it runs. The symbols must have its boot image, or its file. Whoever can read the guest's memory calls
 * these now and then, as the owner of the symbols.
 */
#ifndef RUNNING_KERNEL_H
#define RUNNING_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/names/linux/walk.h"

struct budget;
struct kernel_place;
struct memory_reader;
struct symbols;

/*
 * Finds the kernel's slide, and sets it. `code`: an address of the kernel's code; 0: none is known. False: it was not
 * found; it may be later.
 */
bool running_kernel_place(struct symbols *symbols, const struct memory_reader *memory, uint64_t code);

/* The same by physical memory. `start`: the physical address of the kernel's first byte. */
bool running_kernel_place_physically(struct symbols *symbols, const struct memory_reader *physical, uint64_t start);

/*
 * Likewise by return addresses of sampled stacks, where nothing of the memory can be read. False: they are too few, or
 * more than one place would do.
 */
bool running_kernel_place_by_returns(struct symbols *symbols, const uint64_t *returns, size_t count);

/*
 * Reads for how long the kernel was up at its last tick: ns. `*place`: an address that was read. False: that is not
 * known, or is not there (yet), or makes no sense.
 */
bool running_kernel_uptime(struct symbols *symbols, const struct memory_reader *memory, uint64_t *place, uint64_t *ns);

/* How far a look at the modules has come. Starts zeroed. */
struct running_kernel_look {
	enum { RUNNING_KERNEL_MODULES, RUNNING_KERNEL_BPF, RUNNING_KERNEL_TRAMPOLINES, RUNNING_KERNEL_DONE } stage;
	struct list_place place;	/* in the list of this stage */
	bool whole;			/* the list of modules was read to its end */
};

/*
 * A turn of a look (walk.h). New modules become objects of the symbols, and their functions are told to them; so is
 * code that the kernel makes while it runs, in objects "[bpf]" and "[trampoline]". WALK_FAILED: it is not known where
 * the kernel runs, or its list of modules could not be read to its end.
 */
enum walk running_kernel_read_modules(struct symbols *symbols, const struct walked_memory *memory,
	struct running_kernel_look *look);

/*
 * Finds where a kernel runs that is no Linux, and that tells nothing of itself: some are loaded elsewhere than their
 * file says, or move themselves; and of some the file is another one's. Code that was sampled is read in the guest's
 * memory, and looked for in the file. Call the step often; what it finds is told to the symbols. kernel_place_wake:
 * pages have come. kernel_place_is_due: a look begins, so pages that came before are out of date.
 */
struct kernel_place *kernel_place_new(struct symbols *symbols, struct budget *budget);	/* borrows both */
void kernel_place_free(struct kernel_place *place);
void kernel_place_wake(struct kernel_place *place);
bool kernel_place_is_due(const struct kernel_place *place);
void kernel_place_step(struct kernel_place *place, const struct memory_reader *memory);

/* ---- its names ---- */

/*
 * The file with the kernel's names, given by the user or found through QMP. It is read in a job, for it
 * may be large, on a slow disk, or a pipe with a slow writer. All boots share what was read. At each boot
 * another job checks whether the file has changed, and reads it again if so.
 */

struct kernel_names;

/* Begins to read. Never waits. `given`: by the user; then the path may be readable only once (util_file.h). */
struct kernel_names *kernel_names_new(const char *path, bool given, struct budget *budget);
void kernel_names_free(struct kernel_names *names);	/* does not wait, either */

const char *kernel_names_path(const struct kernel_names *names);

/* To be called now and then while the file is being read. True: it has just been read, or reading has failed. */
bool kernel_names_step(struct kernel_names *names);
bool kernel_names_reading(const struct kernel_names *names);
bool kernel_names_copying(const struct kernel_names *names);	/* while it is: a pipe's writer may still write */
const char *kernel_names_error(const struct kernel_names *names);	/* NULL: reading has not failed */
bool kernel_names_starved(const struct kernel_names *names);	/* it failed because memory was short */

/* For a new boot: checks whether the file has changed, and reads it again if so. */
void kernel_names_check(struct kernel_names *names);

/* Gives a boot the names. False: reading them begins, if it is not under way; or an error tells why not. */
bool kernel_names_give(struct kernel_names *names, struct symbols *symbols);
void kernel_names_again(struct kernel_names *names);	/* reads again, after a failure */

#endif
