/* SPDX-License-Identifier: MIT */
/*
 * The private folder of one launch: sockets and output of its QEMU. Locked while we live, so that
 * the next launch knows what a killed ktop has left, and removes it.
 */
#ifndef LAUNCH_FOLDER_H
#define LAUNCH_FOLDER_H

#include <stdbool.h>

struct launch_folder {			/* starts as { .lock = -1 } */
	char *path;			/* NULL: not made */
	int lock;
};

#define LAUNCH_QMP "qmp"
#define LAUNCH_PORT "port"
#define LAUNCH_OUTPUT "output"

/* In XDG_RUNTIME_DIR, else in /tmp, mode 0700. False with `error` set. */
bool launch_folder_make(struct launch_folder *folder, char **error);

/* With the three files, if they are there. */
void launch_folder_remove(struct launch_folder *folder);

#endif
