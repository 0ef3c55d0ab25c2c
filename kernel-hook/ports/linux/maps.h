/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which files a process has mapped as code, and where. All functions: the drainer, except start and stop: thread. */
#ifndef KTOP_LINUX_MAPS_H
#define KTOP_LINUX_MAPS_H

struct ktop;
struct task_struct;

/* Start: 0, or a negative errno. */
int maps_start(void);
void maps_stop(void);

/* How many pages of code the process has. When that changes, its maps have changed. 0: it has no address space. */
unsigned long maps_pages(struct task_struct *process);

/*
 * Gives the hook the process's files as objects, and returns maps_pages(). It counts the memory areas that it looks at
 * off `*areas`. 0: some are missing, to be tried again later: the process was busy, `*areas` was 0, or the head of a
 * file was not in memory.
 */
unsigned long maps_tell(struct ktop *ktop, struct task_struct *process, unsigned int *areas);

#endif
