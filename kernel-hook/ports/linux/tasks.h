/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The names of threads and processes, and the files that they have mapped. The hook is given only those of tasks that
 * were sampled; the names also of those that trace events are about.
 */
#ifndef KTOP_LINUX_TASKS_H
#define KTOP_LINUX_TASKS_H

struct ktop;
struct task_struct;

/* Thread. Start returns 0 or a negative errno. Stop is called when no CPU samples any more. */
int tasks_start(void);
void tasks_stop(void);

/* NMI, on the CPU that runs the task, one call at a time there. This task is being sampled. */
void tasks_seen(const struct task_struct *task);

/* Thread, on the CPU that runs the task, not preempted; or interrupts off there. A trace event is about it. */
void tasks_traced(const struct task_struct *task);

/* The drainer. Gives the hook the tasks that are new, and four times a second those that have changed or ended. */
void tasks_tell(struct ktop *ktop);

/* The drainer. Waits for `timeout` jiffies, or until a new task is sampled, or the thread has to stop. */
void tasks_wait(unsigned long timeout);

#endif
