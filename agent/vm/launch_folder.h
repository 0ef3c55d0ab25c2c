/* SPDX-License-Identifier: MIT */
/*
 * The private folder of one launch, with the sockets of its QEMU. It is locked while ktop or that QEMU lives. So the
 * next launch recognizes, and removes, what a killed ktop has left.
 */
#ifndef LAUNCH_FOLDER_H
#define LAUNCH_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct launch_folder {			/* starts as { .lock = -1 } */
	char *path;			/* NULL: there is no folder */
	int lock;			/* the folder's descriptor, which holds the lock */
};

#define LAUNCH_QMP "qmp"
#define LAUNCH_PORT "port"
#define LAUNCH_PLUGIN "plugin"
#define LAUNCH_GDB "gdb"

/*
 * Makes it in XDG_RUNTIME_DIR, else in /tmp, mode 0700. False with `error` set. `user`: of the QEMU that makes sockets
 * in it; -1: not known. If we are root, that user can: where it is another one, the folder is in /tmp, and theirs.
 */
bool launch_folder_make(struct launch_folder *folder, uid_t user, char **error);

/* Removes the folder with its files, whichever are there. */
void launch_folder_remove(struct launch_folder *folder);

/* Leaves it to the processes that have got the lock's descriptor: their end unlocks it. */
void launch_folder_leave(struct launch_folder *folder);

#endif
