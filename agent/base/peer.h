/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a unix socket. Best effort, by what the host's kernel tells. */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* Working directory of the process that made the other end of `fd`; NULL: it cannot be told. */
char *peer_folder(int fd);

/* The process that made the other end of `fd`, when it is stopped (SIGSTOP, a debugger); else 0. */
pid_t peer_stopped(int fd);

struct errand;

struct peer_found {
	char *client;			/* "socat (pid 123)", in fresh memory; NULL: it cannot be told */
	pid_t stopped;			/* 0: it is not, or nobody can tell */
};

/*
 * Looks for a client of the listening socket at `path` (NULL: none) other than `own_fd` (-1: none),
 * and whether the process at the other end of `process_fd` (-1: none) is stopped: an errand, for
 * all processes of the host may have to be looked at.
 */
struct errand *peer_search(const char *path, int own_fd, int process_fd);

/* What it has found; then the errand is over. False: not yet. */
bool peer_found(struct errand *errand, struct peer_found *found);

#endif
