/* SPDX-License-Identifier: MIT */
/* What a gdb stub says. Each piece before a zero byte comes in one read; then the connection ends. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "fuzz.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/task.h"
#include "kernel-hook/wire.h"

enum { PIECES = 64 };

#define PLACE UINT64_C(0xffffffff82345000)

static void look_at_sample(const struct gdb_stub *stub)
{
	uint8_t copy[GDB_PAGE], stacks[2 * KTOP_STACK_MAX];
	const uint8_t *page;

	require(gdb_stub_page(stub, PLACE, &page) && !gdb_stub_page(stub, PLACE - GDB_PAGE, &page));
	if (gdb_stub_page(stub, PLACE, &page) && page)
		memcpy(copy, page, GDB_PAGE);
	for (uint32_t i = 0; i < gdb_stub_cpus(stub); i++) {
		struct gdb_stack stack;
		const struct target_state *cpu = gdb_stub_cpu(stub, i, &stack);

		require(gdb_stub_task(stub, i).size <= TASK_NAME);
		require(stack.size <= KTOP_STACK_MAX && stack.size + stack.linked_size <= 2 * KTOP_STACK_MAX);
		memcpy(stacks, stack.bytes, stack.size);
		memcpy(stacks + stack.size, stack.linked, stack.linked_size);
		require(!cpu || (cpu->count <= TARGET_REGISTERS && cpu->arch < KTOP_ARCHS && cpu->mode <= KTOP_MODES));
	}
}

/* The end of what it said is the end of the connection. */
static void run(struct gdb_stub *stub, int other)
{
	uint64_t now = NS_PER_SECOND;
	static const uint64_t places[] = { PLACE, PLACE + GDB_PAGE };
	static const struct ktop_task_places tasks = {
		.known = true, .pointer = 0x20, .thread = 4, .memory = 8, .name = 16,
	};
	char sent[4096];

	gdb_stub_follow(stub, &tasks);
	while (gdb_stub_state(stub) != GDB_GONE) {
		while (recv(other, sent, sizeof(sent), MSG_DONTWAIT) > 0)
			;
		now += NS_PER_MS;
		gdb_stub_read(stub, places, 2);
		gdb_stub_sample(stub, now);
		if (gdb_stub_step(stub, now))
			look_at_sample(stub);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	struct gdb_stub *stub;
	int pair[2];

	require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	for (int i = 0; i < PIECES && input_piece(&input, &bytes, &size); i++)
		if (size && send(pair[1], bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	shutdown(pair[1], SHUT_WR);
	stub = gdb_stub_new(pair[0], NS_PER_SECOND);
	run(stub, pair[1]);
	gdb_stub_free(stub);
	close(pair[1]);
	return 0;
}
