/* SPDX-License-Identifier: MIT */
/* Sampling by overflows of a CPU's own counter: which code gets which weight, also when overflows fail to come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/sampler.h"
#include "tests/unit/fakes/fake_port.h"

enum { PERIOD = 1000, RATE = 1000, EVERY = 1013 };	/* a counter never keeps step with the period */

/* What a CPU may be doing: idling; working; working with interrupts off; handling an interrupt while it idles. */
enum { IDLE, OPEN, MASKED, INTERRUPT, PLACES };
static const struct ktop_regs places[PLACES] = {
	[IDLE] = { .pc = 0x1100 }, [OPEN] = { .pc = 0x1200 }, [MASKED] = { .pc = 0x1300 },
	[INTERRUPT] = { .pc = 0x1400 },
};

static struct ktop *ktop;
static const char *refusal;		/* what the fake counters answer */
static uint32_t counting, asked;	/* their rate; how often it was set */

static const char *counters(uint32_t rate)
{
	asked++;
	counting = refusal ? 0 : rate;
	return refusal;
}

static void boot(bool nmi)
{
	struct ktop_facts facts = { .cpus = 1, .clock_hz = PERIOD * RATE, .counters = counters };
	struct ktop_settings settings = { .rate = RATE, .start = true, .nmi = nmi, .ring_size = 1 << 22 };
	size_t size = ktop_memory_size(1, &settings);

	free(ktop);
	ktop = ktop_init(&facts, &settings, NULL, aligned_alloc(64, size), size);
	assert_non_null(ktop);
}

static int set_up(void **state)
{
	(void)state;
	fake_port_reset();
	ktop = NULL;
	refusal = NULL;
	counting = asked = 0;
	boot(true);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(ktop);
	return 0;
}

/* Takes all samples out of the ring, and returns the sum of the weights of each place. */
struct sums {
	uint64_t samples, weight[PLACES], all, missed;
};

static int place_of(const struct ktop_record *record)
{
	uint64_t pc;

	memcpy(&pc, record->payload + sizeof(struct ktop_wire_sample) + 2, sizeof(pc));
	for (int place = 0; place < PLACES; place++)
		if (places[place].pc == pc)
			return place;
	fail();
	return 0;
}

static struct sums take_all(void)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_SAMPLES);
	const struct ktop_record *record;
	struct ktop_wire_sample sample;
	struct ktop_wire_missed missed;
	struct sums sums = { 0 };

	while ((record = ktop_ring_first(ring, ktop_ring_head(ring)))) {
		if (record->id == KTOP_EVENT_missed) {
			memcpy(&missed, record->payload, sizeof(missed));
			sums.missed += missed.ticks;
		} else {
			memcpy(&sample, record->payload, sizeof(sample));
			assert_int_equal(sample.mode == KTOP_MODE_IDLE, place_of(record) == IDLE);
			sums.samples++;
			sums.weight[place_of(record)] += sample.weight;
			sums.all += sample.weight;
		}
		ktop_ring_drop(ring, record);
	}
	return sums;
}

static void be_at(int place)
{
	fake_port.current[0].idle = place == IDLE;
	fake_port.current[0].thread = place == OPEN || place == MASKED ? 7 : KTOP_NO_THREAD;
}

static void tick(int place)
{
	be_at(place);
	ktop_tick(ktop, &places[place]);
}

static void overflow(int place)
{
	be_at(place);
	ktop_overflow(ktop, &places[place]);
}

/*
 * The CPU is at one place for some clock ticks. Its timer fires on time, or when interrupts are enabled; its counter
 * overflows after each `every` ticks of work.
 */
static uint64_t worked;			/* clock ticks since the last overflow */

static void stay(int place, uint64_t time, uint64_t every)
{
	for (uint64_t i = 0; i < time; i++) {
		fake_port.clock++;
		if (place != IDLE && ++worked >= every) {
			worked = 0;
			overflow(place);
		}
		if (place != MASKED && place != INTERRUPT && fake_port.clock >= fake_port.timer[0])
			tick(place);
	}
}

static void near(uint64_t is, uint64_t wanted, uint64_t percent)
{
	assert_in_range(is, wanted - wanted * percent / 100, wanted + wanted * percent / 100);
}

static void begin(void)
{
	worked = 0;
	tick(OPEN);
	take_all();
}

/* ---- shares ---- */

static void at_work_each_overflow_is_a_sample(void **state)
{
	struct sums sums;

	(void)state;
	begin();
	stay(OPEN, 1000 * PERIOD, PERIOD);
	sums = take_all();
	assert_in_range(sums.samples, 990, 1000);
	assert_in_range(sums.all, 997, 1001);
	assert_int_equal(sums.missed, 0);
}

static void code_with_interrupts_off_gets_its_share(void **state)
{
	struct sums sums;

	(void)state;
	begin();
	for (int i = 0; i < 1000; i++) {
		stay(MASKED, 3700, EVERY);
		stay(OPEN, 1300, EVERY);
	}
	sums = take_all();
	near(sums.weight[MASKED], 3700, 3);
	near(sums.weight[OPEN], 1300, 5);
	near(sums.all + sums.missed, 5000, 1);
}

/* On a CPU that mostly idles, the timer gives the idle time its weight. */
static void idle_time_is_the_timers(uint64_t every)
{
	uint64_t is[PLACES] = { 0 };
	struct sums sums;
	unsigned seed = 5;

	begin();
	print_message("seed %u\n", seed);
	for (int i = 0; i < 20000; i++) {
		uint64_t part = (uint64_t)rand_r(&seed) % 200;
		const uint64_t times[][2] = { { OPEN, part }, { MASKED, 90 }, { OPEN, 10 },
			{ IDLE, 900 - part }, { INTERRUPT, 150 }, { IDLE, 300 } };

		for (int at = 0; at < 6; at++) {
			is[times[at][0]] += times[at][1];
			stay((int)times[at][0], times[at][1], every);
		}
	}
	sums = take_all();
	near(sums.all + sums.missed, 20000 * 1450 / PERIOD, 1);
	near(sums.weight[IDLE], is[IDLE] / PERIOD, 3);
	near(sums.weight[OPEN], is[OPEN] / PERIOD, 8);
	near(sums.weight[MASKED], is[MASKED] / PERIOD, 12);
	near(sums.weight[INTERRUPT], is[INTERRUPT] / PERIOD, 8);
}

static void idle_time_is_the_timers_at_the_rate_of_work(void **state)
{
	(void)state;
	idle_time_is_the_timers(EVERY);
}

/* The counter overflows more often than the rate: this CPU is faster than the kernel has measured. */
static void with_threads_the_shares_are_of_time(void **state)
{
	struct sums sums;

	(void)state;
	begin();
	for (int i = 0; i < 20000; i++) {
		stay(OPEN, 300, 137);
		stay(IDLE, 1150, 137);
	}
	sums = take_all();
	near(sums.weight[OPEN], 20000 * 300 / PERIOD, 5);
	near(sums.weight[IDLE], 20000 * 1150 / PERIOD, 2);
}

/* ---- what else may come ---- */

static void an_overflow_amid_a_sample_takes_and_loses_nothing(void **state)
{
	const struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_SAMPLES);
	uint64_t committed = ring->committed;

	(void)state;
	begin();
	for (int i = 0; i < 100; i++) {
		fake_port.clock = fake_port.timer[0];
		ktop_ring_enter(ktop_ring(&ktop->cpu[0], KTOP_SAMPLES));
		overflow(OPEN);
		ktop_ring_leave(ktop_ring(&ktop->cpu[0], KTOP_SAMPLES));
	}
	assert_int_equal(ring->committed, committed);
	assert_int_equal(ktop_ring_lost(ring), 0);
	overflow(OPEN);
	assert_int_equal(take_all().all, 1);		/* one period has passed */
}

static void without_overflows_the_timer_samples_and_tells_of_gaps(void **state)
{
	struct sums sums;

	(void)state;
	begin();
	stay(OPEN, 900 * PERIOD, UINT64_MAX);
	sums = take_all();
	assert_in_range(sums.samples, 99, 100);
	assert_in_range(sums.all + sums.missed, 891, 900);
}

static void an_overflow_while_off_or_before_the_start_takes_nothing(void **state)
{
	(void)state;
	overflow(OPEN);					/* no tick has come yet */
	assert_int_equal(take_all().samples, 0);
	begin();
	ktop_sampler_run(ktop, false);
	ktop_drain(ktop);
	fake_port.clock += 100 * PERIOD;
	overflow(OPEN);
	ktop_sampler_run(ktop, true);
	ktop_drain(ktop);
	overflow(OPEN);
	assert_int_equal(take_all().samples, 0);
	tick(OPEN);
	overflow(OPEN);
	assert_int_equal(take_all().all, 1);		/* the time while off is not counted */
}

static void counters_run_while_they_sample(void **state)
{
	(void)state;
	assert_int_equal(counting, RATE);
	assert_int_equal(asked, 1);
	ktop->control.rate = 2 * RATE;
	ktop_drain(ktop);
	assert_int_equal(counting, 2 * RATE);
	ktop_sampler_run(ktop, false);
	ktop_drain(ktop);
	assert_int_equal(counting, 0);
	ktop_drain(ktop);
	assert_int_equal(asked, 3);
	assert_false(ktop_set_aside(ktop, 0));
}

static void without_counters_the_timer_samples_and_says_why(void **state)
{
	(void)state;
	refusal = "nmi: none here";
	boot(true);
	assert_int_equal(ktop->control.sampler, KTOP_TIMER);
	assert_int_equal(ktop->sampler, KTOP_TIMER);
	assert_string_equal(ktop_sampler_refusal(ktop), refusal);
	refusal = NULL;
	boot(true);
	refusal = "nmi: no longer";
	ktop->control.rate = 2 * RATE;
	ktop_drain(ktop);
	ktop_drain(ktop);
	assert_int_equal(ktop->control.sampler, KTOP_TIMER);
	assert_int_equal(ktop->sampler, KTOP_TIMER);
	assert_memory_equal(ktop->meta.note.bytes, refusal, strlen(refusal));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(at_work_each_overflow_is_a_sample),
		TEST(code_with_interrupts_off_gets_its_share),
		TEST(idle_time_is_the_timers_at_the_rate_of_work),
		TEST(with_threads_the_shares_are_of_time),
		TEST(an_overflow_amid_a_sample_takes_and_loses_nothing),
		TEST(without_overflows_the_timer_samples_and_tells_of_gaps),
		TEST(an_overflow_while_off_or_before_the_start_takes_nothing),
		TEST(counters_run_while_they_sample),
		TEST(without_counters_the_timer_samples_and_says_why),
	};

	return cmocka_run_group_tests_name("overflow", tests, NULL, NULL);
}
