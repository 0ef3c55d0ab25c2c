/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which files a process has mapped as code, and where. The drainer. */
#ifndef KTOP_LINUX_MAPS_H
#define KTOP_LINUX_MAPS_H

struct ktop;
struct task_struct;

/* 0, or a negative errno. */
int maps_start(void);
void maps_stop(void);

/* Pages of code that the process has: when they are others, so are its maps. 0: it has no memory. */
unsigned long maps_pages(struct task_struct *process);

/*
 * Tells of them, and returns maps_pages(). 0: not of all, for the process was busy, `areas` of memory
 * had all been looked at, or the head of a file is not in memory: later, then.
 */
unsigned long maps_tell(struct ktop *ktop, struct task_struct *process, unsigned int *areas);

#endif
