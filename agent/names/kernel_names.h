/* SPDX-License-Identifier: MIT */
/*
 * The file with the kernel's names, that the user gives or QMP tells of: read beside, for it may be
 * large, on a slow disk, or a pipe whose writer takes its time. Each boot has what was read; whether
 * the file is another by then is looked at beside, and then it is read again.
 */
#ifndef KERNEL_NAMES_H
#define KERNEL_NAMES_H

#include <stdbool.h>

struct budget;
struct kernel_names;
struct symbols;

/* Begins to read; what is at that path may be read only once (spool.h). Never waits. */
struct kernel_names *kernel_names_new(const char *path, struct budget *budget);
void kernel_names_free(struct kernel_names *names);	/* never waits either */

const char *kernel_names_path(const struct kernel_names *names);

/* To be called now and then while it is being read. True: it has just been read, or has failed. */
bool kernel_names_step(struct kernel_names *names);
bool kernel_names_reading(const struct kernel_names *names);
const char *kernel_names_error(const struct kernel_names *names);	/* NULL: it has not failed */
bool kernel_names_starved(const struct kernel_names *names);	/* it has, for want of memory */

/* A new boot: whether it is still the same file is looked at, and a new one is read. */
void kernel_names_check(struct kernel_names *names);

/* Gives a boot what was read. False: it is being read, maybe again, or has failed. */
bool kernel_names_give(struct kernel_names *names, struct symbols *symbols);
void kernel_names_again(struct kernel_names *names);	/* reads it again, after it has failed */

#endif
