/* SPDX-License-Identifier: MIT */
/*
 * Reads which processes a running Linux kernel has, and which code each has mapped, out of the kernel's memory. Both
 * may change while they are read, and the contents are hostile: what makes no sense is left out, and each walk ends.
 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "walk.h"

struct kernel_layout;

enum { PROCESSES_MAX = 4096, PROCESS_AREAS_MAX = 512, PROCESS_NAME_MAX = 15, PROCESS_PATH_MAX = 511 };

struct process {
	uint64_t memory;		/* the address of its struct mm_struct; without one it is not visited */
	uint32_t number;		/* as in a raw sample */
	char name[PROCESS_NAME_MAX + 1];	/* of its first thread; any bytes */
};

struct process_area {			/* memory of a process that holds code */
	uint64_t start, end;
	uint64_t offset;		/* which byte of the file lies at `start` */
	/* The file's path in its file system, any bytes, until the visit is over; "[vdso]", "[anonymous]": no file. */
	const char *path;
	uint64_t contents;		/* of its file: the address of a struct address_space; 0: none, or not known */
};

struct process_visitor {
	/* Is called for one process. False ends the turn: the next one begins with the same again. */
	bool (*process)(void *context, const struct process *process);
	/* Is called for one area. False ends the visit. */
	bool (*area)(void *context, const struct process_area *area);
	void *context;
};

/*
 * Visits the processes, the youngest first. `first`: the run address of `init_task`. WALK_FAILED: some of the list
 * cannot be read (yet). What came before was visited.
 */
enum walk processes_visit(const struct kernel_layout *layout, uint64_t first, const struct walked_memory *memory,
	struct list_place *place, const struct process_visitor *visitor);

/*
 * Visits the process's areas with code, in one turn: of a process that has absurdly much, some. False: some of them
 * cannot be read (yet).
 */
bool process_areas_visit(const struct kernel_layout *layout, const struct process *process,
	const struct walked_memory *memory, const struct process_visitor *visitor);

#endif
