/* SPDX-License-Identifier: MIT */
/* A QEMU that says what the input has, and a ktop that asks it. */
#ifndef FUZZED_QMP_H
#define FUZZED_QMP_H

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/vm/qmp/qmp.h"
#include "tests/unit/fakes/qmp_loop.h"
#include "fuzz.h"

enum { QMP_PIECES = 64, QMP_WAIT_MS = 1000 };

/*
 * Each piece before a zero byte comes in one read. So the input decides which bytes come together, and which answer
 * comes before which question. Then the connection ends. `ask` is called if the beginning was QMP's.
 */
static inline void talk_to_qmp(const uint8_t *bytes, size_t size, void ask(struct qmp *))
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct qmp *qmp;
	char *error = NULL;
	int pair[2];

	require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	for (int i = 0; i < QMP_PIECES && input_piece(&input, &bytes, &size); i++)
		if (size && send(pair[1], bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	shutdown(pair[1], SHUT_WR);
	qmp = loop_open(qmp_from_fd(pair[0], "a socket", QMP_WAIT_MS), &error);
	require(!qmp == (error != NULL));
	if (qmp)
		ask(qmp);
	qmp_free(qmp);
	free(error);
	close(pair[1]);
}

#endif
