/* SPDX-License-Identifier: MIT */
/*
 * The whole hook at once, as real threads: CPUs that trace, tick, take NMIs and pace; one thread that gives names; the
 * drainer, with a host that sends control lines, reads late, disconnects and connects. ThreadSanitizer watches, and
 * the books must balance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/trace.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_smp.h"
#include "tests/unit/fakes/quick.h"
#include "tests/unit/fakes/random.h"

enum { ROUNDS = 5000, NAMES = 64, HZ = 1000000, RATE = 10000, PACER = SMP_CPUS - 1 };

static const struct ktop_regs in_user = { .pc = 0x400000, .fp = 0x700000, .user = true };
static struct ktop *ktop;
static struct fake_host *host;
static struct random random_choice;
static uint64_t traced[SMP_CPUS];	/* calls of trace points */
static char given[NAMES], told[NAMES];	/* names given to the hook and received: each is one letter, repeated */

/* ---- the CPUs ---- */

static void trace(uint32_t cpu, uint32_t round)
{
	ktop_trace_syscall_enter(ktop, 100 + cpu, round, 1, 2, 3, 4, 5, 6);
	ktop_trace_syscall_exit(ktop, 100 + cpu, round, 7 * (uint64_t)round);
	__atomic_fetch_add(&traced[cpu], 2, __ATOMIC_RELAXED);
}

static void tick(uint32_t cpu)
{
	ktop_trace_irq_enter(ktop, cpu);
	ktop_tick(ktop, &in_user);
	ktop_trace_irq_exit(ktop, cpu);
	__atomic_fetch_add(&traced[cpu], 2, __ATOMIC_RELAXED);
}

static void nmi(uint32_t cpu)
{
	(void)cpu;
	ktop_nmi(ktop, &in_user);
}

static void give_name(uint32_t thread, uint32_t round)
{
	char name[KTOP_NAME_MAX + 1] = { 0 };

	given[thread] = (char)('a' + round % 26);
	memset(name, given[thread], 1 + round % KTOP_NAME_MAX);
	ktop_thread(ktop, thread, thread / 2, name);
	ktop_process(ktop, thread / 2, name);
	if (round % 8 == 0)
		ktop_process_exit(ktop, thread / 2);
}

/* CPU 0 has the keyboard and gives the names, as one kernel thread would. */
static void work(uint32_t cpu)
{
	for (uint32_t round = 0; round < quick_part(ROUNDS, 4); round++) {
		trace(cpu, round);
		smp_interrupt((cpu + round) % SMP_CPUS);
		if (ktop_set_aside(ktop, cpu))
			ktop_pace(ktop);
		if (cpu != 0)
			continue;
		give_name(round * 7 % NAMES, round);
		ktop_serio(ktop, 0, (uint8_t)round);
	}
}

static const struct smp machine = { .work = work, .tick = tick, .nmi = nmi };

/* ---- the host ---- */

static void check_sample(const struct fake_event *event)
{
	struct ktop_wire_sample sample;

	memcpy(&sample, event->payload, sizeof(sample));
	assert_int_equal(sample.process, event->cpu);
	assert_int_equal(sample.thread, 100 + event->cpu);
	assert_int_equal(sample.mode, KTOP_MODE_USER);
	assert_in_range(sample.weight, 1, KTOP_GAP);
	assert_int_equal(event->size, sizeof(sample) + 2 + 2 + 2 * 8);
}

static void check_syscall(const struct fake_event *event)
{
	struct ktop_wire_syscall_exit exit;

	memcpy(&exit, event->payload, sizeof(exit));
	assert_int_equal(exit.thread, 100 + event->cpu);
	assert_int_equal(exit.result, 7 * (uint64_t)exit.number);
}

static void check_name(const struct fake_event *event)
{
	const char *name = fake_text(event, sizeof(struct ktop_wire_thread), 0);
	struct ktop_wire_thread thread;

	memcpy(&thread, event->payload, sizeof(thread));
	assert_true(thread.thread < NAMES && thread.process == thread.thread / 2);
	assert_int_equal(strspn(name, (char[]) { name[0], 0 }), strlen(name));
	told[thread.thread] = name[0];
}

static void check(const struct fake_event *event)
{
	if (event->id == KTOP_EVENT_sample)
		check_sample(event);
	else if (event->id == KTOP_EVENT_syscall_exit)
		check_syscall(event);
	else if (event->id == KTOP_EVENT_thread)
		check_name(event);
}

static bool drain(void)
{
	bool more = ktop_drain(ktop);

	for (uint32_t i = 0; i < host->count; i++)
		check(&host->events[i]);
	fake_host_forget(host);
	return more;
}

static void drain_quietly(void)
{
	drain();
}

/* Sends another line each time. It is connected, and reads, at random. */
static void drain_with_changes(void)
{
	static const char *const lines[] = {
		"start\n", "start\n", "stop\n", "sampler nmi\n", "sampler timer\n", "rate 5000\n",
		"rate 20000\n", "cpu 1 off\n", "cpu all on\n", "events +all\n", "events -irq\n",
		"keys plain\n", "keys chord\n", "status\n", "hello\n", "",
	};
	uint32_t choice = (uint32_t)random_below(&random_choice, 64);

	if (*host->input == 0)
		host->input = lines[choice % (sizeof(lines) / sizeof(*lines))];
	host->free = choice % 4 ? UINT32_MAX : choice / 4 % 3;
	host->deaf = choice == 3;
	host->connected = choice != 2;
	if (choice == 1)
		fake_host_connect(host);
	drain();
}

/* ---- the books ---- */

static void boot(bool nmi_mode)
{
	struct ktop_facts facts = { .cpus = SMP_CPUS, .boot_id = { 0xb0 }, .clock_hz = HZ };
	struct ktop_settings settings = {
		.rate = RATE,
		.ring_size = KTOP_RING_MIN,
		.start = true,
		.nmi = nmi_mode,
	};
	size_t size = ktop_memory_size(SMP_CPUS, &settings);

	ktop = ktop_init(&facts, &settings, &host->transport, aligned_alloc(64, size), size);
	assert_non_null(ktop);
	ktop->control.events[1] = ktop->trace[1] = 0xff;
	ktop->control.event_words = 2;
}

static int set_up(void **state)
{
	(void)state;
	host = fake_host_new();
	random_choice.state = 3;
	memset(traced, 0, sizeof(traced));
	memset(told, 0, sizeof(told));
	fake_host_connect(host);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(ktop);
	fake_host_free(host);
	return 0;
}

/* Drains all that is left. */
static void finish(void)
{
	host->connected = true;
	host->deaf = false;
	host->free = UINT32_MAX;
	while (*host->input)
		drain();
	host->input = "stop\n";
	for (int i = 0; i < 3; i++) {
		smp_advance(HZ);
		while (drain())
			;
	}
}

static void the_books_balance(void)
{
	for (uint32_t cpu = 0; cpu < SMP_CPUS; cpu++)
		for (uint32_t stream = KTOP_SAMPLES; stream < KTOP_STREAMS; stream++) {
			const struct fake_books *books = &host->books[stream][cpu];

			assert_int_equal(ktop_taken(ktop, cpu, stream), books->sent + books->discarded);
			assert_true(books->received <= books->sent);
			assert_int_equal(ktop_ring(&ktop->cpu[cpu], stream)->nested, 0);
		}
}

static void the_last_names_are_told(void)
{
	for (uint32_t i = 0; i < NAMES; i++)
		assert_int_equal(told[i], given[i]);
}

static void undisturbed(bool nmi_mode)
{
	boot(nmi_mode);
	smp_start(&machine);
	smp_join(drain_quietly);
	finish();
	the_books_balance();
	the_last_names_are_told();
	for (uint32_t cpu = 0; cpu < SMP_CPUS; cpu++) {
		assert_int_equal(ktop_taken(ktop, cpu, KTOP_TRACE), traced[cpu]);
		assert_int_equal(host->books[KTOP_TRACE][cpu].received + ktop_lost(ktop, cpu, KTOP_TRACE),
			traced[cpu]);
	}
}

static void each_event_is_received_or_lost_by_timer(void **state)
{
	(void)state;
	undisturbed(false);
	assert_true(host->books[KTOP_SAMPLES][0].received > 0);
}

static void each_event_is_received_or_lost_by_nmi(void **state)
{
	(void)state;
	undisturbed(true);
	assert_true(host->books[KTOP_SAMPLES][0].received > 0);
	assert_int_equal(ktop_taken(ktop, PACER, KTOP_SAMPLES), 0);
}

static void the_books_balance_whatever_is_changed(void **state)
{
	(void)state;
	boot(false);
	smp_start(&machine);
	smp_join(drain_with_changes);
	finish();
	the_books_balance();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_event_is_received_or_lost_by_timer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_event_is_received_or_lost_by_nmi, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_books_balance_whatever_is_changed, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("hook_threads", tests, NULL, NULL);
}
