/* SPDX-License-Identifier: MIT */
/* The barriers of samplers and trace points, between a CPU, the CPU that is set aside, and the drainer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/sampler.h"
#include "kernel-hook/trace.h"
#include "tests/unit/fakes/fake_port.h"
#include "tests/unit/fakes/weak/scenario.h"

enum { HZ = 1000000, RATE = 1000, PERIOD = HZ / RATE, LONG = 100 * PERIOD };

static struct ktop *ktop;
static struct ktop_cpu *cpu;
static _Alignas(64) uint8_t memory[1 << 21];
static const struct ktop_regs in_user = { .pc = 0x400000, .fp = 0x700000, .user = true };

static void boot(bool nmi)
{
	struct ktop_settings settings = {
		.rate = RATE,
		.ring_size = KTOP_RING_MIN,
		.start = true,
		.nmi = nmi,
	};
	struct ktop_facts facts = { .cpus = 2, .clock_hz = HZ };

	fake_port_reset();
	ktop = ktop_init(&facts, &settings, NULL, memory, sizeof(memory));
	assert_non_null(ktop);
	cpu = &ktop->cpu[0];
}

/* The newest value in the weak memory, which not every thread may see yet. */
static __attribute__((no_sanitize("thread"))) uint32_t newest(const uint32_t *value)
{
	return *value;
}

static void tick(void)
{
	fake_port.clock += PERIOD;
	ktop_tick(ktop, &in_user);
}

static void nmi(void)
{
	ktop_nmi(ktop, &in_user);
}

static void pace(void)
{
	fake_port.clock += PERIOD;
	ktop_pace(ktop);
}

#define FOUR_TIMES(name, call) static void name(void) { call; call; call; call; }
FOUR_TIMES(ticks, tick())
FOUR_TIMES(paces, pace())
FOUR_TIMES(settles, ktop_sampler_settle(ktop))

static void nmis(void)
{
	for (int i = 0; i < 50; i++)
		nmi();
}

#define HOOK .memory = memory, .size = sizeof(memory)

static void no_other_sampler_is_in_force(void)
{
	if (newest(&ktop->sampler) == KTOP_NMI)
		scenario_wrong("the next sampler is in force while a sample of the last is written");
}

static void switch_set_up(void)
{
	boot(false);
	tick();
	tick();
	ktop->wanted = KTOP_NMI;
	fake_port.at_user_read = no_other_sampler_is_in_force;
}

static void pair_3_a_sampler_is_in_force_after_the_last_sample_of_another(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { HOOK, .set_up = switch_set_up, .threads = {
		{ .run = ticks }, { .run = settles },
	} });
}

static uint64_t last;		/* events taken when it was switched off and its ring was not busy */

static void trace(void)
{
	ktop_trace_irq_enter(ktop, 1);
}

FOUR_TIMES(traces, trace())

/* The ring has room for two events. */
static void trace_set_up(void)
{
	boot(false);
	ktop->control.events[1] = ktop->trace[1] = 0xff;
	ktop->control.event_words = 2;
	last = 0;
	while (KTOP_RING_MIN - ktop_ring(cpu, KTOP_TRACE)->head > 2 * 24)
		trace();
}

static void look_at_counts(void)
{
	if (last == 0 && !ktop_ring_busy(ktop_ring(cpu, KTOP_TRACE)))
		last = ktop_taken(ktop, 0, KTOP_TRACE);
}

static void trace_off(void)
{
	ktop_sampler_run(ktop, false);
	for (int i = 0; i < 4; i++)
		look_at_counts();
}

static void the_counts_were_the_last(void)
{
	if (last && last != ktop_taken(ktop, 0, KTOP_TRACE))
		scenario_wrong("events are counted after the last");
}

static void pair_3_an_event_is_counted_before_its_stream_is_said_to_be_off(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		HOOK, .set_up = trace_set_up, .look = the_counts_were_the_last, .threads = {
			{ .run = traces }, { .run = trace_off },
		} });
}

/* Profiling was on, then off for long, and is about to be switched on. */
static void on_set_up(bool by_nmi)
{
	boot(by_nmi);
	for (int i = 0; i < 3; i++)
		by_nmi ? pace() : tick();
	ktop_sampler_run(ktop, false);
	ktop_sampler_settle(ktop);
	fake_port.clock += LONG;
	ktop_sampler_run(ktop, true);
}

static void timer_on_set_up(void)
{
	on_set_up(false);
}

static void nmi_on_set_up(void)
{
	on_set_up(true);
}

static void nothing_is_missed(void)
{
	struct ktop_ring *ring = ktop_ring(cpu, KTOP_SAMPLES);
	const struct ktop_record *record;

	while ((record = ktop_ring_first(ring, ktop_ring_head(ring)))) {
		if (record->id != KTOP_EVENT_sample)
			scenario_wrong("a gap is reported");
		ktop_ring_drop(ring, record);
	}
	if (cpu->missed)
		scenario_wrong("a gap will be reported");
}

static void pair_4_time_off_is_not_missed_by_timer(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		HOOK, .set_up = timer_on_set_up, .look = nothing_is_missed, .threads = {
			{ .run = ticks }, { .run = settles },
		} });
}

static void no_round_was_due_while_off(void)
{
	if (cpu->due >= LONG / PERIOD)
		scenario_wrong("rounds are due of the time off");
}

static void pair_4_time_off_is_not_due_by_nmi(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		HOOK, .set_up = nmi_on_set_up, .look = no_round_was_due_while_off, .threads = {
			{ .run = paces }, { .run = settles },
		} });
}

static void timer_set_up(void)
{
	boot(false);
	tick();
}

static void nmi_set_up(void)
{
	boot(true);
	pace();
}

static void new_rate(void)
{
	ktop->control.rate = 2 * RATE;
	ktop_sampler_begin(ktop);
}

static void ticks_by_the_rate(void)
{
	uint32_t first = cpu->started;

	ticks();
	if (cpu->started != first && cpu->grid.period != PERIOD / 2)
		scenario_wrong("a new generation goes by the old period");
}

static void paces_by_the_rate(void)
{
	uint32_t first = ktop->pacer_started;

	paces();
	if (ktop->pacer_started != first && ktop->pacer.period != PERIOD / 2)
		scenario_wrong("a new generation goes by the old period");
}

static void pair_4_a_new_order_has_its_period_by_timer(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { HOOK, .set_up = timer_set_up, .threads = {
		{ .run = ticks_by_the_rate }, { .run = new_rate },
	} });
}

static void pair_4_a_new_order_has_its_period_by_nmi(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) { HOOK, .set_up = nmi_set_up, .threads = {
		{ .run = paces_by_the_rate }, { .run = new_rate },
	} });
}

static void what_was_asked_is_done_when_answered(void)
{
	if (cpu->answered == cpu->sent && cpu->done < cpu->asked)
		scenario_wrong("rounds asked for were not seen");
}

static void pair_6_an_answer_has_seen_the_rounds_asked_for(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		HOOK, .set_up = nmi_set_up, .look = what_was_asked_is_done_when_answered,
		.threads = {
			{ .run = nmis }, { .run = paces },
		} });
}

static void paces_with_starts(void)
{
	for (int i = 0; i < 3; i++) {
		paces();
		__atomic_store_n(&ktop->generation, ktop->generation + 1, __ATOMIC_RELEASE);
	}
	pace();
}

static void pair_7_a_start_makes_no_more_due_than_there_was(void **state)
{
	(void)state;
	scenario_explore(&(struct scenario) {
		HOOK, .set_up = nmi_set_up, .look = nothing_is_missed, .threads = {
			{ .run = nmis }, { .run = paces_with_starts },
		} });
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pair_3_a_sampler_is_in_force_after_the_last_sample_of_another),
		cmocka_unit_test(pair_3_an_event_is_counted_before_its_stream_is_said_to_be_off),
		cmocka_unit_test(pair_4_time_off_is_not_missed_by_timer),
		cmocka_unit_test(pair_4_time_off_is_not_due_by_nmi),
		cmocka_unit_test(pair_4_a_new_order_has_its_period_by_timer),
		cmocka_unit_test(pair_4_a_new_order_has_its_period_by_nmi),
		cmocka_unit_test(pair_6_an_answer_has_seen_the_rounds_asked_for),
		cmocka_unit_test(pair_7_a_start_makes_no_more_due_than_there_was),
	};

	(void)count;
	scenario_filter(arguments);
	return cmocka_run_group_tests_name("sampler_barriers", tests, NULL, NULL);
}
