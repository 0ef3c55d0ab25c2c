/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_reading.h"
#include "agent/guest/remarks.h"
#include "agent/names/function.h"
#include "agent/names/symbols.h"
#include "agent/session/session.h"
#include "agent/store/stacks.h"
#include "agent/wire/decode.h"
#include "tests/unit/fakes/answers.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/filter_of.h"
#include "tests/unit/fakes/session_fixture.h"
#include "tests/unit/fakes/sums.h"

static bool is_named(const struct answers *answers, uint32_t function, const char *name)
{
	return strcmp(symbols_get(answers->functions->answer.symbols, function)->name, name) == 0;
}

static const struct row *find_row(const struct answers *answers, const char *name)
{
	for (size_t i = 0; answers->functions->table && i < answers->functions->table->count; i++)
		if (is_named(answers, answers->functions->table->rows[i].function, name))
			return &answers->functions->table->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void test_states_in_order(void **state)
{
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	assert_int_equal(session_link(fixture.session), LINK_CONNECTING);
	fixture_await_link(&fixture, LINK_NOT_OPENED);
	fixture_await_line(&fixture, "hello");
	fake_guest_beat(fixture.guest, 1);
	fixture_await_link(&fixture, LINK_NO_HELLO);
	fixture_tell_all(&fixture);
	fixture_end(&fixture);
}

static void test_answers_of_samples(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct answers *answers;

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < 30; i++)
		fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	for (int i = 0; i < 10; i++)
		fake_guest_sample(fixture.guest, 1, 2, 0x1310, 0x1120);
	fake_guest_counts(fixture.guest);
	answers = fixture_answers(&fixture);

	assert_string_equal(answers->vitals->kernel, "toy?[2J");
	assert_int_equal(answers->vitals->cpu_count, 2);
	assert_true(answers->vitals->running);
	assert_int_equal(answers->vitals->rate, 997);
	/* Two ticks of the guest's clock are a nanosecond. */
	assert_int_equal(answers->vitals->now, fixture.guest->clock / 2);
	assert_int_equal(answers->functions->table->weight, 50);
	assert_int_equal(answers->functions->table->samples, 40);
	assert_int_equal(find_row(answers, "hot")->self, 30);
	assert_int_equal(find_row(answers, "cold")->self, 20);
	assert_int_equal(find_row(answers, "main_loop")->self, 0);
	assert_int_equal(find_row(answers, "main_loop")->total, 50);
	assert_int_equal(answers->vitals->lost_guest + answers->vitals->lost_host, 0);
	assert_int_equal(answers->vitals->cost_ns, 500);
	assert_int_equal(events_sum(session_epoch(fixture.session)->events, 16, 0), 30);
	assert_int_equal(events_sum(session_epoch(fixture.session)->events, 16, 1), 10);
	answers_free(answers);
	fixture_end(&fixture);
}

/* What the guest sampled for somebody before is no part of any window. It counts as lost before ktop came. */
static void test_leftovers(void **state)
{
	enum { AWAY_MS = 140000 };
	struct fixture fixture = fixture_begin(NULL);
	struct answers *answers;

	(void)state;
	fixture.guest->clock += AWAY_MS * (uint64_t)FAKE_GUEST_TICKS_PER_MS;
	fixture_bring_up(&fixture);		/* its profiler is off */
	fixture.guest->clock -= AWAY_MS * (uint64_t)FAKE_GUEST_TICKS_PER_MS;
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	fixture.guest->clock += AWAY_MS * (uint64_t)FAKE_GUEST_TICKS_PER_MS;
	fake_guest_status(fixture.guest, true);
	fake_guest_sample(fixture.guest, 0, 1, 0x1310, 0x1120);
	answers = fixture_answers(&fixture);
	assert_int_equal(answers->functions->table->samples, 1);
	assert_int_equal(find_row(answers, "cold")->self, 1);
	assert_true(answers->vitals->oldest >= AWAY_MS * NS_PER_MS);
	assert_int_equal(answers->vitals->lost_before, 2);
	assert_int_equal(answers->vitals->lost_guest + answers->vitals->lost_host, 0);
	assert_int_equal(decode_books(session_decode(fixture.session), STREAM_SAMPLES, 0).received, 3);
	answers_free(answers);
	fixture_end(&fixture);
}

/* A reader who asks for the marks alone gets no more. */
static void test_marks(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct vitals_request request = answers_vitals_request();
	struct subscription *reader = session_subscribe(fixture.session, NULL, NULL);
	struct vitals *vitals = NULL;

	(void)state;
	request.cpus = VITALS_NO_CPUS;
	request.request.pause_ms = 1;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	subscription_ask(reader, &request.request);
	for (int i = 0; i < FIXTURE_STEPS && !(vitals && vitals->running); i++) {
		struct answer *next = subscription_take(reader);

		if (next) {
			answer_free((struct answer *)vitals);
			vitals = (struct vitals *)next;
		}
		fixture_step(&fixture);
	}
	assert_non_null(vitals);
	assert_true(vitals->running);
	assert_string_equal(vitals->kernel, "toy?[2J");
	assert_null(vitals->cpus);
	answer_free((struct answer *)vitals);
	fixture_end(&fixture);			/* while readers are still subscribed */
}

/* Three readers at once, each with its own filter and window: each gets its own answer. */
static void test_many_readers(void **state)
{
	enum { READERS_HERE = 3 };
	struct fixture fixture = fixture_begin(NULL);
	struct subscription *readers[READERS_HERE];
	uint64_t weights[READERS_HERE] = { 0 };
	static const uint64_t wanted[READERS_HERE] = { 50, 30, 20 };
	static const char *const filters[READERS_HERE] = { "", "cpu:0", "cpu:1" };

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_status(fixture.guest, true);
	for (int i = 0; i < READERS_HERE; i++) {
		struct function_request request = answers_function_request();

		request.request.excerpt.filter = filter_of(filters[i]);
		request.request.excerpt.window_ns = (uint64_t)i * 10 * NS_PER_SECOND;
		request.request.pause_ms = 1;
		readers[i] = session_subscribe(fixture.session, NULL, NULL);
		subscription_ask(readers[i], &request.request);
	}
	for (int i = 0; i < 30; i++)
		fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	for (int i = 0; i < 10; i++)
		fake_guest_sample(fixture.guest, 1, 2, 0x1310, 0x1120);
	fake_guest_counts(fixture.guest);
	for (int i = 0; i < FIXTURE_STEPS && memcmp(weights, wanted, sizeof(wanted)) != 0; i++) {
		fixture_step(&fixture);
		for (int k = 0; k < READERS_HERE; k++) {
			struct function_table *answer = (struct function_table *)subscription_take(readers[k]);

			if (answer && answer->table)
				weights[k] = answer->table->weight;
			answer_free((struct answer *)answer);
		}
	}
	assert_memory_equal(weights, wanted, sizeof(wanted));
	for (int i = 0; i < READERS_HERE; i++)
		subscription_leave(readers[i]);
	fixture_end(&fixture);
}

static void test_new_boot_is_a_new_epoch(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct answers *old, *fresh;

	(void)state;
	fixture_bring_up(&fixture);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	old = fixture_answers(&fixture);
	packets_boot(fixture.guest->packets, 2);
	fixture.guest->clock = 0;
	fake_guest_facts(fixture.guest, NULL, 0);
	fake_guest_status(fixture.guest, false);
	fresh = fixture_answers(&fixture);
	assert_int_equal(fresh->functions->table->weight, 0);
	assert_ptr_not_equal(fresh->functions->answer.epoch, old->functions->answer.epoch);
	/* A frozen screen may still show the old boot. */
	assert_int_equal(find_row(old, "hot")->self, 1);
	answers_free(fresh);
	fixture_end(&fixture);
	answers_free(old);
}

/* With the most CPUs, a boot and its answers take at most a tenth of the least budget. */
static void test_all_cpus_are_cheap(void **state)
{
	static const uint8_t boot_id[16];
	const struct event event = { .kind = EVENT_MISSED, .cpu = EVENT_CPUS - 1 };
	struct budget *budget = budget_new(BUDGET_LEAST_MIB);
	struct epoch *epoch = epoch_new(boot_id, NULL, budget);
	size_t left = budget_left(budget);

	(void)state;
	epoch_events(epoch, &event, 1);
	assert_int_equal(epoch->cpus_seen, EVENT_CPUS);
	assert_in_range(left - budget_left(budget), 1, (BUDGET_LEAST_MIB << 20) / 10);
	epoch_release(epoch);
	budget_release(budget);
}

/* After loadvm the guest's packets have old numbers, clocks and counts. The guest does not know that. */
static void test_put_back_guest_is_asked_again(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	struct packets *packets = fixture.guest->packets;
	struct packets_lane lane;
	uint64_t clock;

	(void)state;
	fixture_bring_up(&fixture);
	lane = packets->lanes[KTOP_SAMPLES][0];
	clock = fixture.guest->clock;
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	answers_free(fixture_answers(&fixture));
	packets->lanes[KTOP_SAMPLES][0] = lane;
	fixture.guest->clock = clock;
	fake_guest_sample(fixture.guest, 0, 1, 0x1210, 0x1120);
	fixture_await_line(&fixture, "hello");
	fixture_end(&fixture);
}

static void test_connects_again(void **state)
{
	struct fixture fixture = fixture_begin(NULL);

	(void)state;
	fixture_bring_up(&fixture);
	fixture_command(&fixture, "status");
	fixture_await_line(&fixture, "status");
	fake_guest_hang_up(fixture.guest);
	session_step(fixture.session, FIXTURE_STEP_MS);
	assert_int_equal(session_link(fixture.session), LINK_LOST);
	fixture_await_message(&fixture, true, "was lost");
	fixture_await_line(&fixture, "hello");
	fake_guest_status(fixture.guest, false);
	fixture_await_link(&fixture, LINK_UP);
	fixture_end(&fixture);
}

/* Every loss that is counted is shown, in the vitals and in the report. */
static void test_losses_are_shown(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	const struct store_key damaged = { .stack = STACKS_NONE, .who.mode = MODES };
	struct answers *answers;
	struct epoch *epoch;
	char text[REMARKS_SIZE];

	(void)state;
	fixture_await_line(&fixture, "hello");
	fake_guest_sample(fixture.guest, 0, 3, 0x1210, 0x1120);
	fixture_tell_all(&fixture);
	answers = fixture_answers(&fixture);
	assert_string_equal(answers->vitals->note, "3 sampling ticks are not counted: they came before "
		"the guest told the speed of its clock; later ones are");
	answers_free(answers);
	session_epoch(fixture.session)->untimed = 1;
	assert_string_equal(remarks_text(session_epoch(fixture.session), 0, "", "; ", text, sizeof(text)),
		"1 sampling tick is not counted: it came before the guest told the speed of its "
		"clock; later ones are");
	session_epoch(fixture.session)->untimed = 3;

	store_add(session_epoch(fixture.session)->inputs.store, 1, &damaged, 2);
	session_epoch(fixture.session)->status.meta_lost = 1;
	answers = fixture_answers(&fixture);
	assert_string_equal(answers->vitals->note, "2 sampling ticks not kept: memory is full; give more by --memory\n"
		"3 sampling ticks are not counted: they came before the guest told the speed of "
		"its clock; later ones are\n"
		"1 name lost: the tables of the guest's hook are full; give it larger ones");
	answers_free(answers);

	/* A hook that tells which table is full: the remark has its name, size and remedy, until it has room. */
	epoch = session_epoch(fixture.session);
	epoch->untimed = epoch->status.meta_lost = 0;
	epoch->tables_told = true;
	epoch->tables[TABLE_THREADS] = (struct table_fill) { .size = 4096, .used = 4096, .missing = 904 };
	assert_non_null(strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "904 threads without a name: the "
		"guest keeps 4096 threads; more by the hook's settings: threads=8192"));
	epoch->tables[TABLE_THREADS].missing = 0;
	assert_null(strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "threads"));
	fixture_end(&fixture);
}

/* A loss is told while the window has the time in which it grew, and again when it grows. */
static void test_a_remark_goes_with_its_cause(void **state)
{
	struct epoch *epoch = epoch_new((const uint8_t[16]) { 0 }, NULL, NULL);
	char text[REMARKS_SIZE];

	(void)state;
	epoch->known = epoch->clock_told = epoch->told = true;
	epoch_ticks(epoch, 20 * NS_PER_SECOND);
	epoch->cpus_refused = 2;
	assert_string_equal(remarks_text(epoch, 10000000000, "", "; ", text, sizeof(text)),
		"2 events dropped, of CPUs that are not shown: memory is full; give more by --memory");
	epoch_ticks(epoch, 40 * NS_PER_SECOND);
	assert_string_equal(remarks_text(epoch, 30000000000, "", "; ", text, sizeof(text)), "");
	assert_non_null(strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "2 events"));
	epoch->cpus_refused = 3;
	assert_non_null(strstr(remarks_text(epoch, 30000000000, "", "; ", text, sizeof(text)), "3 events"));
	epoch->cpus_refused = 0;
	epoch_packet(epoch, &(struct packet) { .stream = STREAM_TRACE, .lost = 12, .begin = 39, .end = 40 });
	assert_string_equal(remarks_text(epoch, 30000000000, "", "; ", text, sizeof(text)),
		"12 trace events lost: trace fewer kinds, filter them, or leave out stacks; or give the hook a larger "
		"settings.ring_size");
	strcpy(epoch->kernel, "Linux");
	assert_non_null(strstr(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "with a larger ring="));
	epoch_ticks(epoch, 80 * NS_PER_SECOND);
	assert_string_equal(remarks_text(epoch, 70000000000, "", "; ", text, sizeof(text)), "");
	epoch_release(epoch);
}

static void test_memory_that_does_not_come_is_told(void **state)
{
	struct epoch *epoch = epoch_new((const uint8_t[16]) { 0 }, NULL, NULL);
	struct memory_reader reader = guest_memory_physical(epoch->memory);
	char text[REMARKS_SIZE], line[COMMANDS_LINE_MAX + 1], byte;

	(void)state;
	epoch->known = epoch->clock_told = epoch->told = true;
	assert_false(reader.read(reader.context, 4096, &byte, 1));
	for (unsigned i = 1; i < 5; i++) {
		assert_string_equal(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "");
		assert_int_equal(guest_memory_ask(epoch->memory, i * 4 * NS_PER_SECOND, line), i < 4);
	}
	assert_string_equal(remarks_text(epoch, 0, "", "; ", text, sizeof(text)), "1 page of the guest's memory did "
		"not come: names of its modules and processes may be missing; ktop asks again");
	epoch_release(epoch);
}

/* Gives each page that is asked for: zeros, but for an entry of the IDT, whose handler is the kernel's code. */
static void give_pages(struct guest_memory *memory)
{
	static const uint8_t gate[] = { 0x00, 0x08, 0x10, 0, 0, 0x8e, 0, 0x81, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0 };
	char line[COMMANDS_LINE_MAX + 1], page[4096];
	unsigned long long address;
	unsigned count;

	while (guest_memory_ask(memory, util_now(), line)) {
		assert_int_equal(sscanf(line, "read virtual %llx %u", &address, &count), 2);
		for (uint64_t at = address; count--; at += sizeof(page)) {
			memset(page, 0, sizeof(page));
			if (at == 0xfffffe0000000000)
				memcpy(page, gate, sizeof(gate));
			guest_memory_take(memory, &(struct memory_bytes) {
				.address = at, .bytes = { .bytes = page, .size = sizeof(page) },
			});
		}
	}
}

/* Profiling stops while names are searched for in the pages that have come. The search ends all the same. */
static void test_a_search_ends_without_samples(void **state)
{
	struct fixture fixture = fixture_begin(NULL);
	uint64_t late = util_now() + 60 * NS_PER_SECOND;
	struct epoch *epoch;

	(void)state;
	fixture_bring_up(&fixture);
	epoch = session_epoch(fixture.session);
	assert_false(epoch->status.running);
	kernel_reading_saw(epoch->reading, ARCH_X86_64, 0xffffffff81000123);
	while (!kernel_reading_searches(epoch->reading)) {
		assert_true(util_now() < late);
		kernel_reading_step(epoch->reading, true, util_now());
		give_pages(epoch->memory);
	}
	while (kernel_reading_searches(epoch->reading)) {
		assert_true(util_now() < late);
		fixture_step(&fixture);
	}
	fixture_end(&fixture);
}

static void test_remarks_are_cut_to_their_room(void **state)
{
	struct epoch *epoch = epoch_new((const uint8_t[16]) { 0 }, NULL, NULL);
	char text[16];

	(void)state;
	epoch->untimed = 12;
	memset(text, 'x', sizeof(text));
	assert_string_equal(remarks_text(epoch, 0, "", "; ", text, 12), "12 sampling");
	assert_int_equal(text[12], 'x');
	epoch_release(epoch);
}

/* The rate changes, and the measured rate follows within the window. Two CPUs are sampled at the same rate. */
static void test_meter_follows_the_window(void **state)
{
	struct meter meter = { .used = 0 };
	struct meter_point point = { .time = 0 };

	(void)state;
	for (; point.time <= 70 * NS_PER_SECOND; point.time += 250000000) {
		point.taken += point.time <= 60 * NS_PER_SECOND ? 50 : 500;
		point.span += 500000000;
		point.counted++;
		point.traced += point.time <= 60 * NS_PER_SECOND ? 0 : 25;
		meter_add(&meter, &point);
	}
	assert_float_equal(meter_traced(&meter, NS_PER_SECOND), 100, 1);
	assert_float_equal(meter_traced(&meter, 20 * NS_PER_SECOND), 50, 1);
	assert_float_equal(meter_rate(&meter, NS_PER_SECOND), 1000, 1);
	assert_float_equal(meter_rate(&meter, 20 * NS_PER_SECOND), 550, 1);
	assert_true(meter_rate(&meter, 0) > 200 && meter_rate(&meter, 0) < 300);
	meter_clear(&meter);
	for (int i = 0; i < 4; i++, point.time += NS_PER_SECOND)	/* the guest tells no counts */
		meter_add(&meter, &point);
	assert_true(meter_rate(&meter, 0) < 0 && meter_traced(&meter, 0) < 0);
}

/*
 * A ktop comes back to a profiler that ran on. A ring full of old samples comes at once, then a gap, and then the
 * counts of all.
 */
static void see_backlog(bool read_at_once)
{
	struct fixture fixture = fixture_begin(NULL);
	struct fake_guest *guest = fixture.guest;
	struct answers *answers;

	fixture_await_line(&fixture, "hello");
	guest->taken[0] = 4000;
	guest->packets->lanes[KTOP_SAMPLES][0].discarded = 1000;
	fixture_tell_all(&fixture);
	fake_guest_status(guest, true);
	for (int i = 0; i < 2000; i++)
		fake_guest_sample(guest, 0, 1, 0x1210, 0x1120);
	guest->taken[0] -= 2000;			/* the guest counted them when it took them */
	for (int i = 0; i < 40; i++) {
		guest->taken[0] += 5;
		fake_guest_beat(guest, 48);		/* the counts take 2 ms more */
		fake_guest_counts(guest);
		if (!read_at_once)
			fixture_step(&fixture);
	}
	answers = fixture_answers(&fixture);
	/* fake_guest_counts: a sample each 100000 ticks, of a clock with two ticks per nanosecond. */
	assert_float_equal(answers->vitals->achieved, 20000, 1);
	assert_int_equal(answers->functions->table->samples, 2000);
	assert_int_equal(answers->vitals->lost_guest + answers->vitals->lost_host, 0);
	assert_int_equal(answers->vitals->lost_before, 1000);
	answers_free(answers);
	fixture_end(&fixture);
}

static void test_backlog_is_no_rate(void **state)
{
	(void)state;
	see_backlog(false);
	see_backlog(true);		/* as after a jump in a recording: the rate is the same */
}

/* Valid packets with random contents, and garbage: the session survives, and shows what there is. */
static void test_hostile_guest(void **state)
{
	static const uint16_t ids[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 32, 36, 99 };
	struct fixture fixture = fixture_begin(NULL);
	const struct function_request request = answers_function_request();
	struct subscription *reader = session_subscribe(fixture.session, NULL, NULL);
	uint64_t seed = 20260101;

	(void)state;
	subscription_ask(reader, &request.request);
	fixture_await_link(&fixture, LINK_NOT_OPENED);
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 20; i++) {
			uint16_t id = ids[random_next(&seed) % (sizeof(ids) / sizeof(ids[0]))];
			uint32_t stream = (uint32_t)(random_next(&seed) % KTOP_STREAMS);
			uint64_t garbage = random_next(&seed);
			struct body body;

			body_random(&body, id, &seed, 20);
			packets_begin(fixture.guest->packets, stream,
				(uint32_t)garbage % PACKETS_CPUS, fixture.guest->clock);
			packets_event(fixture.guest->packets, fixture.guest->clock, id, &body);
			packets_end(fixture.guest->packets, fixture.guest->clock);
			fixture.guest->clock += random_next(&seed) >> (garbage % 64);
			if (garbage % 7 == 0)
				packets_raw(fixture.guest->packets, &garbage, garbage % 8);
		}
		fixture_step(&fixture);
		answer_free(subscription_take(reader));
	}
	answers_free(fixture_answers(&fixture));
	assert_true(decode_counts(session_decode(fixture.session)).bytes > 0);
	fixture_end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states_in_order),
		cmocka_unit_test(test_answers_of_samples),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_many_readers),
		cmocka_unit_test(test_new_boot_is_a_new_epoch),
		cmocka_unit_test(test_all_cpus_are_cheap),
		cmocka_unit_test(test_put_back_guest_is_asked_again),
		cmocka_unit_test(test_connects_again),
		cmocka_unit_test(test_losses_are_shown),
		cmocka_unit_test(test_a_remark_goes_with_its_cause),
		cmocka_unit_test(test_memory_that_does_not_come_is_told),
		cmocka_unit_test(test_a_search_ends_without_samples),
		cmocka_unit_test(test_remarks_are_cut_to_their_room),
		cmocka_unit_test(test_meter_follows_the_window),
		cmocka_unit_test(test_backlog_is_no_rate),
		cmocka_unit_test(test_hostile_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
