/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who is sampled: names of threads and processes, and what programs they have mapped. Only of those
 * is told that show up in samples.
 */
#ifndef KTOP_LINUX_TASKS_H
#define KTOP_LINUX_TASKS_H

struct ktop;
struct task_struct;

/* Thread. 0, or a negative errno; to free, no more is sampled. */
int tasks_start(void);
void tasks_stop(void);

/* NMI, on the task's own CPU, never twice at once there: this task is being sampled. */
void tasks_seen(const struct task_struct *task);

/* The drainer: tells of those that are new, and now and then of those that changed or ended. */
void tasks_tell(struct ktop *ktop);

/* The drainer: for so many jiffies, or until a new one shows up, or the thread is to stop. */
void tasks_wait(unsigned long timeout);

#endif
