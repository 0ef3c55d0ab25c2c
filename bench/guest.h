/* SPDX-License-Identifier: MIT */
/* A made-up guest behind a socket, in a process of its own. It serves one host after the other. */
#ifndef GUEST_H
#define GUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct setup;

struct guest {
	pid_t pid;
	_Atomic uint64_t *sent;		/* samples and events given to the socket; the guest's process writes it */
};

/*
 * With `hurry`, guest time runs as fast as the host reads. Without, it runs like the clock; what the host does not read
 * in time is then not sent later.
 */
struct guest guest_start(const char *socket, const struct setup *setup, bool hurry);
void guest_end(struct guest *guest);

#endif
