/* SPDX-License-Identifier: MIT */
/* Unix sockets: addresses, connecting, and passing descriptors. */
#ifndef UNIX_SOCKET_H
#define UNIX_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sockaddr_un;

bool unix_socket_address(struct sockaddr_un *address, const char *path);	/* false: the path is too long */

/*
 * Connects, and returns a descriptor that does not block. Never waits. -1 with errno; EAGAIN: the
 * listener's queue is full; ENAMETOOLONG: the path is too long for an address.
 */
int unix_socket_connect(const char *path);

/* The same, but waits at most wait_ms, 1 or more, for a place in the queue; then EAGAIN. */
int unix_socket_connect_within(const char *path, int wait_ms);

/* Sends all of it at once; false: it could not. Passes a descriptor along, unless that is -1. */
bool unix_socket_send(int fd, const void *bytes, size_t size, int passed);

/* ---- the peer ---- */

/* Who is at the other end of a unix socket, as far as the host's kernel tells. */

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
