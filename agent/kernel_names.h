/*
 * The file with the kernel's names that the user gives. It is read at the start, so that what is
 * wrong with it is said then, and not at the guest's first packet; each boot has what was
 * read, unless the file is another by then.
 */
#ifndef KERNEL_NAMES_H
#define KERNEL_NAMES_H

struct budget;
struct kernel_names;
struct symbols;

/* NULL with `error` set. A file that can be read only once is kept in memory (spool.h). */
struct kernel_names *kernel_names_open(const char *path, struct budget *budget, char **error);
void kernel_names_free(struct kernel_names *names);

const char *kernel_names_path(const struct kernel_names *names);	/* to read it again */

/* For a boot, and owned by the caller; NULL: the file has changed since it was read. */
struct symbols *kernel_names_take(struct kernel_names *names);

#endif
