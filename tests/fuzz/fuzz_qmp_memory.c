/* SPDX-License-Identifier: MIT */
/*
 * What a QEMU says that is asked for pages of its guest's memory. Each piece before a zero byte comes in one read. So
 * the input decides which bytes come together, and which answer comes before which question. Then the connection ends.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_memory.h"
#include "tests/unit/fakes/qmp_loop.h"
#include "fuzz.h"

enum { PIECES = 64, WAIT_MS = 1000, CPUS = 2, PAGES = 3 };

#define ADDRESS 0xffffffff81042000

/* The map of the machine's RAM, which the first answer tells, stays from page to page. */
static void read_pages(struct qmp *qmp)
{
	struct qmp_memory memory = { .mapped = false };

	for (uint64_t i = 0; i < PAGES; i++) {
		bool whole;

		memory_begin(&memory, qmp, CPUS, ADDRESS + i * QMP_PAGE, util_now(), WAIT_MS);
		whole = loop_talk(&memory.talk);
		require(!memory.there || (whole && memory.mapped && memory.physical % QMP_PAGE == 0 &&
			ram_map_has(&memory.map, memory.physical, QMP_PAGE)));
		memory_clear(&memory);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct qmp *qmp;
	char *error = NULL;
	int pair[2];

	require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	for (int i = 0; i < PIECES && input_piece(&input, &bytes, &size); i++)
		if (size && send(pair[1], bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	shutdown(pair[1], SHUT_WR);
	qmp = loop_open(qmp_from_fd(pair[0], "a socket", WAIT_MS), &error);
	require(!qmp == (error != NULL));
	if (qmp)
		read_pages(qmp);
	qmp_free(qmp);
	free(error);
	close(pair[1]);
	return 0;
}
