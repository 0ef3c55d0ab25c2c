/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "agent/base/util.h"
#include "gdb_keeper.h"
#include "gdb_memory.h"
#include "gdb_sampler.h"
#include "gdb_stub.h"
#include "kernel-hook/base/str.h"
#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/plugin/gate.h"
#include "kernel-hook/plugin/raw.h"
#include "kernel-hook/plugin/reads.h"
#include "kernel-hook/plugin/socket.h"
#include "kernel-hook/plugin/task.h"
#include "kernel-hook/plugin/machine/target.h"
#include "kernel-hook/port.h"

enum {
	RATE = 100,			/* samples a second; low, since each one stops the guest */
	RING = 1 << 20,			/* bytes a CPU */
	CPUS = 256,
	DRAINS = 64,			/* calls of ktop_drain() in a row, at most */
	BEAT_MS = 50,			/* between two looks at the port while the guest's clock stands still */
	REFUSED_MS = 10000,		/* for so long, the remark tells that a stack was not read */
	AWAKE_US = 250,			/* for so long the process waits for an answer without sleeping */
	GOES_ON_MS = 1,			/* longest wait for QEMU to let the machine go on */
	ASLEEP_MS = 1000,		/* it sleeps while it waits, for so long after one that took longer */
};

#define NEVER UINT64_MAX
#define NOTE "each sample stops the guest; events are seen by its hook alone"
#define NOTE_DIRECT "each sample stops the guest, and reads its memory from QEMU's file; events by its hook alone"
#define NOTE_NO_RAM "each sample stops the guest; QEMU does not tell where its RAM is, so stacks are not read"
#define NOTE_REFUSED "each sample stops the guest; some stacks are not surely in its RAM, or its kernel's: not read"

/* The process has one thread. */
static struct {
	struct plugin_socket port;
	struct gdb_stub *stub;
	struct gdb_keeper keeper;
	struct ktop *ktop;		/* NULL: the stub has not told yet what machine it is */
	uint32_t cpu;			/* the CPU that is being sampled */
	uint64_t gate;			/* the address in gate 0 (gate.h); 0: not known */
	uint64_t deadlines[CPUS];	/* when each CPU is to be sampled, by the clock below */

	/* The guest's clock is the host's, without the time in which somebody else had stopped the machine. */
	uint64_t away;			/* ns for which it was stopped so far */
	uint64_t paused;		/* since when it is stopped, in host time; 0: it is not */
	uint64_t refused;		/* when a stack was not read, in host time; 0: never */
	uint64_t moment;		/* the time of the sample that is being written; 0: none is */

	enum gdb_state asked;		/* what it waits for without sleeping, */
	uint64_t asked_at;		/* since this host time */
	uint64_t asleep;		/* until this host time it sleeps while it waits */
} sampler;

/* ---- the stub ---- */

/* TCP_NODELAY: a small packet must not wait until the one before it is acknowledged. */
static int connect_tcp(unsigned long port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = port && port <= UINT16_MAX ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1, on = 1;

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
			fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Connects to unix:PATH, or to tcp:HOST:PORT on this host, whatever HOST says. Returns a descriptor that does not
 * block. -1: nobody listens there.
 */
static int connect_stub(const char *stub)
{
	static const char by_path[] = "unix:", by_port[] = "tcp:";
	const char *port = strrchr(stub, ':');

	if (strncmp(stub, by_path, strlen(by_path)) == 0)
		return unix_socket_connect(stub + strlen(by_path));
	return port && strncmp(stub, by_port, strlen(by_port)) == 0 ? connect_tcp(strtoul(port + 1, NULL, 10)) : -1;
}

/* ---- what the hook asks of its kernel (port.h); outside.c has the rest ---- */

/* There are no interrupts to mask: what the hook does here is done by one thread at a time. */
unsigned long ktop_port_irq_save(void)
{
	return 0;
}

void ktop_port_irq_restore(unsigned long state)
{
	(void)state;
}

uint32_t ktop_port_cpu(void)
{
	return sampler.cpu;
}

uint64_t ktop_port_clock(void)
{
	return (sampler.moment ? sampler.moment : sampler.paused ? sampler.paused : util_now()) - sampler.away;
}

void ktop_port_timer(uint64_t deadline)
{
	sampler.deadlines[sampler.cpu] = deadline;
}

/* Nothing to do: begin_grids() makes all CPUs see a new generation. */
void ktop_port_kick(uint32_t cpu)
{
	(void)cpu;
}

/* ---- samples ---- */

static uint8_t *put_list(uint8_t *to, const void *elements, uint32_t count, size_t size)
{
	uint16_t told = (uint16_t)count;

	memcpy(to, &told, sizeof(told));
	if (count)
		memcpy(to + sizeof(told), elements, count * size);
	return to + sizeof(told) + count * size;
}

/* If the CPU's registers cannot be read, the sample has none, and its weight counts all the same. */
uint32_t plugin_write_sample(uint8_t *payload, uint32_t weight)
{
	static const struct target_state unknown = { .mode = KTOP_MODES };
	struct gdb_stack stack;
	const struct target_state *known = gdb_stub_cpu(sampler.stub, sampler.cpu, &stack);
	const struct target_state *state = known ? known : &unknown;
	struct task task = gdb_stub_task(sampler.stub, sampler.cpu);
	const struct ktop_wire_stacks_sample fixed = {
		.process = task.process,
		.thread = task.thread,
		.weight = weight,
		.mode = gdb_stub_idle(sampler.stub, sampler.cpu) ? KTOP_MODE_IDLE : state->mode,
		.arch = state->arch,
		.space = state->space,
		.base = state->base,
		.valid = ((uint64_t)1 << state->count) - 1,
		.stack_address = state->sp,
		.linked_address = known ? stack.linked_address : 0,
		.user_address = known ? stack.user_address : 0,
	};
	uint8_t *at = payload + sizeof(fixed);

	memcpy(payload, &fixed, sizeof(fixed));
	at = put_list(at, state->registers, state->count, sizeof(state->registers[0]));
	at = put_list(at, stack.bytes, known ? stack.size : 0, 1);
	at = put_list(at, stack.linked, known ? stack.linked_size : 0, 1);
	at = put_list(at, task.name, task.size, 1);
	at = put_list(at, stack.user, known ? stack.user_size : 0, 1);
	return (uint32_t)(at - payload);
}

/* All CPUs have the same grid, so that the machine is stopped once for all of them. */
static void tick(uint32_t cpu)
{
	sampler.cpu = cpu;
	sampler.deadlines[cpu] = NEVER;
	ktop_tick(sampler.ktop, &(struct ktop_regs) { .pc = 0 });
}

/* Starts the grids of a new generation (hook.h) at once. Nothing is due at that moment, so no CPU is read for it. */
static void begin_grids(void)
{
	sampler.moment = util_now();
	for (uint32_t i = 0; i < sampler.ktop->cpus; i++)
		if (sampler.ktop->sampler != KTOP_NONE &&
				sampler.ktop->cpu[i].generation != sampler.ktop->cpu[i].started)
			tick(i);
	sampler.moment = 0;
}

static const char *note(void)
{
	uint64_t now = sampler.moment;

	if (gdb_stub_is_direct(sampler.stub))
		return NOTE_DIRECT;
	if (!gdb_stub_knows_ram(sampler.stub))
		return NOTE_NO_RAM;
	if (gdb_stub_refused(sampler.stub))
		sampler.refused = now;
	return sampler.refused && now - sampler.refused < (uint64_t)REFUSED_MS * NS_PER_MS ? NOTE_REFUSED : NOTE;
}

/* The cost of a sample is the time for which the guest stood. */
static void take_sample(void)
{
	uint64_t now;

	sampler.moment = util_now();
	ktop_str_set(&sampler.ktop->meta.note, note());
	now = ktop_port_clock();
	for (uint32_t i = 0; i < sampler.ktop->cpus; i++) {
		if (sampler.deadlines[i] > now)
			continue;
		tick(i);
		ktop_count(&ktop_ring(&sampler.ktop->cpu[i], KTOP_SAMPLES)->cost, gdb_stub_stopped(sampler.stub));
	}
	sampler.moment = 0;
}

/* ---- where a Linux kernel runs ---- */

static void look_for_gate(void)
{
	if (!sampler.gate && strcmp(gdb_stub_arch(sampler.stub), "x86_64") == 0)
		gdb_stub_look(sampler.stub, GATE_ADDRESS, GATE_SIZE);
}

static void take_gate(void)
{
	const uint8_t *bytes = gdb_stub_seen(sampler.stub, GATE_SIZE);

	if (sampler.gate || !bytes)
		return;
	sampler.gate = gate_handler(bytes);
	if (sampler.gate)
		ktop_symbols(sampler.ktop, 0);
}

static bool symbol_after(uint64_t from, struct ktop_symbol *symbol)
{
	return gate_symbol(sampler.gate, from, symbol);
}

/* ---- what the host asks of the guest's memory (ktop.h) ---- */

static void follow(const struct ktop_task_places *places)
{
	gdb_stub_follow(sampler.stub, places);
}

static const struct ktop_memory guest_memory = { .ask = reads_ask, .next = reads_next, .follow = follow };

/* ---- the hook ---- */

static uint64_t unix_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static bool begin(void)
{
	const struct ktop_settings settings = {
		.rate = RATE, .ring_size = RING, .processes = 1, .threads = 1, .objects = 1,
	};
	struct ktop_facts facts = {
		.kernel = "guest", .arch = gdb_stub_arch(sampler.stub), .cpus = gdb_stub_cpus(sampler.stub),
		.outside = KTOP_STUB, .untraced = ~0u, .symbols = symbol_after, .memory = &guest_memory,
		.clock_hz = NS_PER_SECOND, .epoch_ns = unix_time() - ktop_port_clock(),
	};
	size_t size = ktop_memory_size(facts.cpus, &settings);
	void *memory = size ? mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;

	if (memory == MAP_FAILED || getrandom(facts.boot_id, sizeof(facts.boot_id), 0) != sizeof(facts.boot_id))
		return false;
	sampler.ktop = ktop_init(&facts, &settings, &sampler.port.transport, memory, size);
	if (sampler.ktop)
		gdb_stub_share(sampler.stub);
	for (uint32_t i = 0; sampler.ktop && i < facts.cpus; i++) {
		sampler.deadlines[i] = NEVER;
		sampler.ktop->cpu[i].grid.seed = sampler.ktop->cpu[0].grid.seed;
	}
	return sampler.ktop;
}

static uint64_t next_deadline(void)
{
	uint64_t next = NEVER;

	for (uint32_t i = 0; sampler.ktop && i < sampler.ktop->cpus; i++)
		next = sampler.deadlines[i] < next ? sampler.deadlines[i] : next;
	return next;
}

/*
 * The clock stands still from the moment at which the machine is found stopped by somebody else until its next sample.
 */
static void keep_clock(uint64_t now, bool taken)
{
	enum gdb_state state = gdb_stub_state(sampler.stub);

	if (state == GDB_PAUSED && !sampler.paused)
		sampler.paused = now;
	if (sampler.paused && (taken || state == GDB_RUNNING)) {
		sampler.away += now - sampler.paused;
		sampler.paused = 0;
	}
}

/* ---- the loop ---- */

static void drain(void)
{
	for (int i = 0; i < DRAINS && ktop_drain(sampler.ktop); i++)
		;
	begin_grids();
}

static bool is_due(uint64_t now)
{
	enum gdb_state state = gdb_stub_state(sampler.stub);

	return (state == GDB_RUNNING && now >= gdb_stub_rests(sampler.stub) && next_deadline() <= ktop_port_clock()) ||
		(state == GDB_PAUSED && next_deadline() != NEVER && now >= gdb_stub_due(sampler.stub));
}

/* The host time by which there is something to do. */
static uint64_t due(uint64_t now)
{
	uint64_t stub = gdb_stub_due(sampler.stub), beat = now + (uint64_t)BEAT_MS * NS_PER_MS;
	uint64_t sample = gdb_stub_state(sampler.stub) == GDB_RUNNING ? next_deadline() : NEVER;
	uint64_t rests = gdb_stub_rests(sampler.stub);
	uint64_t by = sampler.ktop && !sampler.paused ? ktop_drain_by(sampler.ktop) + sampler.away : beat;

	by = by < beat ? by : beat;
	by = by < stub ? by : stub;
	if (sample == NEVER)
		return by;
	sample = sample + sampler.away > rests ? sample + sampler.away : rests;
	return sample < by ? sample : by;
}

/*
 * While the guest stands, the answers come within some tens of microseconds. To sleep and to be woken takes as long,
 * and QEMU would have to wake this process with each answer. So it asks again and again. But perhaps QEMU waits for
 * this very core, and the system does not give it away: then an answer takes long, and for a while the process sleeps.
 */
static bool stays_awake(uint64_t now)
{
	enum gdb_state state = gdb_stub_state(sampler.stub);

	if (!gdb_stub_busy(sampler.stub) || now < sampler.asleep)
		return false;
	if (state != sampler.asked || sampler.asked_at < gdb_stub_begun(sampler.stub)) {
		sampler.asked = state;
		sampler.asked_at = now;
	}
	if (now - sampler.asked_at >= (uint64_t)AWAKE_US * 1000) {
		sampler.asleep = now + (uint64_t)ASLEEP_MS * NS_PER_MS;
		return false;
	}
	sched_yield();
	return true;
}

static void wait_for_more(uint64_t now)
{
	uint64_t by = due(now), ns = by > now ? by - now : 0;
	struct timespec time = { .tv_sec = (time_t)(ns / NS_PER_SECOND), .tv_nsec = (long)(ns % NS_PER_SECOND) };
	struct pollfd fds[2] = { gdb_stub_wait(sampler.stub), plugin_socket_wait(&sampler.port) };

	if (!stays_awake(now))
		ppoll(fds, 2, &time, NULL);
}

/*
 * QEMU was told to let the machine go on. Perhaps it needs this very core for that, and what is done with a sample can
 * wait: so the process sleeps until QEMU answers.
 */
static void let_go_on(void)
{
	struct pollfd fd = gdb_stub_wait(sampler.stub);

	poll(&fd, 1, GOES_ON_MS);
}

/* The keeper lets the machine go on wherever it may stand for us. */
static bool step_stub(uint64_t now)
{
	bool taken = gdb_stub_step(sampler.stub, now);
	enum gdb_state state = gdb_stub_state(sampler.stub);

	if (state == GDB_RUNNING || state == GDB_PAUSED || state == GDB_GONE)
		gdb_keeper_hold(&sampler.keeper, false);
	return taken;
}

/* False: the machine has CPUs for which there is no memory. */
static bool step(uint64_t now)
{
	bool taken;

	if (is_due(now)) {
		look_for_gate();
		gdb_memory_look(sampler.stub);
		gdb_keeper_hold(&sampler.keeper, true);
		gdb_stub_sample(sampler.stub, now);
	}
	taken = step_stub(now);
	keep_clock(now, taken);
	if (!sampler.ktop && gdb_stub_cpus(sampler.stub) && gdb_stub_state(sampler.stub) != GDB_GREETING && !begin())
		return false;
	if (taken) {
		let_go_on();
		take_gate();
		gdb_memory_take(sampler.stub, ktop_port_clock());
		take_sample();
	}
	return true;
}

/* Has ktop closed its end? Before the greeting is over there is no hook, so nobody else reads the port. */
static bool is_left(void)
{
	struct pollfd fd = plugin_socket_wait(&sampler.port);
	sigset_t pending;

	sigpending(&pending);
	if (sampler.port.client < 0 || sigismember(&pending, SIGTERM))
		return true;
	return !sampler.ktop && poll(&fd, 1, 0) > 0 && fd.revents & (POLLHUP | POLLERR);
}

/* Leaves the terminal: its signals are for ktop. */
static void be_nobodys(void)
{
	sigset_t end;

	setsid();
	prctl(PR_SET_NAME, "ktop-gdb");
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
}

static bool run(void)
{
	bool good = true;

	while (good && gdb_stub_state(sampler.stub) != GDB_GONE && (gdb_stub_busy(sampler.stub) || !is_left())) {
		uint64_t now = util_now();

		good = step(now);
		if (sampler.ktop && !gdb_stub_busy(sampler.stub))
			drain();
		if (good)
			wait_for_more(util_now());
	}
	gdb_stub_leave(sampler.stub, util_now());
	while (gdb_stub_state(sampler.stub) != GDB_GONE) {
		uint64_t by = gdb_stub_due(sampler.stub), now = util_now();
		struct pollfd fd = gdb_stub_wait(sampler.stub);

		poll(&fd, 1, by > now ? (int)((by - now) / NS_PER_MS + 1) : 0);
		step_stub(util_now());
	}
	return good && sampler.ktop;
}

bool gdb_sampler_run(int port, const char *stub)
{
	int fd;
	bool good;

	be_nobodys();
	plugin_socket_serve(&sampler.port, port);
	fd = connect_stub(stub);
	if (fd < 0) {
		printf("it does not listen");
		return false;
	}
	gdb_keeper_start(&sampler.keeper, fd);
	sampler.stub = gdb_stub_new(fd, util_now());
	good = run();
	printf("%s", gdb_stub_error(sampler.stub));
	gdb_stub_free(sampler.stub);
	return good;
}
