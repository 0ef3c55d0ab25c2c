/* SPDX-License-Identifier: MIT */
/*
 * One session, or several as on one screen, and guests that do anything: many boots, little memory, jumps of time,
 * floods (flood.h). Nothing may break, what a person reads must be harmless, and no flood may cost much more than an
 * honest guest's bytes (judge.h).
 * The fuzzer is told what each step cost, so it keeps each input that was dearer than all before, and goes on from it.
 *
 * input: memory, machines; then steps
 * step:  a kind, with the machine in the two high bits; then what the kind takes. Floods take what flood.h says.
 *        look: filter, column;  command: a size and a text;  profile: on or off;  hang up: nothing
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/fleet/fleet.h"
#include "agent/guest/commands.h"
#include "agent/guest/lease.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/session/session.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/live_session.h"
#include "tests/unit/fakes/work.h"
#include "fuzz.h"
#include "fuzzed_filter.h"
#include "session/flood.h"
#include "session/judge.h"

enum { LOOK = FLOOD_KINDS, COMMAND, PROFILE, HANG_UP, KINDS, OTHER_THREADS = KINDS, BILLS };

enum {
	MACHINES = 4,
	EVENTS_MOST = 3 << 20, EVENTS_FUZZED = 20000,	/* in one flood */
	BYTES_MOST = 256 << 20, BYTES_FUZZED = 16 << 20,	/* in all */
	BOOTS_MOST = 20,		/* of each machine: ktop makes further ones wait (subscription.h) */
	HANG_UPS_MOST = 2,
	STEPS_MOST = 100000,
	NAMES = 10000,			/* functions of the kernel */
};

/* To libFuzzer, a byte that is set here for the first time is like code that is reached for the first time. */
static uint8_t reached[BILLS][JUDGE_LEVELS] __attribute__((section("__libfuzzer_extra_counters")));

/* Exists only in a fuzzer, where inputs have to be short. */
extern size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most) __attribute__((weak));

struct machine {
	struct fake_guest *guest;
	struct session *session;
	struct flood flood;
	uint64_t sent;			/* bytes, as the session's decoder counts them */
	uint32_t boots, hang_ups;
	struct subscription *marks;	/* for the mark of its tab, as of a machine that no screen shows */
};

struct world {
	struct machine machines[MACHINES];
	size_t count;
	uint64_t sent, left;		/* bytes that were sent, and that may still be sent */
	uint32_t boots;
};

static char *folder;
static struct judge judge;

static void tidy(void)
{
	char *command = util_format("rm -rf '%s'", folder);

	if (system(command) != 0)
		fprintf(stderr, "cannot remove %s\n", folder);
	free(command);
}

/* ---- the machines ---- */

static void ask_for_marks(struct machine *machine)
{
	struct vitals_request request = answers_vitals_request();

	request.cpus = VITALS_NO_CPUS;
	request.request.pause_ms = 500;
	machine->marks = session_subscribe(machine->session, NULL, NULL);
	subscription_ask(machine->marks, &request.request);
}

static void step(struct machine *machine, int wait_ms)
{
	fake_guest_step(machine->guest);
	session_step(machine->session, wait_ms);
	machine->guest->lines[0] = '\0';
}

static void begin(struct machine *machine, size_t number, uint32_t memory)
{
	char *names = util_format("%s/names", folder), *port = util_format("%s/port%zu", folder, number);
	const struct session_options options = { .symbols = names, .memory = memory, .sysroot = folder };

	unlink(port);
	*machine = (struct machine) { .guest = fake_guest_new(port) };
	machine->session = live_session(NULL, port, &options, NULL);
	require(machine->session);
	for (int i = 0; i < STEPS_MOST && session_reads_names(machine->session); i++)
		step(machine, 1000);		/* no flood is billed for waits for another thread */
	require(!session_reads_names(machine->session));
	ask_for_marks(machine);
	free(names);
	free(port);
}

static void end(struct machine *machine)
{
	session_free(machine->session);
	fake_guest_free(machine->guest);
	free(machine->flood.bytes);
}

static uint64_t taken(const struct machine *machine)
{
	return decode_counts(session_decode(machine->session)).bytes;
}

/* Steps until all that was sent is decoded. */
static void deliver(struct machine *machine)
{
	struct packets *packets = machine->guest->packets;
	struct flood *flood = &machine->flood;

	packets_raw(packets, flood->bytes, flood->size);
	machine->sent += flood->size;
	flood->size = 0;
	for (int i = 0; i < STEPS_MOST; i++) {
		uint64_t before = work_done(), bytes = taken(machine);

		step(machine, machine->guest->sent < packets->size ? 0 : 1);
		if (taken(machine) == bytes)
			judge_idle(&judge, work_done() - before);
		if (taken(machine) == machine->sent &&
				!decode_held(session_decode(machine->session)))
			break;
	}
	require(taken(machine) == machine->sent);
	packets->size = machine->guest->sent = 0;
}

/* ktop connects to it again half a second later. */
static void hang_up(struct machine *machine)
{
	if (machine->hang_ups++ == HANG_UPS_MOST)
		return;
	fake_guest_hang_up(machine->guest);
	for (int i = 0; i < STEPS_MOST && machine->guest->fd < 0; i++)
		step(machine, 10);
	require(machine->guest->fd >= 0);
}

/* ---- what a person reads ---- */

static void check_text(const char *text)
{
	char *printable = util_printable(text, strlen(text));

	require(strcmp(text, printable) == 0);
	free(printable);
}

static void check_lines(const char *text)
{
	char *printable = util_printable_lines(text, strlen(text));

	require(strcmp(text, printable) == 0);
	free(printable);
}

static void check_answers(const struct answers *answers)
{
	check_lines(answers->vitals->note);
	check_text(answers->vitals->kernel);
	check_text(answers->vitals->version);
	check_text(answers->vitals->arch);
	for (size_t i = 0; answers->functions->table && i < answers->functions->table->count && i < 1000; i++) {
		const struct function *function =
			symbols_get(answers->functions->answer.symbols, answers->functions->table->rows[i].function);

		check_text(function->name);
		check_text(function->object);
	}
	for (size_t i = 0; i < answers->functions->visible_count; i++)
		check_text(answers->functions->visible[i].line ? answers->functions->visible[i].line : "");
}

static void check_messages(struct machine *machine)
{
	struct session_message message;

	while (session_message(machine->session, &message))
		check_text(message.text);
}

static struct answer *answer_to(struct machine *machine, const struct request *request)
{
	struct subscription *reader = session_subscribe(machine->session, NULL, NULL);
	struct answer *answer = NULL;

	subscription_ask(reader, request);
	for (int i = 0; i < STEPS_MOST && !answer; i++) {
		step(machine, 5);
		answer = subscription_take(reader);
	}
	require(answer);
	answer_free(subscription_take(machine->marks));
	subscription_leave(reader);
	return answer;
}

/* Asks for what is shown of each machine and over all, and checks it. */
static void look(struct world *world, uint8_t filter, uint8_t column)
{
	static const char *const names[MACHINES] = { "one", "two", "three", "four" };
	struct fleet *fleet = fleet_new(names, world->count, NULL);
	struct vitals_request vitals = answers_vitals_request();
	struct function_request functions = answers_function_request();
	struct excerpt *excerpt = &functions.request.excerpt;
	struct answers *all;

	functions.visible_count = column & 3;
	for (uint32_t i = 0; i < functions.visible_count; i++)
		functions.visible[i] = i + 1;
	functions.selected = column >> 2 & 15;
	excerpt->window_ns = filter & 1 ? NS_PER_SECOND : 0;
	excerpt->filter = fuzzed_filter(filter, column >> 6);
	vitals.request.excerpt = *excerpt;
	for (size_t i = 0; i < world->count; i++) {
		struct machine *machine = &world->machines[i];
		struct answers *answers = answers_new(answer_to(machine, &vitals.request),
			answer_to(machine, &functions.request));

		check_answers(answers);
		fleet_take(fleet, i, &answers->vitals->answer, util_now());
		fleet_take(fleet, i, &answers->functions->answer, util_now());
		free(answers);
		check_messages(machine);
	}
	fleet_request(fleet, &vitals.request);
	fleet_request(fleet, &functions.request);
	all = answers_new(&fleet_vitals(fleet, util_now())->answer,
		&fleet_functions(fleet, util_now())->answer);
	answers_free(all);
	fleet_free(fleet);
}

/* ---- steps ---- */

static void end_step(int kind, uint64_t bytes, uint32_t boots)
{
	char what[16];
	const struct judge_bill bill = { what, bytes, boots };

	snprintf(what, sizeof(what), "kind %d", kind);
	reached[kind][judge_end_step(&judge, &bill)] = 1;
}

static void send_flood(struct world *world, struct machine *machine, enum flood_kind kind,
	struct fuzz_input *input)
{
	uint32_t most = LLVMFuzzerMutate ? EVENTS_FUZZED : EVENTS_MOST;
	uint32_t boots = kind <= FLOOD_REWIND || kind == FLOOD_BYTES;
	uint64_t bytes;

	if (kind <= FLOOD_REWIND && machine->boots++ >= BOOTS_MOST)
		return;
	flood_add(&machine->flood, kind, input, most);
	bytes = machine->flood.size;
	if (bytes > world->left) {
		machine->flood.size = 0;
		return;
	}
	world->left -= bytes;
	world->sent += bytes;
	world->boots += boots;
	judge_step(&judge);
	deliver(machine);
	end_step(kind, bytes, boots);
}

/* A guest's answer may have any number of lines. */
static void take_answer(void *context, bool ok, const char *text)
{
	const struct machine *machine = context;

	if (ok)
		lease_line_obeyed(session_lease(machine->session), text);
	check_lines(text);
}

static void send_command(struct machine *machine, struct fuzz_input *input)
{
	const uint8_t *bytes;
	size_t size = input_bytes(input, &bytes, input_byte(input));
	const struct command_sink sink = { .context = machine, .answered = take_answer };
	char *line = util_copy((const char *)bytes, size);

	session_ask(machine->session, line, &sink);
	step(machine, 0);
	free(line);
}

static void look_at_all(struct world *world, struct fuzz_input *input)
{
	uint8_t filter = input_byte(input), column = input_byte(input);

	judge_step(&judge);
	look(world, filter, column);
	end_step(LOOK, world->sent, (uint32_t)world->count);
}

static void take_step(struct world *world, struct fuzz_input *input)
{
	uint8_t byte = input_byte(input), kind = (byte & 63) % KINDS;
	struct machine *machine = &world->machines[(byte >> 6) % world->count];

	if (kind < FLOOD_KINDS)
		send_flood(world, machine, kind, input);
	else if (kind == LOOK)
		look_at_all(world, input);
	else if (kind == COMMAND)
		send_command(machine, input);
	else if (kind == PROFILE)
		session_run_profiler(machine->session, input_byte(input) & 1);
	else
		hang_up(machine);
}

/* ---- the whole ---- */

/* Facts with a clock of 1 GHz; 20,000 samples of 12 frames, on 4 CPUs, in 64 threads. */
static void measure_honest(void)
{
	static const uint8_t facts[] = { 62500 & 255, 62500 >> 8, 14, 4, 0, 0 };
	static const uint8_t samples[] = {
		20000 & 255, 20000 >> 8, 0,
		0, 0, 0, 1, 0, 0, 4, 0, 0,	0, 0, 0, 1, 0, 0, 8, 0, 0,	0, 0, 0, 1, 0, 0, 64, 0, 0,
		0, 16, 0, 16, 0, 0, 12000 & 255, 12000 >> 8, 0,	0, 250, 0, 0, 0, 0, 0, 0, 0,
		12, KTOP_MODE_KERNEL,
	};
	struct fuzz_input first = { facts, sizeof(facts) }, then = { samples, sizeof(samples) };
	struct machine machine;
	uint64_t bytes;

	begin(&machine, 0, 0);
	flood_add(&machine.flood, FLOOD_FACTS, &first, 1);
	deliver(&machine);
	flood_add(&machine.flood, FLOOD_SAMPLES, &then, EVENTS_FUZZED);
	bytes = machine.flood.size;
	judge_step(&judge);
	deliver(&machine);
	judge_honest(&judge, bytes);
	end(&machine);
}

static void copy_file(const char *from, const char *name)
{
	char *to = util_format("%s/%s", folder, name), *command;

	command = util_format("cp '%s' '%s'", from, to);
	require(system(command) == 0);
	free(command);
	free(to);
}

/* Makes a folder with the guest's programs; one has a name that would harm a terminal. */
static void start(void)
{
	char *names;
	FILE *file;

	folder = util_format("/tmp/ktop-fuzz-XXXXXX");
	require(mkdtemp(folder));
	atexit(tidy);
	copy_file("tests/fuzz/corpus/fuzz_elf/bare", "prog");
	copy_file("tests/fuzz/corpus/fuzz_elf/dwarf5", "\033]0;title\007");
	names = util_format("%s/names", folder);
	file = fopen(names, "w");
	require(file);
	for (int i = 0; i < NAMES; i++)
		fprintf(file, "%016x T function_%d\n", 0x1000 + 64 * i, i);
	fclose(file);
	free(names);
}

static void play(struct fuzz_input input)
{
	static const uint32_t memories[] = { 32, 44, 64, 512 };
	struct world world = { .left = LLVMFuzzerMutate ? BYTES_FUZZED : BYTES_MOST };
	uint32_t memory = memories[input_byte(&input) % 4];

	world.count = 1 + input_byte(&input) % MACHINES;
	judge_begin(&judge);
	for (size_t i = 0; i < world.count; i++)
		begin(&world.machines[i], i, memory);
	while (input.left)
		take_step(&world, &input);
	look(&world, 0, 0);
	for (size_t i = 0; i < world.count; i++)
		end(&world.machines[i]);
	reached[OTHER_THREADS][judge_end(&judge,
		&(struct judge_bill) { "other threads", world.sent, world.boots })] = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!folder)
		start();
	if (judge.honest == 0)
		measure_honest();
	play((struct fuzz_input) { .at = bytes, .left = size });
	require(!judge.too_dear);
	return 0;
}
