/* SPDX-License-Identifier: MIT */
/*
 * What a hook has left in the memory of a machine that died is read out of that memory, whose pages are scattered, and
 * compared with what the kernel did. Then the memory is damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/cut/black_box.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

enum {
	CPUS = 3, HZ = 1000000, PAGE = 4096,
	FRAMES = 2048,			/* pages of the machine's memory, of which the hook has some */
	SKEW = 192,			/* bytes of its first page that are somebody else's */
	DAMAGED = 300,			/* memories */
	NUMBERS = 40,			/* that have names */
};

static struct {
	struct ktop *ktop;
	struct fake_host *host;
	uint8_t *pages;			/* where the hook's memory is, as the kernel sees it */
	size_t page_count;
	uint32_t frames[FRAMES];	/* of each of these pages: its number in the machine's memory */
	uint8_t *memory;		/* the machine's, when it is read: FRAMES pages */
	uint32_t written[CPUS];		/* trace events */
} machine;

static uint64_t physical(const void *page)
{
	size_t number = (size_t)((const uint8_t *)page - machine.pages) / PAGE;

	assert_true(number < machine.page_count);
	return (uint64_t)machine.frames[number] * PAGE;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static void shuffle(void)
{
	uint64_t seed = 5;

	for (uint32_t i = 0; i < FRAMES; i++)
		machine.frames[i] = i;
	for (uint32_t i = FRAMES - 1; i > 0; i--) {
		uint32_t other = (uint32_t)(next_random(&seed) % (i + 1)), frame = machine.frames[i];

		machine.frames[i] = machine.frames[other];
		machine.frames[other] = frame;
	}
}

static bool number_at(uint32_t index, struct ktop_number *number)
{
	*number = (struct ktop_number) { .event = KTOP_EVENT_syscall_enter, .number = index, .name = "a call",
		.arguments = index % 2 ? "int" : NULL };
	return index < NUMBERS;
}

static int boot_with(uint32_t threads, const char *events)
{
	const struct ktop_facts facts = {
		.kernel = "demo", .version = "0.1", .arch = "x86_64", .boot_id = { 0xb0, 1 }, .cpus = CPUS,
		.clock_hz = HZ, .physical = physical, .numbers = number_at,
	};
	const struct ktop_settings settings = { .ring_size = 1 << 14, .start = true, .no_sampler = true,
		.trace = events, .threads = threads };
	size_t size = ktop_memory_size(CPUS, &settings);

	fake_port_reset();
	fake_cpu = 0;
	memset(&machine, 0, sizeof(machine));
	shuffle();
	machine.page_count = (SKEW + size + PAGE - 1) / PAGE;
	assert_true(machine.page_count < FRAMES / 2);
	machine.pages = aligned_alloc(PAGE, machine.page_count * PAGE);
	memset(machine.pages, 0xa5, machine.page_count * PAGE);
	machine.memory = calloc(FRAMES, PAGE);
	machine.host = fake_host_new();
	machine.ktop = ktop_init(&facts, &settings, &machine.host->transport, machine.pages + SKEW, size);
	assert_non_null(machine.ktop);
	ktop_thread(machine.ktop, 7, 8, "a thread");
	return 0;
}

static int boot(void **state)
{
	(void)state;
	return boot_with(0, "+syscall_exit +sched_switch");
}

static int boot_large(void **state)
{
	(void)state;
	return boot_with(16384, "+syscall_exit +sched_switch");
}

static int boot_calls(void **state)
{
	(void)state;
	return boot_with(0, "+syscall +sched_switch");
}

static int after(void **state)
{
	(void)state;
	free(machine.pages);
	free(machine.memory);
	fake_host_free(machine.host);
	return 0;
}

/* Events of one CPU have numbers from 0 on. The clock goes on. */
static void trace(uint32_t cpu, uint32_t count)
{
	fake_cpu = cpu;
	for (uint32_t i = 0; i < count; i++) {
		fake_port.clock += 10;
		ktop_trace_syscall_exit(machine.ktop, 7, machine.written[cpu]++, cpu);
	}
	fake_cpu = 0;
}

/* The machine stands still: its memory is what the kernel has left. */
static void die(void)
{
	for (size_t i = 0; i < machine.page_count; i++)
		memcpy(machine.memory + (size_t)machine.frames[i] * PAGE, machine.pages + i * PAGE, PAGE);
}

static bool read_memory(const void *context, uint64_t address, void *to, size_t size)
{
	(void)context;
	if (address > (uint64_t)FRAMES * PAGE || size > (uint64_t)FRAMES * PAGE - address)
		return false;
	memcpy(to, machine.memory + address, size);
	return true;
}

/* ---- what is read ---- */

struct found {
	char *said, *error;
	bool good;
	uint32_t boots;
	uint32_t first[CPUS], next[CPUS];	/* numbers of events: the oldest, and the one behind the newest */
	uint32_t gaps, names, numbers;
	uint64_t bad;			/* events that contradict themselves */
	uint32_t wholes, wholes_first, wholes_last;	/* whole calls; the numbers of the first and the last */
	uint64_t earlier[CPUS], lost[CPUS];
};

static void take_events(void *context, const struct event *events, size_t count)
{
	struct found *found = context;

	for (const struct event *event = events; event < events + count; event++) {
		struct ktop_wire_syscall_exit fields;
		struct ktop_wire_syscall_enter whole;

		found->numbers += event->kind == EVENT_NUMBER;
		found->names += event->kind == EVENT_THREAD && event->thread.name.size == strlen("a thread");
		if (event->kind == EVENT_TRACE && event->trace.held && event->trace.end) {
			assert_int_equal(event->trace.size, sizeof(whole));
			memcpy(&whole, event->trace.fields, sizeof(whole));
			found->wholes_first = found->wholes++ ? found->wholes_first : whole.number;
			found->wholes_last = whole.number;
		}
		if (event->kind != EVENT_TRACE || event->id != KTOP_EVENT_syscall_exit || event->cpu >= CPUS)
			continue;
		memcpy(&fields, event->trace.fields, sizeof(fields));
		if (found->next[event->cpu] == 0)
			found->first[event->cpu] = fields.number;
		else
			found->gaps += fields.number != found->next[event->cpu];
		found->next[event->cpu] = fields.number + 1;
	}
}

static void take_packet(void *context, const struct packet *packet)
{
	(void)context;
	(void)packet;
}

static struct decode *decoder(struct found *found)
{
	return decode_new(&(struct decode_sink) {
		.context = found, .boot = recordings_no_boot, .packet = take_packet, .events = take_events,
	});
}

static void keep_books(struct found *found, const struct decode *decode)
{
	assert_int_equal(decode_counts(decode).skipped_bytes, 0);
	found->bad = decode_counts(decode).bad_events;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct books books = decode_books(decode, STREAM_TRACE, cpu);

		found->earlier[cpu] = books.earlier;
		found->lost[cpu] = books.lost;
	}
}

/* All that is new to somebody. */
static void read_recording(struct found *found, struct decode *decode, const char *folder,
	const struct black_box_had *had)
{
	static uint8_t bytes[KTOP_PACKET_MAX];
	struct recording *recording = recording_new(folder, &found->error);
	struct reader *reader;
	size_t got;

	if (!recording)
		fail_msg("%s\n%s", found->error, found->said);
	found->boots = (uint32_t)recording->boot_count;
	reader = reader_new(recording, 0);
	while ((got = reader_read(reader, bytes, sizeof(bytes))))
		if (black_box_is_new(had, bytes))
			decode_feed(decode, bytes, got);
	reader_free(reader);
	recording_free(recording);
}

/* Adds to `found` what a recording has. */
static void look_at(struct found *found, struct decode *decode, const struct black_box_had *had)
{
	const struct memory_image image = {
		.read = read_memory, .end = (uint64_t)FRAMES * PAGE, .size = (uint64_t)FRAMES * PAGE,
	};
	const struct metadata_machine none = { .name = NULL };
	char *folder = util_format("%s", scratch_path("recording"));

	assert_true(recording_folder(folder, &found->error));
	found->good = black_box_record(&image, &none, folder, had, &found->said, &found->error);
	if (found->good)
		read_recording(found, decode, folder, had);
	recording_remove(folder);
	free(folder);
}

static struct found look(void)
{
	struct found found = { .boots = 0 };
	struct decode *decode = decoder(&found);

	look_at(&found, decode, &(struct black_box_had) { .cpus = 0 });
	keep_books(&found, decode);
	decode_free(decode);
	return found;
}

static void forget(struct found *found)
{
	free(found->said);
	free(found->error);
}

/* ---- tests ---- */

/* Nobody ever listened: the rings have gone round, and have the newest of each CPU. */
static void the_last_events_of_a_kernel_that_nobody_watched(void **state)
{
	struct found found;

	(void)state;
	for (int i = 0; i < NUMBERS; i++)
		ktop_drain(machine.ktop);
	for (int round = 0; round < 40; round++)
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			trace(cpu, 60 + 13 * cpu);
	ktop_died(machine.ktop, "it\x1b fell");
	trace(0, 0);
	ktop_trace_syscall_exit(machine.ktop, 7, 0, 0);		/* after its end */
	die();
	found = look();
	assert_true(found.good);
	assert_non_null(strstr(found.said, "up to its end: it? fell\n"));
	assert_int_equal(found.boots, 1);
	assert_int_equal(found.gaps + found.bad, 0);
	assert_int_equal(found.names, 1);
	assert_int_equal(found.numbers, NUMBERS);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint32_t there = found.next[cpu] - found.first[cpu];

		assert_int_equal(found.next[cpu], machine.written[cpu]);
		assert_true(there * 40 > (1 << 14) - 2 * PAGE);	/* most of a ring of records of 32 bytes and more */
		assert_int_equal(found.earlier[cpu], found.first[cpu]);
		assert_int_equal(found.lost[cpu], 0);
	}
	forget(&found);
}

/* A host has taken some: what it has taken is there, too, as far as nothing else was written over it. */
static void events_that_were_sent_are_there_as_well(void **state)
{
	struct found found;

	(void)state;
	fake_host_connect(machine.host);
	for (int round = 0; round < 37; round++) {
		trace(1, 50);
		fake_host_drain(machine.ktop);
	}
	trace(1, 30);
	die();
	found = look();
	assert_true(found.good);
	assert_null(strstr(found.said, "up to its end"));
	assert_int_equal(found.gaps, 0);
	assert_int_equal(found.next[1], machine.written[1]);
	assert_true(found.next[1] - found.first[1] > 300);
	assert_int_equal(found.earlier[1] + found.next[1] - found.first[1], machine.written[1]);
	forget(&found);
}

static void hear(void *decode, const void *bytes, size_t size)
{
	decode_feed(decode, bytes, size);
}

/*
 * A host listens from some event on, and some of the last packets do not reach it before the machine dies: it reads in
 * its memory what it has not got, each event once. If the machine goes on after all, what it sends then is known up to
 * where it was read.
 */
static void a_host_reads_what_it_has_not_got(void **state)
{
	uint64_t seed = 4;

	(void)state;
	print_message("seed 4\n");
	for (int machines = 0; machines < 30; machines++) {
		uint64_t events[CPUS][BLACK_BOX_LANES];
		struct black_box_had had = { .cpus = CPUS, .events = events };
		struct found found = { .boots = 0 };
		struct decode *decode = decoder(&found);

		ktop_drain(machine.ktop);
		/* The rings roll until somebody listens. */
		for (uint32_t cpu = 0; cpu < CPUS && machines % 3; cpu++)
			trace(cpu, (uint32_t)(next_random(&seed) % 900));
		machine.host->hear = hear;
		machine.host->context = decode;
		fake_host_connect(machine.host);
		for (int i = 0; i < 40; i++) {
			for (uint32_t cpu = 0; cpu < CPUS; cpu++)
				trace(cpu, (uint32_t)(next_random(&seed) % 60));
			machine.host->deaf = i > 36 && machines % 2;
			fake_host_drain(machine.ktop);
		}
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			trace(cpu, 1 + (uint32_t)(next_random(&seed) % 90));
		die();

		memcpy(had.boot_id, decode_boot(decode), sizeof(had.boot_id));
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			for (int lane = 0; lane < BLACK_BOX_LANES; lane++)
				events[cpu][lane] = decode_put(decode, (enum stream)(1 + lane), cpu);
		decode_ahead(decode, true);
		look_at(&found, decode, &had);
		decode_ahead(decode, false);
		assert_true(found.good);
		for (int twice = 0; twice < 2; twice++) {
			keep_books(&found, decode);
			assert_int_equal(found.gaps + found.bad, 0);
			for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
				assert_int_equal(found.next[cpu], machine.written[cpu]);
				assert_int_equal(found.lost[cpu], 0);
			}
			machine.host->deaf = false;
			for (uint32_t cpu = 0; cpu < CPUS; cpu++)
				trace(cpu, (uint32_t)(next_random(&seed) % 60));
			fake_host_drain(machine.ktop);
		}
		decode_free(decode);
		forget(&found);
		after(NULL);
		boot(NULL);
	}
}

/* Whole calls go round in the ring, and then one begins and does not end: it is held where the oldest was. */
static void a_call_that_is_held_is_no_event(void **state)
{
	struct found found;

	(void)state;
	ktop_drain(machine.ktop);
	ktop_trace_sched_switch(machine.ktop, 1, 7, KTOP_LEAVES_READY);
	for (uint32_t i = 0; i < 700; i++) {
		fake_port.clock += 10;
		ktop_trace_syscall_enter(machine.ktop, 7, i + 1, 1, 2, 3, 4, 5, 6);
		ktop_trace_syscall_exit(machine.ktop, 7, i + 1, 0);
	}
	ktop_trace_syscall_enter(machine.ktop, 7, 66666, 1, 2, 3, 4, 5, 6);
	die();
	found = look();
	assert_true(found.good);
	assert_int_equal(found.wholes_last, 700);
	assert_true(found.wholes > 100 && found.wholes_first == 701 - found.wholes);
	forget(&found);
}

static uint32_t frame_of_box(void)
{
	for (uint32_t i = 0; i < FRAMES; i++)
		if (memcmp(machine.memory + (size_t)i * PAGE, KTOP_BLACK_BOX_MAGIC, 16) == 0)
			return i;
	fail();
	return 0;
}

static void a_copy_of_it_is_refused(void **state)
{
	struct found found;
	uint32_t box;

	(void)state;
	trace(2, 5);
	die();
	box = frame_of_box();
	memcpy(machine.memory + (size_t)machine.frames[FRAMES - 1] * PAGE, machine.memory + (size_t)box * PAGE, PAGE);
	found = look();
	assert_true(found.good);
	assert_non_null(strstr(found.said, "is refused: its pages are elsewhere"));
	assert_int_equal(found.boots, 1);
	assert_int_equal(found.next[2], 5);
	forget(&found);
	memset(machine.memory + (size_t)box * PAGE, 0, PAGE);
	found = look();
	assert_false(found.good);
	assert_non_null(found.error);
	forget(&found);
}

static void a_ring_that_lies_is_left_out(void **state)
{
	struct found found;

	(void)state;
	trace(0, 5);
	trace(1, 6);
	ktop_ring(&machine.ktop->cpu[0], KTOP_TRACE)->head += 1 << 20;
	die();
	found = look();
	assert_true(found.good);
	assert_non_null(strstr(found.said, "the events of CPU 0 are left out"));
	assert_int_equal(found.next[0], 0);
	assert_int_equal(found.next[1], 6);
	forget(&found);
}

/* Bytes at random places, and whole pages, are something else. What is told is what was there, or is counted. */
static void damaged_memory_does_no_harm(void **state)
{
	uint64_t seed = 9;

	(void)state;
	ktop_drain(machine.ktop);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		trace(cpu, 2000 + 100 * cpu);
	print_message("seed %u\n", 9u);
	for (int round = 0; round < DAMAGED; round++) {
		struct found found;

		die();
		for (uint64_t i = next_random(&seed) % 40; i > 0; i--) {
			size_t page = (size_t)machine.frames[next_random(&seed) % machine.page_count] * PAGE;

			if (next_random(&seed) % 8 == 0)
				memset(machine.memory + page, (int)(next_random(&seed) % 256), PAGE);
			machine.memory[page + next_random(&seed) % PAGE] ^= (uint8_t)(1 + next_random(&seed) % 255);
		}
		for (uint64_t i = next_random(&seed) % 6; i > 0; i--)	/* in the box itself, most of all */
			machine.memory[(size_t)machine.frames[round % machine.page_count] * PAGE +
				next_random(&seed) % 600] ^= (uint8_t)(1 + next_random(&seed) % 255);
		found = look();
		assert_true(found.good || found.error);
		forget(&found);
	}
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, boot, after)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_events_of_a_kernel_that_nobody_watched),
		TEST(events_that_were_sent_are_there_as_well),
		TEST(a_host_reads_what_it_has_not_got),
		TEST(a_copy_of_it_is_refused),
		TEST(a_ring_that_lies_is_left_out),
		TEST(damaged_memory_does_no_harm),
		cmocka_unit_test_setup_teardown(events_that_were_sent_are_there_as_well, boot_large, after),
		cmocka_unit_test_setup_teardown(a_call_that_is_held_is_no_event, boot_calls, after),
	};

	return cmocka_run_group_tests_name("black_box", tests, NULL, NULL);
}
