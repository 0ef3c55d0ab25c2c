/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a unix socket, as far as the host's kernel tells. */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* The process that made the other end of `fd`; 0: not known. */
pid_t peer_process(int fd);

/* The user of that process; -1: not known. */
uid_t peer_user(int fd);

/* The working directory of the process that made the other end of `fd`, in fresh memory. NULL: not known. */
char *peer_folder(int fd);

/* The process that made the other end of `fd`, if it is stopped (SIGSTOP, a debugger); else 0. */
pid_t peer_stopped(int fd);

struct job;

struct peer_found {
	char *client;			/* such as "socat (pid 123)", in fresh memory; NULL: not known */
	pid_t stopped;			/* the process, if it is stopped; 0: it is not, or that is not known */
};

/*
 * Looks for a client of the listening socket at `path` (NULL: looks for none). `own_fd` (-1: none) is a
 * connection of ours to it, which does not count. Also checks whether the process at the other end of
 * `process_fd` (-1: none) is stopped. This is a job, for it may have to look at all processes of the host.
 */
struct job *peer_search(const char *path, int own_fd, int process_fd);

/* Takes what was found, and ends the job. False: it is not done yet. */
bool peer_found(struct job *job, struct peer_found *found);

#endif
