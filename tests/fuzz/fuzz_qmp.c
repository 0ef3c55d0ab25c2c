/* SPDX-License-Identifier: MIT */
/*
 * What a QEMU says. Each piece before a zero byte comes in one read. So the input decides which bytes come together,
 * and which answer comes before which question. Then the connection ends.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/vm/qmp/qmp.h"
#include "agent/vm/qmp/qmp_discover.h"
#include "agent/vm/qmp/qmp_plug.h"
#include "tests/unit/fakes/qmp_loop.h"
#include "fuzz.h"

enum { PIECES = 64, WAIT_MS = 1000, PLUG_MS = 20 };

static void take_out(struct qmp *qmp)
{
	struct qmp_plug plug;

	unplug_begin(&plug, qmp, util_now(), PLUG_MS);
	loop_talk(&plug.talk);
	plug_clear(&plug);
}

static void put_in(struct qmp *qmp)
{
	struct qmp_plug plug;

	plug_begin(&plug, qmp, true, util_now(), PLUG_MS);
	require(loop_talk(&plug.talk) == (plug.plugged.bus[0] && plug.fd >= 0 && !plug.talk.error));
	plug_clear(&plug);
}

static void ask(struct qmp *qmp)
{
	static const uint8_t codes[] = { 0x1d, 0x38, 0x1e };
	struct qmp_discovery discovery;

	discover_begin(&discovery, qmp, util_now(), WAIT_MS);
	loop_talk(&discovery.talk);
	discover_clear(&discovery);
	put_in(qmp);
	take_out(qmp);
	qmp_send_keys(qmp, codes, sizeof(codes));
	while (qmp_step(qmp, util_now()))
		;
	require(qmp_state(qmp) == VM_GONE);
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
		ask(qmp);
	qmp_free(qmp);
	free(error);
	close(pair[1]);
	return 0;
}
