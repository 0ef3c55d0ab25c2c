/* SPDX-License-Identifier: MIT */
/* A flight recorder, fed with packets of known times: what it records is the last of them, and what was told before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/session/flight.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording.h"
#include "agent/wire/recording_reader.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/recordings.h"
#include "tests/unit/fakes/scratch.h"

enum { STEP_MS = 50, LEAD_MS = 2000 };

enum { BUDGET_OF_TEST = 64 };		/* MiB */

static struct budget *budget;
static size_t free_at_first;
static struct flight *flight;
static uint32_t number;			/* of the next event of the rings */

static size_t used(void)
{
	return free_at_first - budget_left(budget);
}

static int begin(void **state)
{
	(void)state;
	budget = budget_new(BUDGET_OF_TEST);
	free_at_first = budget_left(budget);
	flight = flight_new(budget);
	flight_lead(flight, LEAD_MS * NS_PER_MS);
	number = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	flight_free(flight);
	assert_int_equal(used(), 0);
	budget_release(budget);
	return 0;
}

/* A packet with one event at that time, in ns, of a boot whose id has that byte. True: the guest is asked again. */
static bool give(uint64_t time, uint8_t boot, enum ktop_stream stream, uint16_t id, const void *payload, size_t size)
{
	struct ktop_wire_packet head = {
		.magic = KTOP_MAGIC, .stream = stream, .begin = time, .end = time, .boot_id = { boot },
		.before = stream == KTOP_META ? 0 : number - 1,
	};
	struct ktop_wire_event event = { .time = (uint32_t)time, .id = id, .size = (uint16_t)size };
	uint8_t bytes[sizeof(head) + sizeof(event) + 64];

	head.content_size = head.packet_size = 8 * (sizeof(head) + sizeof(event) + size);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), &event, sizeof(event));
	memcpy(bytes + sizeof(head) + sizeof(event), payload, size);
	return flight_packet(flight, &(struct packet) {
		.bytes = bytes, .size = sizeof(head) + sizeof(event) + size, .boot_id = head.boot_id,
		.stream = (enum stream)stream, .begin = time, .end = time, .content = (uint32_t)(sizeof(event) + size),
	}, time, boot);
}

static bool tell_name(uint64_t time, uint8_t boot)
{
	const struct ktop_wire_process fixed = { .process = 7 };
	uint8_t payload[sizeof(fixed) + 3] = { 0 };

	memcpy(payload, &fixed, sizeof(fixed));
	payload[sizeof(fixed)] = 1;
	payload[sizeof(fixed) + 2] = 'p';
	return give(time, boot, KTOP_META, KTOP_EVENT_process, payload, sizeof(payload));
}

static void event_at(uint64_t time, uint8_t boot)
{
	const struct ktop_wire_missed fixed = { .ticks = ++number };

	give(time, boot, KTOP_SAMPLES, KTOP_EVENT_missed, &fixed, sizeof(fixed));
}

/* ---- what is recorded ---- */

struct found {
	uint32_t first, last, events, names;
	uint64_t from, to;		/* ns */
};

static void take_events(void *context, const struct event *events, size_t count)
{
	struct found *found = context;

	for (size_t i = 0; i < count; i++) {
		found->names += events[i].kind == EVENT_PROCESS;
		if (events[i].kind != EVENT_MISSED)
			continue;
		found->first = found->events++ ? found->first : events[i].missed.ticks;
		found->last = events[i].missed.ticks;
	}
}

static void take_packet(void *context, const struct packet *packet)
{
	struct found *found = context;

	found->from = packet->begin < found->from ? packet->begin : found->from;
	found->to = packet->end > found->to ? packet->end : found->to;
}

static struct found look(uint64_t lead_ms, size_t boots)
{
	const struct metadata_machine none = { .name = NULL };
	struct flight_cut *cut = flight_cut_new(flight, lead_ms * NS_PER_MS, &none);
	char *error = NULL, *folder = util_format("%s", scratch_path("recorded"));
	struct found found = { .from = UINT64_MAX };
	struct decode *decode = decode_new(&(struct decode_sink) {
		.context = &found, .boot = recordings_no_boot, .packet = take_packet, .events = take_events,
	});
	static uint8_t bytes[KTOP_PACKET_MAX];
	struct recording_sums sums;
	struct recording *recording;
	size_t got;

	assert_true(recording_folder(folder, &error));
	assert_true(flight_cut_write(cut, folder, &sums, &error));
	recording = recording_new(folder, &error);
	assert_non_null(recording);
	assert_int_equal(recording->boot_count, boots);
	for (size_t boot = 0; boot < boots; boot++) {
		struct reader *reader = reader_new(recording, boot);

		while ((got = reader_read(reader, bytes, sizeof(bytes))))
			decode_feed(decode, bytes, got);
		reader_free(reader);
	}
	decode_free(decode);
	recording_free(recording);
	recording_remove(folder);
	flight_cut_free(cut);
	free(folder);
	return found;
}

/* ---- tests ---- */

static void the_last_seconds_with_what_was_told_before(void **state)
{
	const uint64_t step = STEP_MS * NS_PER_MS, first = 1000 * step;
	struct found found;

	(void)state;
	tell_name(first, 1);
	for (uint32_t i = 0; i < 500; i++)
		event_at(first + i * step, 1);
	found = look(LEAD_MS, 1);
	assert_int_equal(found.last, 500);
	assert_int_equal(found.events, LEAD_MS / STEP_MS + 1);
	assert_int_equal(found.first, 500 - LEAD_MS / STEP_MS);
	assert_int_equal(found.names, 1);
	assert_int_equal(found.from, first + (500 - LEAD_MS / STEP_MS - 1) * step);	/* the name stands there, too */
	assert_int_equal(found.to, first + 499 * step);
	found = look(LEAD_MS / 2, 1);
	assert_int_equal(found.events, LEAD_MS / 2 / STEP_MS + 1);
	assert_int_equal(found.last, 500);
}

/* Another boot's clock begins anew; what was told of the boot before goes with its events. */
static void boots_follow_each_other(void **state)
{
	const uint64_t step = STEP_MS * NS_PER_MS;
	struct found found;

	(void)state;
	tell_name(5000 * step, 1);
	for (uint32_t i = 0; i < 30; i++)
		event_at((5000 + i) * step, 1);
	tell_name(step, 2);
	for (uint32_t i = 0; i < 20; i++)
		event_at((1 + i) * step, 2);
	found = look(LEAD_MS, 2);
	assert_int_equal(found.names, 2);
	assert_int_equal(found.last, 50);
	assert_true(found.events > 35);
	for (uint32_t i = 20; i < 200; i++)
		event_at((1 + i) * step, 2);
	found = look(LEAD_MS, 1);
	assert_int_equal(found.names, 1);
	assert_int_equal(found.events, LEAD_MS / STEP_MS + 1);
}

/* Where much is told, the guest is asked to tell all again, and what is older than that goes. */
static void what_is_told_is_bounded(void **state)
{
	const uint64_t step = STEP_MS * NS_PER_MS;
	uint32_t asked = 0;
	size_t most = 0;

	(void)state;
	for (uint32_t i = 0; i < 40000; i++) {
		if (tell_name(i * step / 10, 1)) {
			asked++;
			flight_told(flight);
		}
		most = used() > most ? used() : most;
	}
	assert_true(asked > 1);
	assert_true(most < 4 << 20);
	event_at(4000 * step, 1);
	assert_true(look(LEAD_MS, 1).names > 1);
}

/* Neither a clock that stands still nor a guest that does not answer makes it grow. */
static void what_is_told_without_an_end(void **state)
{
	(void)state;
	event_at(4000, 1);
	for (uint32_t i = 0; i < 200000; i++)
		tell_name(5000, 1);
	assert_true(used() < 20 << 20);
	event_at(6000, 1);
	assert_true(look(LEAD_MS, 1).names > 1000);
}

/* More packets than the budget's part has room for: the newest are kept, and it is said that some are not. */
static void memory_is_bounded(void **state)
{
	const struct metadata_machine none = { .name = NULL };
	struct flight_cut *cut;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		event_at(1000 + i, 1);
	assert_true(used() <= ((size_t)BUDGET_OF_TEST << 20 >> 3) + 2 * KTOP_PACKET_MAX);
	cut = flight_cut_new(flight, LEAD_MS * NS_PER_MS, &none);
	assert_true(flight_cut_is_short(cut));
	flight_cut_free(cut);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_seconds_with_what_was_told_before), TEST(boots_follow_each_other),
		TEST(what_is_told_is_bounded), TEST(what_is_told_without_an_end),
		TEST(memory_is_bounded),
	};

	return cmocka_run_group_tests_name("flight", tests, NULL, NULL);
}
