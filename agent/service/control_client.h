/* SPDX-License-Identifier: MIT */
/* Who asks a live ktop by its control socket. */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is there a live ktop for this VM (socket NULL: exactly one at all)? Its path, or NULL. */
char *control_client_find(const char *socket);

/* The sockets of the VMs that live ktops have, ", " between them, in fresh memory; NULL: none. */
char *control_client_live(void);

struct control_question {
	char *const *words;
	size_t count;
	uint64_t deadline;		/* util_now */
	bool (*enough)(void);		/* NULL: never; asked often: is it to answer with what it has? */
};

/*
 * Asks and waits for the answer, in fresh memory, ended by a zero behind `size` bytes; *ok as the
 * other side says. NULL with `error` set when it cannot be asked, or at the deadline.
 */
char *control_client_ask(const char *path, const struct control_question *question, bool *ok,
	size_t *size, char **error);

#endif
