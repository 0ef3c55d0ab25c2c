/* SPDX-License-Identifier: MIT */
/* A made-up guest behind a socket, in a process of its own: takes one host after the other. */
#ifndef GUEST_H
#define GUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct setup;

struct guest {
	pid_t pid;
	_Atomic uint64_t *sent;		/* samples that the socket has taken */
};

/*
 * `hurry`: guest time goes on as fast as the host reads; else as time does, and what the host does
 * not read in time is not made up for.
 */
struct guest guest_start(const char *socket, const struct setup *setup, bool hurry);
void guest_end(struct guest *guest);

#endif
