/* SPDX-License-Identifier: MIT */
/*
 * The program itself, without sanitizers, with a guest that sends what costs the most memory. The program stays below
 * its limit, and says what it gave up.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tests/unit/clock.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/scratch.h"

enum {
	FUNCTIONS = 150000, FUNCTION_SIZE = 16,
	WINDOW_S = 4000,
	BATCH = 1 << 20,		/* bytes that are sent at once */
	LOOK_MS = 20,
	HZ_PER_MS = FAKE_GUEST_TICKS_PER_MS,
};

struct attack {
	struct fake_guest *guest;
	uint64_t seed;
	uint32_t count;			/* a number that is new for each event */
	uint64_t begin;			/* of the window, by the guest's clock */
	struct body body;		/* the event that is being made */
};

/* ---- what costs most ---- */

static uint64_t below(struct attack *attack, uint64_t limit)
{
	return random_next(&attack->seed) % limit;
}

static uint64_t any_time(struct attack *attack)
{
	return attack->begin + below(attack, (uint64_t)WINDOW_S * FAKE_GUEST_HZ);
}

static void begin_packet(struct attack *attack, uint32_t stream, uint32_t cpu, uint64_t clock)
{
	packets_begin(attack->guest->packets, stream, cpu, clock);
}

/* One body serves all events: it is large, and clearing it each time would cost more than ktop's reading. */
static struct body *fresh_body(struct attack *attack)
{
	attack->body.size = 0;
	return &attack->body;
}

static void add(struct attack *attack, uint64_t clock, uint16_t id)
{
	packets_event(attack->guest->packets, clock, id, &attack->body);
}

static void add_sample(struct attack *attack, uint64_t clock, const struct ktop_wire_sample *sample,
	const uint64_t *frames, size_t count)
{
	struct body *body = fresh_body(attack);

	body_fixed(body, sample, sizeof(*sample));
	body_list(body, frames, count, sizeof(*frames));
	body_list(body, frames, sample->mode == KTOP_MODE_USER ? count : 0, sizeof(*frames));
	add(attack, clock, KTOP_EVENT_sample);
}

static struct ktop_wire_sample any_sample(struct attack *attack)
{
	return (struct ktop_wire_sample) {
		.process = KTOP_KERNEL, .thread = attack->count++, .mode = KTOP_MODE_KERNEL,
		.weight = 1, .exact = 1,
	};
}

/* Stacks that are all different; none of their frames is known. */
static void send_stacks(struct attack *attack)
{
	struct ktop_wire_sample sample;
	uint64_t frames[64], clock = attack->begin + attack->count * HZ_PER_MS / 8;

	begin_packet(attack, KTOP_SAMPLES, attack->count % 2, clock);
	for (int i = 0; i < 20; i++) {
		for (size_t k = 0; k < 64; k++)
			frames[k] = random_next(&attack->seed);
		sample = any_sample(attack);
		sample.mode = KTOP_MODE_USER;
		sample.process = attack->count;
		add_sample(attack, clock, &sample, frames, 64);
	}
	packets_end(attack->guest->packets, clock);
}

/* Counts that are all in one slice. */
static void send_counts(struct attack *attack)
{
	uint64_t clock = attack->begin;

	begin_packet(attack, KTOP_SAMPLES, 0, clock);
	for (int i = 0; i < 400; i++) {
		struct ktop_wire_sample sample = any_sample(attack);

		add_sample(attack, clock, &sample, NULL, 0);
	}
	packets_end(attack->guest->packets, clock);
}

/* Counts that are all different, spread over the whole time. */
static void send_times(struct attack *attack)
{
	uint64_t clock = any_time(attack);

	begin_packet(attack, KTOP_SAMPLES, (uint32_t)below(attack, PACKETS_CPUS), clock);
	for (int i = 0; i < 400; i++) {
		struct ktop_wire_sample sample = any_sample(attack);

		add_sample(attack, clock, &sample, NULL, 0);
	}
	packets_end(attack->guest->packets, clock);
}

/* Every function, each called by many others. */
static void send_functions(struct attack *attack)
{
	uint64_t clock = attack->begin + attack->count * HZ_PER_MS / 8;

	begin_packet(attack, KTOP_SAMPLES, 1, clock);
	for (int i = 0; i < 80; i++) {
		struct ktop_wire_sample sample = any_sample(attack);
		uint64_t frames[24];

		for (size_t k = 0; k < 24; k++)
			frames[k] = 0x1000 + FUNCTION_SIZE * below(attack, FUNCTIONS) +
				below(attack, FUNCTION_SIZE);
		add_sample(attack, clock, &sample, frames, 24);
	}
	packets_end(attack->guest->packets, clock);
}

/* Takes eight letters from each random number, so that making a name costs less than reading it. */
static void random_name(struct attack *attack, char *name, size_t size)
{
	uint64_t letters = 0;

	for (size_t i = 0; i < size - 1; i++, letters >>= 8) {
		if (i % 8 == 0)
			letters = random_next(&attack->seed);
		name[i] = (char)('a' + (letters & 0xff) % 26);
	}
	name[size - 1] = '\0';
}

static void send_names(struct attack *attack)
{
	begin_packet(attack, KTOP_META, 0, attack->begin);
	for (int i = 0; i < 25; i++) {
		struct ktop_wire_thread thread = { .thread = attack->count++ };
		struct body *body = fresh_body(attack);
		char name[1000];

		random_name(attack, name, sizeof(name));
		body_fixed(body, &thread, sizeof(thread));
		body_text(body, name);
		add(attack, attack->begin, KTOP_EVENT_thread);
	}
	packets_end(attack->guest->packets, attack->begin);
}

/* One process maps more and more files: each time it has another layout, of up to 512 mappings. */
static void send_objects(struct attack *attack)
{
	begin_packet(attack, KTOP_META, 0, attack->begin);
	for (int i = 0; i < 200; i++) {
		uint64_t start = attack->count++ * 0x1000ull;
		struct ktop_wire_object object = {
			.process = attack->count % 7, .start = start, .end = start + 0x1000,
		};
		struct body *body = fresh_body(attack);

		body_fixed(body, &object, sizeof(object));
		body_text(body, "program");
		body_list(body, &attack->count, sizeof(attack->count), 1);
		add(attack, attack->begin, KTOP_EVENT_object);
	}
	packets_end(attack->guest->packets, attack->begin);
}

/* The names of the guest's functions, in no order. */
static void send_symbols(struct attack *attack)
{
	begin_packet(attack, KTOP_META, 0, attack->begin);
	for (int i = 0; i < 200; i++) {
		struct ktop_wire_symbol symbol = {
			.address = random_next(&attack->seed), .size = 1 + (uint32_t)below(attack, 64),
		};
		struct body *body = fresh_body(attack);
		char name[32];

		snprintf(name, sizeof(name), "function_%u", attack->count++);
		body_fixed(body, &symbol, sizeof(symbol));
		body_text(body, name);
		add(attack, attack->begin, KTOP_EVENT_symbol);
	}
	packets_end(attack->guest->packets, attack->begin);
}

static void send_all(struct attack *attack)
{
	static void (*const all[])(struct attack *) = {
		send_stacks, send_times, send_counts, send_functions, send_names, send_objects,
		send_symbols,
	};

	all[below(attack, sizeof(all) / sizeof(all[0]))](attack);
}

/* ---- the program ---- */

struct program {
	pid_t pid;
	const char *output;
	size_t peak;			/* the most memory it had, in KiB */
};

static struct program start(const char *port, const char *names, const char *memory)
{
	struct program program = { .output = scratch_path("output") };
	char *words[] = {
		(char[]) { "build/ktop" }, (char[]) { "report" }, (char[]) { "--port" }, (char *)port,
		(char[]) { "--symbols" }, (char *)names, (char[]) { "--memory" }, (char *)memory,
		(char[]) { "--seconds" }, util_format("%d", WINDOW_S),
		(char[]) { "--wait" }, (char[]) { "1000" }, NULL,
	};
	posix_spawn_file_actions_t actions;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, program.output, O_CREAT | O_WRONLY | O_TRUNC,
		0600);
	assert_int_equal(posix_spawn(&program.pid, words[0], &actions, NULL, words, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	free(words[9]);
	return program;
}

static void look(struct program *program)
{
	char *path = util_format("/proc/%d/status", (int)program->pid), line[128];
	FILE *file = fopen(path, "r");
	size_t peak;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %zu kB", &peak) == 1 && peak > program->peak)
			program->peak = peak;
	if (file)
		fclose(file);
	free(path);
}

/* True if it has ended; fails if it did not end well. */
static bool has_ended(struct program *program)
{
	int status = 0;

	look(program);
	if (waitpid(program->pid, &status, WNOHANG) != program->pid)
		return false;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

/* ---- the tests ---- */

static void tell_all(struct fake_guest *guest)
{
	fake_guest_facts(guest, NULL, 0);
	fake_guest_status(guest, true);
	fake_guest_counts(guest);
	fake_guest_reply(guest, true, "hello");
}

/* Waits until the program takes more, or ends. */
static void wait_for(const struct fake_guest *guest)
{
	struct pollfd ready = { .fd = guest->fd < 0 ? guest->listener : guest->fd };

	ready.events = guest->sent < guest->packets->size ? POLLOUT : POLLIN;
	poll(&ready, 1, LOOK_MS);
}

/* Sends all packets that were made, as fast as the program takes them. */
static void send_out(struct fake_guest *guest, struct program *program)
{
	while (guest->fd < 0 || guest->sent < guest->packets->size) {
		wait_for(guest);
		fake_guest_step(guest);
	}
	assert_false(has_ended(program));
	guest->packets->size = guest->sent = 0;
}

static const char *write_names(void)
{
	const char *path = scratch_path("names");
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "0000000000001000 T _start\n");
	for (uint64_t i = 0; i < FUNCTIONS; i++)
		fprintf(file, "%016llx T function_%llu_of_a_kernel\n",
			(unsigned long long)(0x1000 + i * FUNCTION_SIZE), (unsigned long long)i);
	assert_int_equal(fclose(file), 0);
	return path;
}

/* Sends `size` bytes of the attack. The report has to have the remark. Returns the peak in KiB. */
static size_t run(const char *memory, size_t size, void (*send)(struct attack *attack),
	const char *remark)
{
	const char *port = scratch_path("port");
	struct attack attack = { .seed = 9 };
	struct program program;
	char *output;

	unlink(port);
	attack.guest = fake_guest_new(port);
	program = start(port, write_names(), memory);
	tell_all(attack.guest);
	attack.begin = attack.guest->clock;
	send_out(attack.guest, &program);
	for (size_t sent = 0; sent < size; sent += BATCH) {
		while (attack.guest->packets->size < BATCH)
			send(&attack);
		send_out(attack.guest, &program);
	}
	fake_guest_beat(attack.guest, 1000ull * 1000 * WINDOW_S);	/* the clock is past all that came */
	fake_guest_status(attack.guest, true);
	while (!has_ended(&program)) {
		wait_for(attack.guest);
		fake_guest_step(attack.guest);
	}
	fake_guest_free(attack.guest);
	output = scratch_read(program.output, &size);
	if (!strstr(output, remark))
		fail_msg("not said: %s: %.1000s", remark, output);
	free(output);
	print_message("%s MiB: peak %zu KiB\n", memory, program.peak);
	return program.peak;
}

/* What is sent: three times what the program may have; with QUICK, which `make unit-quick` sets, as much as that. */
static size_t much(size_t mib)
{
	return (getenv("QUICK") ? 1 : 3) * (mib << 20);
}

static void check(const char *memory, size_t mib, void (*send)(struct attack *attack),
	const char *remark)
{
	size_t peak = run(memory, much(mib), send, remark);

	if (peak >= mib << 10)
		fail_msg("%zu KiB", peak);
}

#define ATTACK(what, remark) \
	static void what(void **state) { (void)state; check("64", 64, send_##what, remark); }

ATTACK(stacks, "samples without their stack: memory is full")
ATTACK(counts, "sampling ticks without their thread and CPU: memory is full")
ATTACK(times, "sampling ticks without their thread and CPU: memory is full")
ATTACK(functions, "addresses without their function: memory is full")
ATTACK(names, "names of threads and processes not kept: memory is full")
ATTACK(objects, "functions in later ones have no names")
ATTACK(symbols, "names of kernel functions not kept: memory is full")

/* All attacks at once, with the default limit. This takes long. */
static void all_in_512_mib(void **state)
{
	(void)state;
	check("512", 512, send_all, "memory is full");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks),
		cmocka_unit_test(counts),
		cmocka_unit_test(times),
		cmocka_unit_test(functions),
		cmocka_unit_test(names),
		cmocka_unit_test(objects),
		cmocka_unit_test(symbols),
	};
	const struct CMUnitTest quick[] = {		/* counts need more bytes than this sends */
		cmocka_unit_test(stacks),
		cmocka_unit_test(times),
		cmocka_unit_test(functions),
		cmocka_unit_test(names),
		cmocka_unit_test(objects),
		cmocka_unit_test(symbols),
	};
	const struct CMUnitTest soak[] = {
		cmocka_unit_test(all_in_512_mib),
	};

	clock_beside();
	if (argc > 1 && strcmp(argv[1], "soak") == 0)
		return cmocka_run_group_tests(soak, NULL, NULL);
	if (getenv("QUICK"))
		return cmocka_run_group_tests(quick, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
