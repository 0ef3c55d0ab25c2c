/* SPDX-License-Identifier: MIT */
/* Timer and NMI samplers: what they write into the rings, and when. */
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

enum { CPUS = 4, PERIOD = 1000, RATE = 1000 };

static struct ktop *ktop;
static uint64_t stack[64];
static const struct ktop_regs in_user = { .pc = 0x400000, .user = true };

static void boot(uint32_t ring_size)
{
	struct ktop_facts facts = { .cpus = CPUS, .clock_hz = PERIOD * RATE };
	struct ktop_settings settings = { .rate = RATE, .ring_size = ring_size, .start = true };
	size_t size = ktop_memory_size(CPUS, &settings);

	free(ktop);
	ktop = ktop_init(&facts, &settings, NULL, aligned_alloc(64, size), size);
	assert_non_null(ktop);
}

static int set_up(void **state)
{
	(void)state;
	fake_port_reset();
	ktop = NULL;
	boot(1 << 20);
	for (int i = 0; i < FAKE_CPUS; i++)
		fake_port.current[i] = (struct ktop_current) {
			.process = KTOP_KERNEL,
			.thread = KTOP_NO_THREAD,
			.stack_low = (uintptr_t)stack,
			.stack_high = (uintptr_t)(stack + 64),
		};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(ktop);
	return 0;
}

static void by_nmi(void)
{
	ktop->control.sampler = KTOP_NMI;
	ktop->wanted = KTOP_NMI;
	ktop_drain(ktop);
	assert_int_equal(ktop->sampler, KTOP_NMI);
}

/* Takes all events out of a CPU's ring of samples, and returns their sums. */
struct sums {
	uint64_t samples, weight, heaviest, missed;
	struct ktop_wire_sample last;
	uint8_t payload[KTOP_SAMPLE_MAX];
	uint32_t size;
};

static struct sums take_all(uint32_t cpu)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[cpu], KTOP_SAMPLES);
	const struct ktop_record *record;
	struct sums sums = { 0 };

	while ((record = ktop_ring_first(ring, ktop_ring_head(ring)))) {
		if (record->id == KTOP_EVENT_missed) {
			struct ktop_wire_missed missed;

			memcpy(&missed, record->payload, sizeof(missed));
			sums.missed += missed.ticks;
		} else {
			assert_int_equal(record->id, KTOP_EVENT_sample);
			memcpy(&sums.last, record->payload, sizeof(sums.last));
			memcpy(sums.payload, record->payload, record->size);
			sums.size = record->size;
			sums.samples++;
			sums.weight += sums.last.weight;
			if (sums.last.weight > sums.heaviest)
				sums.heaviest = sums.last.weight;
		}
		ktop_ring_drop(ring, record);
	}
	return sums;
}

static void tick_at(uint64_t clock, const struct ktop_regs *regs)
{
	fake_port.clock = clock;
	ktop_tick(ktop, regs);
}

/* ---- by timer ---- */

static void the_first_tick_arms_the_timer(void **state)
{
	(void)state;
	tick_at(1000000, &in_user);
	assert_int_equal(take_all(0).samples, 0);
	assert_in_range(fake_port.timer[0], 1000000 + PERIOD, 1000000 + 2 * PERIOD - 1);
	tick_at(fake_port.timer[0] - 1, &in_user);
	assert_int_equal(take_all(0).samples, 0);
	tick_at(fake_port.timer[0], &in_user);
	assert_int_equal(take_all(0).samples, 1);
	assert_in_range(fake_port.timer[0], 1000000 + 2 * PERIOD, 1000000 + 3 * PERIOD - 1);
}

static void off_is_off(void **state)
{
	(void)state;
	ktop->wanted = KTOP_NONE;
	ktop_drain(ktop);
	fake_port.timer[0] = 0;
	for (int i = 0; i < 100; i++)
		tick_at(fake_port.clock + PERIOD, &in_user);
	assert_int_equal(take_all(0).samples, 0);
	assert_int_equal(fake_port.timer[0], 0);
	assert_int_equal(ktop_ring(&ktop->cpu[0], KTOP_SAMPLES)->committed, 0);
}

static void weights_sum_to_the_time_that_went_by(void **state)
{
	unsigned seed = 3;
	uint64_t begin = fake_port.clock, now = begin, due;
	struct sums sums;

	(void)state;
	print_message("seed %u\n", seed);
	tick_at(begin, &in_user);
	for (int i = 0; i < 3000; i++)
		tick_at(now += (uint64_t)rand_r(&seed) % (7 * PERIOD), &in_user);
	now = begin + ((now - begin) / PERIOD + 1) * PERIOD;
	while (fake_port.timer[0] < now + PERIOD)
		tick_at(now + PERIOD - 1, &in_user);
	due = (now - begin) / PERIOD;
	sums = take_all(0);
	assert_int_equal(sums.weight, due);
	assert_int_equal(sums.missed, 0);
	assert_true(sums.heaviest > 4 && sums.samples < due);
}

static void a_long_gap_is_charged_to_nobody(void **state)
{
	struct sums sums;
	uint64_t next;

	(void)state;
	tick_at(1000000, &in_user);
	next = 1000000 + PERIOD;
	tick_at(next + 8 * PERIOD - 1, &in_user);	/* 8 periods */
	sums = take_all(0);
	assert_int_equal(sums.weight, 8);
	assert_int_equal(sums.missed, 0);
	next += 8 * PERIOD;
	tick_at(next + 9 * PERIOD - 1, &in_user);	/* 9 */
	sums = take_all(0);
	assert_int_equal(sums.samples, 1);
	assert_int_equal(sums.weight, 1);
	assert_int_equal(sums.missed, 8);
	tick_at(fake_port.timer[0], &in_user);
	assert_int_equal(take_all(0).missed, 0);	/* a gap is reported once */
}

static void a_gap_is_lost_with_its_sample(void **state)
{
	struct ktop_ring *ring;
	uint64_t lost;

	(void)state;
	boot(KTOP_RING_MIN);
	ring = ktop_ring(&ktop->cpu[0], KTOP_SAMPLES);
	tick_at(1000000, &in_user);
	while (ktop_ring_lost(ring) == 0)
		tick_at(fake_port.timer[0], &in_user);
	lost = ktop_ring_lost(ring);
	tick_at(fake_port.clock + 100 * PERIOD, &in_user);
	assert_int_equal(ktop_ring_lost(ring), lost + 1);
	assert_int_equal(take_all(0).missed, 0);
	tick_at(fake_port.timer[0], &in_user);
	assert_int_equal(take_all(0).missed, 0);
	tick_at(fake_port.clock + 100 * PERIOD, &in_user);
	assert_in_range(take_all(0).missed, 98, 100);
}

static void a_cpu_that_is_off_takes_nothing_and_misses_nothing(void **state)
{
	struct sums sums;

	(void)state;
	tick_at(1000000, &in_user);
	ktop->cpu[0].generation = 0;
	tick_at(1000000 + 5 * PERIOD, &in_user);
	ktop->cpu[0].generation = ++ktop->generation;
	tick_at(1000000 + 500 * PERIOD, &in_user);
	tick_at(fake_port.timer[0], &in_user);
	sums = take_all(0);
	assert_int_equal(sums.samples, 1);
	assert_int_equal(sums.weight, 1);
	assert_int_equal(sums.missed, 0);
}

static struct sums sample(const struct ktop_regs *regs)
{
	ktop->cpu[0].generation = ++ktop->generation;
	ktop_tick(ktop, regs);
	tick_at(fake_port.timer[0], regs);
	return take_all(0);
}

static void modes(void **state)
{
	struct ktop_regs in_kernel = { .pc = 0x1100, .sp = (uintptr_t)stack };

	(void)state;
	assert_int_equal(sample(&in_kernel).last.mode, KTOP_MODE_KERNEL);
	assert_int_equal(sample(&in_user).last.mode, KTOP_MODE_USER);
	fake_port.current[0].idle = true;
	assert_int_equal(sample(&in_kernel).last.mode, KTOP_MODE_IDLE);
	assert_int_equal(sample(&in_user).last.mode, KTOP_MODE_USER);
}

/* The port tells where in the kernel the code was; a port that does not know sends no flag. */
static void the_context_is_the_ports(void **state)
{
	static const uint8_t contexts[] = { 0, KTOP_TASK, KTOP_SOFTIRQ, KTOP_IRQ };
	struct ktop_regs in_kernel = { .pc = 0x1100, .sp = (uintptr_t)stack };

	(void)state;
	for (size_t i = 0; i < sizeof(contexts); i++) {
		fake_port.current[0].context = contexts[i];
		assert_int_equal(sample(&in_kernel).last.flags & (KTOP_TASK | KTOP_SOFTIRQ | KTOP_IRQ), contexts[i]);
	}
}

static uint16_t count_at(const struct sums *sums, uint32_t offset)
{
	uint16_t count;

	memcpy(&count, sums->payload + offset, sizeof(count));
	return count;
}

static uint64_t address_at(const struct sums *sums, uint32_t offset)
{
	uint64_t address;

	memcpy(&address, sums->payload + offset, sizeof(address));
	return address;
}

static void a_sample_is_laid_out_as_the_wire_says(void **state)
{
	enum { KERNEL = sizeof(struct ktop_wire_sample), USER = KERNEL + 2 + 8 * 2 };
	struct ktop_regs regs = {
		.pc = 0x1100,
		.sp = (uintptr_t)stack,
		.fp = (uintptr_t)(stack + 2),
	};
	struct sums sums;

	(void)state;
	stack[2] = 0;
	stack[3] = 0x1200;
	fake_port.current[0].process = 7;
	fake_port.current[0].thread = 9;
	fake_port.current[0].user_valid = true;
	fake_port.current[0].user_pc = 0x400500;
	sums = sample(&regs);
	assert_int_equal(sums.last.process, 7);
	assert_int_equal(sums.last.thread, 9);
	assert_int_equal(sums.last.exact, 1);
	assert_int_equal(sums.size, USER + 2 + 8);
	assert_int_equal(count_at(&sums, KERNEL), 2);
	assert_int_equal(address_at(&sums, KERNEL + 2), 0x1100);
	assert_int_equal(address_at(&sums, KERNEL + 10), 0x1200);
	assert_int_equal(count_at(&sums, USER), 1);
	assert_int_equal(address_at(&sums, USER + 2), 0x400500);
	sums = sample(&in_user);
	assert_int_equal(count_at(&sums, KERNEL), 0);
	assert_int_equal(count_at(&sums, KERNEL + 2), 1);
	assert_int_equal(address_at(&sums, KERNEL + 4), 0x400000);
	assert_int_equal(sums.last.flags, KTOP_USER_EXACT);
	assert_int_equal(sums.last.exact, 0);
}

static void cost_is_the_time_between_entry_and_return(void **state)
{
	const struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_SAMPLES);

	(void)state;
	tick_at(1000000, &in_user);
	fake_port.step = 5;
	tick_at(fake_port.timer[0], &in_user);
	assert_int_equal(ring->cost, 5);
	tick_at(fake_port.timer[0], &in_user);
	assert_int_equal(ring->cost, 10);
}

/* ---- by NMI ---- */

static void the_last_cpu_is_set_aside_only_while_it_paces(void **state)
{
	(void)state;
	assert_false(ktop_set_aside(ktop, CPUS - 1));
	by_nmi();
	assert_true(ktop_set_aside(ktop, CPUS - 1));
	assert_false(ktop_set_aside(ktop, 0));
	ktop->wanted = KTOP_NONE;
	assert_false(ktop_set_aside(ktop, CPUS - 1));
}

/* Calls ktop_pace() up to the clock value `until`; each CPU answers its NMIs. */
static void pace(uint64_t until)
{
	while (fake_port.clock < until) {
		uint64_t next = ktop_pace(ktop);

		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			fake_cpu = cpu;
			for (; fake_port.nmis[cpu]; fake_port.nmis[cpu]--)
				assert_true(ktop_nmi(ktop, &in_user));
			assert_false(ktop_nmi(ktop, &in_user));	/* an unknown NMI */
		}
		fake_cpu = 0;
		assert_true(next > fake_port.clock);
		fake_port.clock = next;
	}
}

static void all_others_are_sampled_at_the_rate(void **state)
{
	(void)state;
	by_nmi();
	pace(fake_port.clock + 1000 * PERIOD);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct sums sums = take_all(cpu);

		if (cpu == CPUS - 1)
			assert_int_equal(sums.samples, 0);
		else
			assert_in_range(sums.samples, 998, 1000);
		assert_int_equal(sums.weight, sums.samples);
		assert_int_equal(sums.missed, 0);
	}
	tick_at(fake_port.clock + 10 * PERIOD, &in_user);	/* the timer takes no sample now */
	assert_int_equal(take_all(0).samples, 0);
}

static void a_cpu_that_is_off_gets_no_nmi(void **state)
{
	(void)state;
	ktop->cpu[1].enabled = false;
	by_nmi();
	pace(fake_port.clock + 100 * PERIOD);
	assert_int_equal(take_all(1).samples, 0);
	assert_true(take_all(0).samples > 90);
}

static void late_answers_carry_what_was_due(void **state)
{
	struct sums sums;

	(void)state;
	by_nmi();
	fake_port.clock = ktop_pace(ktop);
	for (int i = 0; i < 5; i++)
		fake_port.clock = ktop_pace(ktop);
	assert_int_equal(fake_port.nmis[1], 1);		/* one NMI at a time */
	fake_cpu = 1;
	assert_true(ktop_nmi(ktop, &in_user));
	assert_false(ktop_nmi(ktop, &in_user));
	sums = take_all(1);
	assert_int_equal(sums.samples, 1);
	assert_int_equal(sums.weight, 5);
	for (int i = 0; i < 20; i++)
		fake_port.clock = ktop_pace(ktop);
	assert_true(ktop_nmi(ktop, &in_user));
	sums = take_all(1);
	assert_int_equal(sums.weight, 1);
	assert_int_equal(sums.missed, 19);
}

static void a_lost_nmi_is_sent_again(void **state)
{
	(void)state;
	by_nmi();
	for (int i = 0; i < 6; i++)
		fake_port.clock = ktop_pace(ktop);
	assert_int_equal(fake_port.nmis[1], 1);
	for (int i = 0; i < 6; i++)
		fake_port.clock = ktop_pace(ktop);
	assert_int_equal(fake_port.nmis[1], 2);		/* no second NMI in each round */
	fake_cpu = 1;
	assert_true(ktop_nmi(ktop, &in_user));
}

static void an_nmi_after_the_stop_is_ours_but_takes_nothing(void **state)
{
	(void)state;
	by_nmi();
	fake_port.clock = ktop_pace(ktop);
	ktop_pace(ktop);
	ktop->wanted = KTOP_NONE;
	ktop_drain(ktop);
	fake_cpu = 1;
	assert_true(ktop_nmi(ktop, &in_user));
	assert_int_equal(take_all(1).samples, 0);
	assert_int_equal(ktop_pace(ktop), fake_port.clock + PERIOD);
}

static void what_was_open_at_the_stop_is_not_due_at_the_next_start(void **state)
{
	(void)state;
	by_nmi();
	for (int i = 0; i < 6; i++)
		fake_port.clock = ktop_pace(ktop);	/* the CPU does not answer */
	ktop->wanted = KTOP_NONE;
	ktop_drain(ktop);
	by_nmi();
	fake_port.nmis[0] = 0;
	memset(fake_port.nmis, 0, sizeof(fake_port.nmis));
	fake_port.clock = ktop_pace(ktop);
	ktop_pace(ktop);
	fake_cpu = 1;
	assert_true(ktop_nmi(ktop, &in_user));
	assert_int_equal(take_all(1).weight, 1);
}

static void switch_to_nmi(void)
{
	ktop->wanted = KTOP_NMI;
	ktop_drain(ktop);
}

static void a_sample_overtaken_by_a_switch_is_discarded(void **state)
{
	const struct ktop_ring *ring = ktop_ring(&ktop->cpu[0], KTOP_SAMPLES);

	(void)state;
	tick_at(1000000, &in_user);
	fake_port.at_clock = switch_to_nmi;
	tick_at(fake_port.timer[0], &in_user);
	assert_int_equal(ktop->sampler, KTOP_NMI);
	assert_int_equal(take_all(0).samples, 0);
	assert_int_equal(ring->committed + ktop_ring_lost(ring), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_tick_arms_the_timer),
		TEST(off_is_off),
		TEST(weights_sum_to_the_time_that_went_by),
		TEST(a_long_gap_is_charged_to_nobody),
		TEST(a_gap_is_lost_with_its_sample),
		TEST(a_cpu_that_is_off_takes_nothing_and_misses_nothing),
		TEST(modes),
		TEST(the_context_is_the_ports),
		TEST(a_sample_is_laid_out_as_the_wire_says),
		TEST(cost_is_the_time_between_entry_and_return),
		TEST(the_last_cpu_is_set_aside_only_while_it_paces),
		TEST(all_others_are_sampled_at_the_rate),
		TEST(a_cpu_that_is_off_gets_no_nmi),
		TEST(late_answers_carry_what_was_due),
		TEST(a_lost_nmi_is_sent_again),
		TEST(an_nmi_after_the_stop_is_ours_but_takes_nothing),
		TEST(what_was_open_at_the_stop_is_not_due_at_the_next_start),
		TEST(a_sample_overtaken_by_a_switch_is_discarded),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
