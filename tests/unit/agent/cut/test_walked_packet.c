/* SPDX-License-Identifier: MIT */
/* A packet of raw samples on its way into a recording: what is known is walked, and what is not stays as it came. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/util.h"
#include "agent/cut/walked_packet.h"
#include "agent/guest/epoch.h"
#include "agent/wire/decode.h"
#include "kernel-hook/wire.h"

enum { REGISTERS = 17, PC = 16, STACK = 2000, THREAD = 7, SPACE = 0x5000 };

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

static struct packet packet_of(struct made *made)
{
	struct ktop_wire_packet head = {
		.magic = KTOP_MAGIC, .boot_id = { 9 }, .stream = KTOP_SAMPLES, .begin = 100, .end = 100,
		.content_size = 8 * made->size, .packet_size = 8 * made->size,
	};

	memcpy(made->bytes, &head, sizeof(head));
	return (struct packet) {
		.bytes = made->bytes, .size = made->size, .stream = STREAM_SAMPLES, .begin = 100, .end = 100,
	};
}

static struct event got[4];
static size_t got_count;

static void take_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	memcpy(got + got_count, events, count * sizeof(*events));
	got_count += count;
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

static void known_stacks_are_walked_and_others_stay(void **state)
{
	const struct decode_sink sink = { .boot = pass_boot, .packet = pass_packet, .events = take_events };
	static const uint8_t boot_id[16] = { 9 };
	struct made made = { .size = sizeof(struct ktop_wire_packet) };
	struct epoch *epoch = epoch_new(boot_id, NULL, NULL);
	struct decode *decode = decode_new(&sink);
	struct walked_packet *walked = util_alloc(sizeof(*walked));
	const struct sample *sample = &got[0].sample;
	struct packet packet;

	(void)state;
	put_sample(&made, FIRMWARE);
	put_sample(&made, KERNEL);
	packet = packet_of(&made);
	walked_packet_make(walked, &packet, epoch);
	assert_true(walked->packet.size < packet.size - STACK);
	assert_int_equal(decode_feed(decode, walked->packet.bytes, walked->packet.size), walked->packet.size);
	decode_feed(decode, packet.bytes, packet.size);		/* what follows tells that it was whole */
	assert_in_range(got_count, 2, 4);
	assert_int_equal(got[0].kind, EVENT_SAMPLE);
	assert_true(sample->walked);
	assert_int_equal(sample->weight, 3);
	assert_int_equal(sample->thread, THREAD);
	assert_int_equal(sample->space, SPACE);
	assert_int_equal(sample->arch, ARCH_X86_64);
	assert_int_equal(sample->name.size, 4);
	assert_memory_equal(sample->name.bytes, "init", 4);
	assert_int_equal(sample->kernel_count, 1);
	assert_int_equal(sample_frame(sample->kernel, 0), FIRMWARE);
	assert_int_equal(got[1].kind, EVENT_RAW_SAMPLE);
	assert_int_equal(got[1].raw.stack.size, STACK);
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 0).lost, 0);
	free(walked);
	decode_free(decode);
	epoch_release(epoch);
}

/* A program whose file nobody has stays as it came; what needs none is a sample as any hook sends it. */
static void what_a_hook_tells_stays_what_it_told(void **state)
{
	const struct decode_sink sink = { .boot = pass_boot, .packet = pass_packet, .events = take_events };
	static const uint8_t boot_id[16] = { 9 };
	struct made made = { .size = sizeof(struct ktop_wire_packet) };
	struct epoch *epoch = epoch_new(boot_id, NULL, NULL);
	struct decode *decode = decode_new(&sink);
	struct walked_packet *walked = util_alloc(sizeof(*walked));
	struct packet packet;

	(void)state;
	got_count = 0;
	put_program(&made, KTOP_KERNEL, 0);
	put_program(&made, THREAD, REGISTERS);
	packet = packet_of(&made);
	walked_packet_make(walked, &packet, epoch);
	assert_int_equal(decode_feed(decode, walked->packet.bytes, walked->packet.size), walked->packet.size);
	decode_feed(decode, packet.bytes, packet.size);
	assert_in_range(got_count, 2, 4);
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
	assert_int_equal(decode_books(decode, STREAM_SAMPLES, 0).lost, 0);
	free(walked);
	decode_free(decode);
	epoch_release(epoch);
}

/* Other streams' packets, and what is no raw sample, are recorded to the byte. */
static void a_packet_without_raw_samples_is_the_same(void **state)
{
	static const uint8_t boot_id[16] = { 9 };
	const struct ktop_wire_event head = { .time = 100, .id = KTOP_EVENT_missed, .size = 4 };
	struct made made = { .size = sizeof(struct ktop_wire_packet) };
	struct epoch *epoch = epoch_new(boot_id, NULL, NULL);
	struct walked_packet *walked = util_alloc(sizeof(*walked));
	struct packet packet;

	(void)state;
	put(&made, &head, sizeof(head));
	put(&made, &(uint32_t) { 12 }, 4);
	packet = packet_of(&made);
	walked_packet_make(walked, &packet, epoch);
	assert_int_equal(walked->packet.size, packet.size);
	assert_memory_equal(walked->packet.bytes, packet.bytes, packet.size);
	packet.stream = STREAM_META;
	walked_packet_make(walked, &packet, epoch);
	assert_ptr_equal(walked->packet.bytes, packet.bytes);
	free(walked);
	epoch_release(epoch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_stacks_are_walked_and_others_stay),
		cmocka_unit_test(what_a_hook_tells_stays_what_it_told),
		cmocka_unit_test(a_packet_without_raw_samples_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
