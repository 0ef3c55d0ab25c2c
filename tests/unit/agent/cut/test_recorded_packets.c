/* SPDX-License-Identifier: MIT */
/* Packets on their way into a recording: what is known is walked; what is not waits, or stays as it came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/cut/recorded_packets.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_reading.h"
#include "agent/guest/raw_samples.h"
#include "agent/names/symbols.h"
#include "agent/wire/decode.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/random.h"

enum {
	REGISTERS = 17, PC = 16, STACK = 2000, THREAD = 7, SPACE = 0x5000,
	PACKET_SAMPLES = 10, PAGES = 900,
	SAMPLE_MOST = 200,		/* bytes of a recording for each sample, all included */
};

#define FIRMWARE UINT64_C(0xf1234)
#define KERNEL UINT64_C(0xffffffff81234567)	/* of a kernel whose names are not known */

struct made {
	uint8_t bytes[KTOP_PACKET_MAX];
	size_t size, events;
};

static void put(struct made *made, const void *bytes, size_t size)
{
	memcpy(made->bytes + made->size, bytes, size);
	made->size += size;
}

static void put_list(struct made *made, const void *list, uint16_t count, size_t size)
{
	put(made, &count, sizeof(count));
	put(made, list, size);
}

static void put_sample(struct made *made, uint64_t pc)
{
	static const uint8_t stack[STACK];
	const uint64_t registers[REGISTERS] = { [PC] = pc };
	const struct ktop_wire_stacks_sample wire = {
		.process = THREAD, .thread = THREAD, .weight = 3, .mode = KTOP_MODE_KERNEL, .arch = KTOP_X86_64,
		.space = SPACE, .valid = UINT64_C(1) << PC,
	};
	const struct ktop_wire_event head = {
		.time = 100, .id = KTOP_EVENT_stacks_sample,
		.size = (uint16_t)(sizeof(wire) + 5 * sizeof(uint16_t) + sizeof(registers) + STACK + 4),
	};

	put(made, &head, sizeof(head));
	put(made, &wire, sizeof(wire));
	put_list(made, registers, REGISTERS, sizeof(registers));
	put_list(made, stack, STACK, STACK);
	put_list(made, "", 0, 0);
	put_list(made, "init", 4, 4);
	put_list(made, "", 0, 0);
	made->events++;
}

/* What the hook in a guest tells of a program, or of a thread of the kernel's own: then without registers. */
static void put_program(struct made *made, uint32_t process, uint16_t registers_count)
{
	static const uint8_t stack[STACK];
	const uint64_t kernel = KERNEL, registers[REGISTERS] = { [PC] = 0x401000 };
	const uint16_t bytes = registers_count ? STACK : 0;
	const struct ktop_wire_program_sample wire = {
		.arch = KTOP_X86_64, .process = process, .thread = THREAD, .mode = KTOP_MODE_KERNEL, .weight = 2,
		.flags = KTOP_SOFTIRQ | KTOP_KERNEL_CUT, .exact = 1,
	};
	const struct ktop_wire_event head = {
		.time = 100, .id = KTOP_EVENT_program_sample,
		.size = (uint16_t)(sizeof(wire) + 4 * sizeof(uint16_t) + 8 + 8 * registers_count + bytes),
	};

	put(made, &head, sizeof(head));
	put(made, &wire, sizeof(wire));
	put_list(made, &kernel, 1, sizeof(kernel));
	put_list(made, "", 0, 0);
	put_list(made, registers, registers_count, 8 * registers_count);
	put_list(made, stack, bytes, bytes);
	made->events++;
}

/* What is recorded: it is decoded, as a reader does. */
struct capture_end {
	struct decode *decode;
	struct recorded_packets *recorded;
	struct event got[4];		/* the first ones; their bytes are gone */
	uint64_t frame;			/* of the first one that was walked */
	char name[5];
	size_t got_count, walked, raw, pages;
	size_t bytes, packets;
	uint8_t last[KTOP_PACKET_MAX];
	size_t last_size;
	struct guest_memory *memory;	/* gets pages, if it is not NULL */
	uint64_t sent;			/* events of samples that were given so far */
	uint64_t sequence;
};

static void take_events(void *context, const struct event *events, size_t count)
{
	struct capture_end *end = context;

	for (size_t i = 0; i < count; i++) {
		if (events[i].kind == EVENT_SAMPLE && !end->walked) {
			end->frame = sample_frame(events[i].sample.kernel, 0);
			if (events[i].sample.name.size == 4)
				memcpy(end->name, events[i].sample.name.bytes, 4);
		}
		if (end->got_count < 4)
			end->got[end->got_count++] = events[i];
		end->walked += events[i].kind == EVENT_SAMPLE;
		end->raw += events[i].kind == EVENT_RAW_SAMPLE;
		end->pages += events[i].kind == EVENT_MEMORY;
		if (events[i].kind == EVENT_MEMORY && end->memory)
			guest_memory_take(end->memory, &events[i].memory);
	}
}

static void pass_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

static void pass_packet(void *context, const struct packet *packet)
{
	(void)context;
	(void)packet;
}

static void take_packet(void *context, const struct packet *packet)
{
	struct capture_end *end = context;

	assert_int_equal(decode_feed(end->decode, packet->bytes, packet->size), packet->size);
	memcpy(end->last, packet->bytes, packet->size);
	end->last_size = packet->size;
	end->bytes += packet->size;
	end->packets++;
}

static struct capture_end *end_new(void)
{
	struct capture_end *end = util_alloc(sizeof(*end));
	const struct decode_sink sink = {
		.context = end, .boot = pass_boot, .packet = pass_packet, .events = take_events,
	};

	end->decode = decode_new(&sink);
	end->recorded = recorded_packets_new(take_packet, end);
	return end;
}

/* What follows the last packet tells that it was whole. */
static void look(struct capture_end *end)
{
	const struct ktop_wire_packet head = {
		.magic = KTOP_MAGIC, .boot_id = { 9 }, .stream = KTOP_META, .begin = 100, .end = 100,
		.content_size = 8 * sizeof(head), .packet_size = 8 * sizeof(head), .sequence = 1000,
	};

	decode_feed(end->decode, &head, sizeof(head));
}

static void end_free(struct capture_end *end)
{
	recorded_packets_free(end->recorded);
	decode_free(end->decode);
	free(end);
}

static struct epoch *boot(struct budget *budget)
{
	static const uint8_t boot_id[16] = { 9 };

	return epoch_new(boot_id, NULL, budget);
}

static void add(struct capture_end *end, struct made *made, uint32_t stream, struct epoch *epoch)
{
	bool samples = stream == KTOP_SAMPLES;
	struct ktop_wire_packet head = {
		.magic = KTOP_MAGIC, .boot_id = { 9 }, .stream = stream, .begin = 100, .end = 100,
		.content_size = 8 * made->size, .packet_size = 8 * made->size,
		.sequence = samples ? end->sequence : 0, .before = samples ? end->sent : 0,
	};
	const struct packet packet = {
		.bytes = made->bytes, .size = made->size, .stream = (enum stream)stream, .begin = 100, .end = 100,
		.boot_id = made->bytes + offsetof(struct ktop_wire_packet, boot_id),
	};

	memcpy(made->bytes, &head, sizeof(head));
	end->sent += samples ? made->events : 0;
	end->sequence += samples;
	recorded_packets_add(end->recorded, &packet, epoch);
}

static struct made empty(void)
{
	return (struct made) { .size = sizeof(struct ktop_wire_packet) };
}

static void add_samples(struct capture_end *end, uint64_t pc, int count, struct epoch *epoch)
{
	struct made made = empty();

	for (int i = 0; i < count; i++)
		put_sample(&made, pc);
	add(end, &made, KTOP_SAMPLES, epoch);
}

static void known_stacks_are_walked_and_others_stay(void **state)
{
	struct epoch *epoch = boot(NULL);
	struct capture_end *end = end_new();
	const struct sample *sample = &end->got[0].sample;
	struct made made = empty();

	(void)state;
	put_sample(&made, FIRMWARE);
	put_sample(&made, KERNEL);
	add(end, &made, KTOP_SAMPLES, epoch);
	assert_true(end->last_size < made.size - STACK);
	look(end);
	assert_int_equal(end->got_count, 2);
	assert_int_equal(end->got[0].kind, EVENT_SAMPLE);
	assert_true(sample->walked);
	assert_int_equal(sample->weight, 3);
	assert_int_equal(sample->thread, THREAD);
	assert_int_equal(sample->space, SPACE);
	assert_int_equal(sample->arch, ARCH_X86_64);
	assert_string_equal(end->name, "init");
	assert_int_equal(end->frame, FIRMWARE);
	assert_int_equal(sample->kernel_count, 1);
	assert_int_equal(end->got[1].kind, EVENT_RAW_SAMPLE);
	assert_int_equal(end->got[1].raw.stack.size, STACK);
	assert_int_equal(decode_books(end->decode, STREAM_SAMPLES, 0).lost, 0);
	end_free(end);
	epoch_release(epoch);
}

/* A program whose file nobody has stays as it came; what needs none is a sample as any hook sends it. */
static void what_a_hook_tells_stays_what_it_told(void **state)
{
	struct epoch *epoch = boot(NULL);
	struct capture_end *end = end_new();
	const struct event *got = end->got;
	struct made made = empty();

	(void)state;
	put_program(&made, KTOP_KERNEL, 0);
	put_program(&made, THREAD, REGISTERS);
	add(end, &made, KTOP_SAMPLES, epoch);
	look(end);
	assert_int_equal(end->got_count, 2);
	assert_int_equal(got[0].id, KTOP_EVENT_sample);
	assert_false(got[0].sample.walked);
	assert_int_equal(got[0].sample.process, EVENT_KERNEL);
	assert_int_equal(got[0].sample.thread, THREAD);
	assert_int_equal(got[0].sample.context, CONTEXT_SOFTIRQ);
	assert_true(got[0].sample.kernel_cut);
	assert_int_equal(got[0].sample.weight, 2);
	assert_int_equal(got[0].sample.kernel_count, 1);
	assert_int_equal(got[1].kind, EVENT_RAW_SAMPLE);
	assert_true(got[1].raw.of_program);
	assert_int_equal(got[1].raw.stack.size, STACK);
	assert_int_equal(decode_books(end->decode, STREAM_SAMPLES, 0).lost, 0);
	end_free(end);
	epoch_release(epoch);
}

/* What is neither a raw sample nor a page of memory is recorded to the byte. */
static void other_packets_are_the_same(void **state)
{
	const struct ktop_wire_event gap = { .time = 100, .id = KTOP_EVENT_missed, .size = 4 };
	const struct ktop_wire_event absent = {
		.time = 100, .id = KTOP_EVENT_memory, .size = sizeof(struct ktop_wire_memory) + 2,
	};
	struct epoch *epoch = boot(NULL);
	struct capture_end *end = end_new();
	struct made made = empty();

	(void)state;
	put(&made, &gap, sizeof(gap));
	put(&made, &(uint32_t) { 12 }, 4);
	add(end, &made, KTOP_SAMPLES, epoch);
	assert_int_equal(end->last_size, made.size);
	assert_memory_equal(end->last, made.bytes, made.size);
	made = empty();
	put(&made, &absent, sizeof(absent));
	put(&made, &(struct ktop_wire_memory) { .address = 0x7000 }, sizeof(struct ktop_wire_memory));
	put_list(&made, "", 0, 0);
	add(end, &made, KTOP_META, epoch);
	assert_int_equal(end->last_size, made.size);
	assert_memory_equal(end->last, made.bytes, made.size);
	end_free(end);
	epoch_release(epoch);
}

/* ---- those that wait ---- */

static void tell_name(struct epoch *epoch)
{
	symbols_tell(epoch->inputs.symbols, KERNEL & ~UINT64_C(0xff), 0x100,
		(struct text) { .bytes = "vfs_read", .size = 8 });
}

static void samples_wait_for_names_that_come(void **state)
{
	struct epoch *epoch = boot(NULL);
	struct capture_end *end = end_new();

	(void)state;
	raw_samples_file_comes(epoch->held, true);
	add_samples(end, KERNEL, 3, epoch);
	add_samples(end, FIRMWARE, 2, epoch);		/* it waits behind these */
	assert_int_equal(end->packets, 0);
	assert_int_equal(recorded_packets_held(end->recorded), 5);
	tell_name(epoch);
	raw_samples_file_comes(epoch->held, false);
	add_samples(end, KERNEL, 1, epoch);
	look(end);
	assert_int_equal(recorded_packets_held(end->recorded), 0);
	assert_int_equal(end->walked, 6);
	assert_int_equal(end->raw, 0);
	assert_int_equal(decode_books(end->decode, STREAM_SAMPLES, 0).lost, 0);
	end_free(end);
	epoch_release(epoch);
}

/* Nothing more comes, or another boot does: what is not known yet stays raw, and all of it is recorded. */
static void what_still_waits_at_the_end_stays_raw(void **state)
{
	struct epoch *epoch = boot(NULL), *next = boot(NULL);
	struct capture_end *end = end_new();

	(void)state;
	raw_samples_file_comes(epoch->held, true);
	raw_samples_file_comes(next->held, true);
	add_samples(end, KERNEL, 3, epoch);
	add_samples(end, KERNEL, 2, next);
	assert_int_equal(recorded_packets_held(end->recorded), 2);
	recorded_packets_flush(end->recorded);
	look(end);
	assert_int_equal(end->raw, 5);
	assert_int_equal(decode_books(end->decode, STREAM_SAMPLES, 0).lost, 0);
	end_free(end);
	epoch_release(epoch);
	epoch_release(next);
}

/* The oldest ones go on raw when they are many: so memory has a bound. None is lost, and the order stays. */
static void those_that_wait_have_a_bound(void **state)
{
	enum { PACKETS = 600 };		/* some 13 MB */
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	size_t left = budget_left(budget);
	struct epoch *epoch = boot(budget);
	struct capture_end *end = end_new();

	(void)state;
	raw_samples_file_comes(epoch->held, true);
	for (int i = 0; i < PACKETS; i++) {
		add_samples(end, KERNEL, PACKET_SAMPLES, epoch);
		assert_true(budget_left(budget) > left / 2);
	}
	assert_true(end->packets > 0 && recorded_packets_held(end->recorded) > PACKETS);
	tell_name(epoch);
	raw_samples_file_comes(epoch->held, false);
	recorded_packets_flush(end->recorded);
	look(end);
	assert_true(end->walked > PACKETS && end->raw > 0);
	assert_int_equal(end->walked + end->raw, PACKETS * PACKET_SAMPLES);
	assert_int_equal(decode_books(end->decode, STREAM_SAMPLES, 0).lost, 0);
	assert_int_equal(decode_books(end->decode, STREAM_SAMPLES, 0).missing_packets, 0);
	end_free(end);
	epoch_release(epoch);
	budget_release(budget);
}

/* ---- pages ---- */

/* As a kernel's tables are: numbers that grow, and words. */
static void make_page(uint8_t page[KTOP_MEMORY_PAGE], uint64_t number)
{
	struct random random = { .state = number };
	uint64_t value = number << 20;

	for (size_t at = 0; at < KTOP_MEMORY_PAGE; at += 2 * sizeof(value)) {
		value += 16 * (1 + random_below(&random, 200));
		memcpy(page + at, &value, sizeof(value));
		memcpy(page + at + sizeof(value), "do_sys_p", sizeof(value));
	}
}

static void put_page(struct made *made, uint64_t number)
{
	const struct ktop_wire_memory wire = { .address = number * KTOP_MEMORY_PAGE };
	const struct ktop_wire_event head = {
		.time = 100, .id = KTOP_EVENT_memory, .size = sizeof(wire) + 2 + KTOP_MEMORY_PAGE,
	};
	uint8_t page[KTOP_MEMORY_PAGE];

	make_page(page, number);
	put(made, &head, sizeof(head));
	put(made, &wire, sizeof(wire));
	put_list(made, page, KTOP_MEMORY_PAGE, KTOP_MEMORY_PAGE);
}

static void pages_are_packed_and_come_back(void **state)
{
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct epoch *epoch = boot(budget);
	struct capture_end *end = end_new();
	struct made made = empty();
	uint8_t page[KTOP_MEMORY_PAGE], got[KTOP_MEMORY_PAGE];
	struct memory_reader reader;

	(void)state;
	end->memory = guest_memory_new(budget);
	reader = guest_memory_virtual(end->memory);
	for (uint64_t i = 1; i < 5; i++)
		put_page(&made, i);
	add(end, &made, KTOP_META, epoch);
	look(end);
	assert_true(end->last_size < made.size / 2);
	assert_int_equal(end->pages, 4);
	for (uint64_t i = 1; i < 5; i++) {
		make_page(page, i);
		assert_true(reader.read(reader.context, i * KTOP_MEMORY_PAGE, got, sizeof(got)));
		assert_memory_equal(got, page, sizeof(got));
	}
	guest_memory_free(end->memory);
	end_free(end);
	epoch_release(epoch);
	budget_release(budget);
}

/* Bytes that are no page, or not all of one: it is as if nothing were there. */
static void damaged_pages_are_absent(void **state)
{
	static const char bytes[4096] = { 0 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct guest_memory *memory = guest_memory_new(budget);
	struct memory_reader reader = guest_memory_virtual(memory);
	uint8_t got[16];

	(void)state;
	for (size_t size = 0; size <= sizeof(bytes); size += 512) {
		guest_memory_take(memory, &(struct memory_bytes) {
			.packed = true, .address = 0x5000, .bytes = { .bytes = bytes, .size = size },
		});
		assert_false(reader.read(reader.context, 0x5000, got, sizeof(got)));
	}
	guest_memory_free(memory);
	budget_release(budget);
}

/* ---- what a recording costs ---- */

/* The first 30 s of a guest, at 1 kHz: its names come after 5 s, and are found out of its memory. */
static void a_sample_takes_few_bytes(void **state)
{
	enum { SECONDS = 30, UNNAMED = 5, RATE = 1000 };
	struct epoch *epoch = boot(NULL);
	struct capture_end *end = end_new();
	uint64_t page = 1;

	(void)state;
	raw_samples_file_comes(epoch->held, true);
	for (int i = 0; i < SECONDS * RATE; i += PACKET_SAMPLES) {
		if (page < PAGES) {
			struct made made = empty();

			put_page(&made, page++);
			add(end, &made, KTOP_META, epoch);
		}
		if (i == UNNAMED * RATE) {
			tell_name(epoch);
			raw_samples_file_comes(epoch->held, false);
		}
		add_samples(end, KERNEL, PACKET_SAMPLES, epoch);
	}
	recorded_packets_flush(end->recorded);
	look(end);
	print_message("%zu bytes a sample\n", end->bytes / (SECONDS * RATE));
	assert_int_equal(end->walked, SECONDS * RATE);
	assert_int_equal(end->pages, PAGES - 1);
	assert_true(end->bytes < SAMPLE_MOST * SECONDS * RATE);
	end_free(end);
	epoch_release(epoch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_stacks_are_walked_and_others_stay),
		cmocka_unit_test(what_a_hook_tells_stays_what_it_told),
		cmocka_unit_test(other_packets_are_the_same),
		cmocka_unit_test(samples_wait_for_names_that_come),
		cmocka_unit_test(what_still_waits_at_the_end_stays_raw),
		cmocka_unit_test(those_that_wait_have_a_bound),
		cmocka_unit_test(pages_are_packed_and_come_back),
		cmocka_unit_test(damaged_pages_are_absent),
		cmocka_unit_test(a_sample_takes_few_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
