/* SPDX-License-Identifier: MIT */
/*
 * What a gdb stub says. Each piece before a zero byte comes in one read; then the connection ends. A piece begins with
 * a byte that says what it is:
 *
 *     =	lines, each the body of a packet, whose sum is right; after " it is text that the monitor prints
 *     @	what the host has learnt of the guest's kernel: ktop_task_places, as numbers
 *     #	lines, each a physical address and 8 bytes there: the machine's memory is a file that QEMU shares
 *     .	nothing comes for a while
 *     !	ktop ends
 *
 * Any other piece is the bytes as they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/vm/gdb/gdb_packets.h"
#include "agent/vm/gdb/gdb_stub.h"
#include "agent/vm/gdb/gdb_stub_state.h"
#include "fuzz.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/gate.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/plugin/task.h"
#include "kernel-hook/wire.h"

enum { TEXT = 1 << 16, AT_ONCE = 16384, SENT = 1 << 17, RAM = 32 << 20 };

#define PLACE UINT64_C(0xffffffff82345000)

struct machine {
	struct gdb_stub *stub;
	int other;			/* the stub's end of the connection */
	uint64_t now;
	uint64_t *ram;			/* the file that it shares; NULL: none */
	bool physical;			/* addresses of memory are physical */
};

/* Memory is read where the machine has RAM, and the machine is let go on as its user knows it. */
static void judge_packet(struct machine *machine, const char *packet)
{
	uint64_t address, size;

	if (sscanf(packet, "$m%" SCNx64 ",%" SCNx64, &address, &size) == 2)
		require(machine->physical && ram_map_has(&machine->stub->map, address, size));
	else if (strcmp(packet, "$c") == 0 || strcmp(packet, "$qRcmd,636f6e74") == 0)
		require(!machine->physical);
	else if (strncmp(packet, "$" GDB_PHYSICAL, strlen("$" GDB_PHYSICAL)) == 0)
		machine->physical = packet[strlen("$" GDB_PHYSICAL)] == '1';
}

static void judge_sent(struct machine *machine)
{
	static char sent[SENT + 1];
	ssize_t size;

	while ((size = recv(machine->other, sent, SENT, MSG_DONTWAIT)) > 0) {
		sent[size] = '\0';
		for (char *at = sent, *end; (at = strchr(at, '$')) && (end = strchr(at, '#')); at = end + 1) {
			*end = '\0';
			judge_packet(machine, at);
		}
	}
}

static void look_at_sample(const struct gdb_stub *stub)
{
	uint8_t copy[GDB_PAGE], stacks[2 * KTOP_STACK_MAX];
	const uint8_t *page = gdb_stub_seen(stub, GATE_SIZE);

	if (page)
		memcpy(copy, page, GATE_SIZE);
	require(gdb_stub_page(stub, PLACE, &page) && !gdb_stub_page(stub, PLACE - GDB_PAGE, &page));
	if (gdb_stub_page(stub, PLACE, &page) && page)
		memcpy(copy, page, GDB_PAGE);
	gdb_stub_physical(stub, PLACE, copy, GDB_PAGE);
	for (uint32_t i = 0; i < gdb_stub_cpus(stub); i++) {
		struct gdb_stack stack;
		const struct target_state *cpu = gdb_stub_cpu(stub, i, &stack);

		require(gdb_stub_task(stub, i).size <= TASK_NAME);
		require(stack.size <= KTOP_STACK_MAX && stack.size + stack.linked_size <= 2 * KTOP_STACK_MAX);
		memcpy(stacks, stack.bytes, stack.size);
		memcpy(stacks + stack.size, stack.linked, stack.linked_size);
		require(stack.user_size <= KTOP_STACK_MAX && (stack.user_address || !stack.user_size));
		memcpy(copy, stack.user, stack.user_size);
		require(!cpu || (cpu->count <= TARGET_REGISTERS && cpu->arch < KTOP_ARCHS && cpu->mode <= KTOP_MODES));
	}
}

static void step(struct machine *machine)
{
	static const uint64_t places[] = { PLACE, PLACE + GDB_PAGE };
	enum gdb_state state = gdb_stub_state(machine->stub);

	judge_sent(machine);
	machine->now += NS_PER_MS;
	if (state == GDB_RUNNING || state == GDB_PAUSED) {
		gdb_stub_look(machine->stub, GATE_ADDRESS, GATE_SIZE);
		gdb_stub_read(machine->stub, places, 2);
		gdb_stub_sample(machine->stub, machine->now);
	}
	if (gdb_stub_step(machine->stub, machine->now))
		look_at_sample(machine->stub);
}

static void say(struct machine *machine, const void *bytes, size_t size)
{
	while (size && gdb_stub_state(machine->stub) != GDB_GONE) {
		size_t part = size < AT_ONCE ? size : AT_ONCE;

		if (send(machine->other, bytes, part, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			return;
		step(machine);
		bytes = (const uint8_t *)bytes + part;
		size -= part;
	}
}

static size_t put_packet(char *to, const uint8_t *line, size_t size)
{
	bool prints = size && line[0] == '"';
	char *at = to;
	unsigned sum = 0;

	at += sprintf(at, prints ? "$O" : "$");
	for (size_t i = prints; i < size; i++)
		at += sprintf(at, prints ? "%02x" : "%c", line[i]);
	for (const char *byte = to + 1; byte < at; byte++)
		sum += (uint8_t)*byte;
	return (size_t)(at + sprintf(at, "#%02x", sum & 0xff) - to);
}

static void say_packets(struct machine *machine, const uint8_t *at, size_t size)
{
	static char packets[TEXT * 2];
	size_t used = 0;

	while (size) {
		const uint8_t *end = memchr(at, '\n', size);
		size_t line = end ? (size_t)(end - at) : size;

		if (used + 2 * line + 5 >= sizeof(packets))
			break;
		used += put_packet(packets + used, at, line);
		line += end != NULL;
		at += line;
		size -= line;
	}
	say(machine, packets, used);
}

static void follow(struct machine *machine, const char *text)
{
	struct ktop_task_places places = { .known = true };
	unsigned itself = 0;

	sscanf(text, "%u %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &itself, &places.pointer,
		&places.process, &places.thread, &places.memory, &places.name);
	places.itself = itself;
	gdb_stub_follow(machine->stub, &places);
}

static void share(struct machine *machine, const char *text)
{
	char *rest;
	int fd;

	if (!gdb_stub_cpus(machine->stub) || gdb_stub_state(machine->stub) == GDB_GREETING)
		return;
	if (!machine->ram) {
		fd = memfd_create("ram", MFD_CLOEXEC);
		require(fd >= 0 && ftruncate(fd, RAM) == 0);
		machine->ram = mmap(NULL, RAM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		require(machine->ram != MAP_FAILED);
		gdb_stub_share(machine->stub);
		close(fd);
	}
	for (; *text; text = rest + (*rest == '\n')) {
		uint64_t *word = &machine->ram[strtoull(text, &rest, 16) % RAM / sizeof(*word)];

		*word = strtoull(rest, &rest, 16);
		if (*rest != '\n')
			return;
	}
}

static void obey(struct machine *machine, const uint8_t *bytes, size_t size)
{
	static char text[TEXT];

	size = size < sizeof(text) ? size : sizeof(text) - 1;
	memcpy(text, bytes, size);
	text[size] = '\0';
	if (text[0] == '=')
		say_packets(machine, bytes + 1, size - 1);
	else if (text[0] == '@')
		follow(machine, text + 1);
	else if (text[0] == '#')
		share(machine, text + 1);
	else if (text[0] == '!')
		gdb_stub_leave(machine->stub, machine->now);
	else if (text[0] == '.')
		machine->now += 10 * NS_PER_SECOND, step(machine);
	else
		say(machine, bytes, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const struct ktop_task_places tasks = {
		.known = true, .pointer = 0x20, .thread = 4, .memory = 8, .name = 16,
	};
	struct fuzz_input input = { .at = bytes, .left = size };
	struct machine machine = { .now = NS_PER_SECOND };
	int pair[2];

	require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	machine.other = pair[1];
	machine.stub = gdb_stub_new(pair[0], machine.now);
	gdb_stub_follow(machine.stub, &tasks);
	while (gdb_stub_state(machine.stub) != GDB_GONE && input_piece(&input, &bytes, &size))
		if (size)
			obey(&machine, bytes, size);
	shutdown(pair[1], SHUT_WR);
	while (gdb_stub_state(machine.stub) != GDB_GONE)
		step(&machine);
	gdb_stub_free(machine.stub);
	close(pair[1]);
	if (machine.ram)
		munmap(machine.ram, RAM);
	return 0;
}
