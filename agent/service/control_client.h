/* SPDX-License-Identifier: MIT */
/* The client's side of the control socket: asks a live ktop. These calls wait. */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the path of the control socket of the live ktop for this VM, in fresh memory; NULL: there is none. With
 * `socket` NULL it is that of the only live ktop, and NULL if there are several.
 */
char *control_client_find(const char *socket);

/* The sockets of the VMs that have a live ktop, with ", " between them, in fresh memory; NULL: none. */
char *control_client_live(void);

struct control_question {
	char *const *words;
	size_t count;
	uint64_t deadline;		/* for the answer, by util_now */
	bool (*enough)(void *context);	/* asked often; true: answer now, with what there is; NULL: never */
	void *context;
};

/*
 * Asks, and waits for the answer. Returns its text in fresh memory, `size` bytes and a zero behind them; *ok is what
 * the live ktop said. NULL with `error` set if it could not be asked, or did not answer by the deadline.
 */
char *control_client_ask(const char *path, const struct control_question *question, bool *ok,
	size_t *size, char **error);

#endif
