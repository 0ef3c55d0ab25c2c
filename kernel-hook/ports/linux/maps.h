/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which files a process has mapped as code, and where. All functions: the drainer, except start and stop: thread; and
 * maps_glimpse().
 */
#ifndef KTOP_LINUX_MAPS_H
#define KTOP_LINUX_MAPS_H

#include <linux/types.h>

struct file;
struct ktop;
struct mm_struct;
struct task_struct;

struct map {
	u64 start, end, offset;		/* addresses; which byte of the file lies at `start` */
	struct file *file;		/* held */
};

enum { MAPS_GLIMPSE = 6 };

/* What a process had mapped at one moment. */
struct maps_glimpse {
	unsigned int count;
	struct map maps[MAPS_GLIMPSE];
};

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

/*
 * An interrupt, but no NMI, in the process whose address space it is. Finds the first files of a process with few
 * memory areas, as each has that has just begun. False: it is to be tried again, since the process is changing them.
 */
bool maps_glimpse(struct mm_struct *mm, struct maps_glimpse *glimpse);

void maps_tell_glimpse(struct ktop *ktop, pid_t process, const struct maps_glimpse *glimpse);
void maps_drop_glimpse(struct maps_glimpse *glimpse);	/* lets go of the files */

#endif
