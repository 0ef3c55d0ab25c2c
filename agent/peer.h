/* Who is at the other end of a unix socket. Best effort, by what the host's kernel tells. */
#ifndef PEER_H
#define PEER_H

#include <sys/types.h>

/* Working directory of the process that made the other end of `fd`; NULL: it cannot be told. */
char *peer_folder(int fd);

/* The process that made the other end of `fd`, when it is stopped (SIGSTOP, a debugger); else 0. */
pid_t peer_stopped(int fd);

/*
 * "socat (pid 123)", a client of the listening socket at `path` other than `own_fd` (-1: none);
 * NULL when it cannot be told.
 */
char *peer_client(const char *path, int own_fd);

#endif
