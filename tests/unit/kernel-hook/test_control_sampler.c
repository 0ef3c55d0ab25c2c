/* SPDX-License-Identifier: MIT */
/* The sampler that control lines choose, and what a kernel gets that cannot have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/hook.h"
#include "kernel-hook/ktop.h"
#include "kernel-hook/wire.h"
#include "tests/unit/fakes/fake_host.h"
#include "tests/unit/fakes/fake_port.h"
#include "control_lines.h"

static const char *note(void)
{
	return fake_text(fake_host_last(host, KTOP_EVENT_status), sizeof(struct ktop_wire_status), 0);
}

static void nmi_needs_two_cpus(void **state)
{
	const char *why = "nmi needs two CPUs: one is set aside to send them";

	(void)state;
	boot(1);
	done("start\n", "started");
	refused("sampler nmi\n", why);
	assert_int_equal(status().sampler, KTOP_TIMER);
	assert_int_equal(ktop->sampler, KTOP_TIMER);	/* the timer goes on */
	assert_string_equal(note(), "");		/* the reply has said why: no note follows */
	done("sampler timer\n", "sampler timer");
	assert_string_equal(note(), "");
}

static void boot_by_nmi(uint32_t cpus)
{
	struct ktop_settings settings = { .nmi = true };
	struct ktop_facts facts = { .cpus = cpus, .boot_id = { 0xb0 } };
	size_t size = ktop_memory_size(cpus, &settings);

	free(ktop);
	ktop = ktop_init(&facts, &settings, &host->transport, aligned_alloc(64, size), size);
	assert_non_null(ktop);
	done("start\n", "started");
}

/* It traces, and takes samples once a sampler is chosen. */
static void a_kernel_that_says_none_takes_no_samples(void **state)
{
	struct ktop_settings settings = { .no_sampler = true, .start = true };
	struct ktop_facts facts = { .cpus = CPUS, .boot_id = { 0xb0 } };
	size_t size = ktop_memory_size(CPUS, &settings);

	(void)state;
	free(ktop);
	ktop = ktop_init(&facts, &settings, &host->transport, aligned_alloc(64, size), size);
	assert_non_null(ktop);
	done("hello\n", "hello");
	assert_int_equal(status().sampler, KTOP_NONE);
	assert_true(status().running);
	assert_int_equal(ktop->sampler, KTOP_NONE);
	assert_string_equal(note(), "");
	done("sampler timer\n", "sampler timer");
	assert_int_equal(ktop->sampler, KTOP_TIMER);
}

static void a_kernel_that_says_nmi_is_not_tried(void **state)
{
	(void)state;
	boot_by_nmi(CPUS);
	done("sampler nmi\n", "sampler nmi");			/* the CPU that is set aside sends them now */
	assert_int_equal(ktop->cpu[0].sent, 0);
	assert_int_equal(fake_port.nmis[0], 0);
}

static void falls_back(const char *why)
{
	assert_int_equal(status().running, 1);
	assert_int_equal(status().sampler, KTOP_TIMER);
	assert_int_equal(ktop->sampler, KTOP_TIMER);
	assert_string_equal(note(), why);
}

static void a_kernel_that_says_nmi_and_has_one_cpu_goes_by_timer(void **state)
{
	(void)state;
	boot_by_nmi(1);
	falls_back("nmi needs two CPUs: one is set aside to send them");
}

static void a_kernel_that_says_nmi_and_cannot_send_them_goes_by_timer(void **state)
{
	struct ktop_regs regs = { 0 };

	(void)state;
	boot_by_nmi(CPUS);
	assert_string_equal(note(), "");
	fake_port.nmi_refused = true;
	fake_port.clock = ktop_pace(ktop);
	fake_port.clock = ktop_pace(ktop);
	settle();
	falls_back("nmi: this kernel or machine cannot send them");
	assert_false(ktop_set_aside(ktop, CPUS - 1));
	assert_false(ktop_nmi(ktop, &regs));		/* no NMI of the hook's is unanswered */
	refused("sampler nmi\n", "nmi: this kernel or machine cannot send them");
	fake_port.nmi_refused = false;
	done("sampler nmi\n", "sampler nmi");
	assert_string_equal(note(), "");
}

static void nmi_needs_a_kernel_that_sends_them(void **state)
{
	struct ktop_regs regs = { 0 };

	(void)state;
	fake_port.nmi_refused = true;
	refused("sampler nmi\n", "nmi: this kernel or machine cannot send them");
	assert_int_equal(status().sampler, KTOP_TIMER);
	assert_int_equal(status().sampler_cpu, KTOP_NO_CPU);
	assert_false(ktop_nmi(ktop, &regs));		/* no NMI of the hook's is unanswered */
	fake_port.nmi_refused = false;
	done("sampler nmi\n", "sampler nmi");
	assert_int_equal(status().sampler, KTOP_NMI);
	assert_int_equal(status().sampler_cpu, CPUS - 1);
	assert_int_equal(fake_port.nmis[0], 1);
	assert_true(ktop_nmi(ktop, &regs));		/* the NMI sent to try is the hook's, and takes no sample */
	assert_false(ktop_nmi(ktop, &regs));
	refused("sampler loud\n", "no sampler loud");
}

static void the_earlier_word_is_taken(void **state)
{
	(void)state;
	done("mode nmi\n", "sampler nmi");
	assert_int_equal(status().sampler, KTOP_NMI);
	done("mode timer\n", "sampler timer");
	assert_int_equal(status().sampler, KTOP_TIMER);
	refused("mode loud\n", "no sampler loud");
}

static void a_change_of_sampler_waits_for_a_sample_in_progress(void **state)
{
	struct ktop_ring *ring = ktop_ring(&ktop->cpu[1], KTOP_SAMPLES);

	(void)state;
	done("start\n", "started");
	assert_true(ktop_ring_enter(ring));
	done("sampler nmi\n", "sampler nmi");
	assert_int_equal(ktop->sampler, KTOP_NONE);
	assert_true(ktop_running(ktop));
	ktop_drain(ktop);
	assert_int_equal(ktop->sampler, KTOP_NONE);
	ktop_ring_leave(ring);
	ktop_drain(ktop);
	assert_int_equal(ktop->sampler, KTOP_NMI);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nmi_needs_two_cpus),
		TEST(a_kernel_that_says_none_takes_no_samples),
		TEST(a_kernel_that_says_nmi_is_not_tried),
		TEST(a_kernel_that_says_nmi_and_has_one_cpu_goes_by_timer),
		TEST(a_kernel_that_says_nmi_and_cannot_send_them_goes_by_timer),
		TEST(nmi_needs_a_kernel_that_sends_them),
		TEST(the_earlier_word_is_taken),
		TEST(a_change_of_sampler_waits_for_a_sample_in_progress),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
