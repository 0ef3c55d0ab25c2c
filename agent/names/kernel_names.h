/* SPDX-License-Identifier: MIT */
/*
 * The file with the kernel's names, given by the user or found through QMP. It is read in a job, for it
 * may be large, on a slow disk, or a pipe with a slow writer. All boots share what was read. At each boot
 * another job checks whether the file has changed, and reads it again if so.
 */
#ifndef KERNEL_NAMES_H
#define KERNEL_NAMES_H

#include <stdbool.h>

struct budget;
struct kernel_names;
struct symbols;

/* Begins to read. Never waits. `given`: by the user; then the path may be readable only once (spool.h). */
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
