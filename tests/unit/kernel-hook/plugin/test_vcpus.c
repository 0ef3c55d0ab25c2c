/* SPDX-License-Identifier: MIT */
/*
 * Which CPUs are called, while QEMU plugs them in and takes them away. The QEMU is a fake: this thread is that of all
 * its CPUs, and its main thread, too. CPUs are freed when they are taken away.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel-hook/plugin/machine/clock.h"
#include "kernel-hook/plugin/machine/qemu.h"
#include "kernel-hook/plugin/vcpus.h"

enum { CPUS = 4 };

/* ---- the fake QEMU ---- */

struct qemu_cpu {
	uint32_t asks;			/* how often it was asked for work, so far */
	qemu_work *work;		/* NULL: none */
	union qemu_work_data data;
};

static struct {
	pthread_mutex_t lock;		/* of all below but `unlocked` and `calls` */
	struct qemu_cpu *cpus[CPUS];
	unsigned unlocked;		/* how often the list of CPUs was walked without QEMU's lock */
	unsigned calls[CPUS];
} fake = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local bool has_lock;	/* QEMU's own */

/* It stands still: what a CPU is asked for is due, or never is. */
static int64_t clock_get_ns(int clock)
{
	(void)clock;
	return CLOCK_NS_PER_SECOND;
}

static struct qemu_cpu *get_cpu(int index)
{
	struct qemu_cpu *cpu;

	if (!has_lock)
		__atomic_add_fetch(&fake.unlocked, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&fake.lock);
	cpu = fake.cpus[index];
	pthread_mutex_unlock(&fake.lock);
	return cpu;
}

/* QEMU would queue it. */
static void async_run_on_cpu(struct qemu_cpu *cpu, qemu_work *work, union qemu_work_data data)
{
	pthread_mutex_lock(&fake.lock);
	cpu->asks++;
	cpu->work = work;
	cpu->data = data;
	pthread_mutex_unlock(&fake.lock);
}

/* What is behind the end frees what the thread uses: here it is awaited without an end. */
void __wrap_thread_join(pthread_t thread);
void __wrap_thread_join(pthread_t thread)
{
	pthread_join(thread, NULL);
}

static const struct qemu qemu = {
	.clock_get_ns = clock_get_ns, .get_cpu = get_cpu, .async_run_on_cpu = async_run_on_cpu,
};
static struct vcpus *vcpus;

static void call(struct qemu_cpu *cpu, uint32_t index)
{
	assert_ptr_equal(cpu, fake.cpus[index]);
	fake.calls[index]++;
}

static struct qemu_cpu *plug(uint32_t index)
{
	struct qemu_cpu *cpu = calloc(1, sizeof(*cpu));

	pthread_mutex_lock(&fake.lock);
	fake.cpus[index] = cpu;
	pthread_mutex_unlock(&fake.lock);
	vcpus_add(vcpus, index);
	return cpu;
}

static void unplug(uint32_t index)
{
	vcpus_remove(vcpus, index);
	pthread_mutex_lock(&fake.lock);
	free(fake.cpus[index]);
	fake.cpus[index] = NULL;
	pthread_mutex_unlock(&fake.lock);
}

/* Does the work that the CPU was asked for, if any, with QEMU's lock held. */
static void run_cpu(uint32_t index)
{
	struct qemu_cpu *cpu = fake.cpus[index];
	qemu_work *work;

	pthread_mutex_lock(&fake.lock);
	work = cpu->work;
	cpu->work = NULL;
	pthread_mutex_unlock(&fake.lock);
	has_lock = true;
	if (work)
		work(cpu, cpu->data);
	has_lock = false;
}

/* Has the CPU called, once more. */
static void call_once(uint32_t index)
{
	unsigned before = fake.calls[index];

	vcpus_call_at(vcpus, index, 0);
	vcpus_wake(vcpus);
	while (fake.calls[index] == before) {
		run_cpu(index);
		usleep(1000);
	}
	assert_int_equal(fake.calls[index], before + 1);
}

static uint32_t asks(uint32_t index)
{
	uint32_t asks;

	pthread_mutex_lock(&fake.lock);
	asks = fake.cpus[index]->asks;
	pthread_mutex_unlock(&fake.lock);
	return asks;
}

/* ---- the tests ---- */

static int begin(void **state)
{
	(void)state;
	vcpus = vcpus_prepare(&qemu, CPUS, call);
	if (vcpus == NULL)
		return -1;
	plug(1);
	return vcpus_begin(vcpus, plug(0)) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	vcpus_end(vcpus);
	for (uint32_t i = 0; i < CPUS; i++) {
		free(fake.cpus[i]);
		fake.cpus[i] = NULL;
	}
	free(vcpus);
	return 0;
}

static void a_cpu_is_called_once_a_call_of_another_has_found_it(void **state)
{
	(void)state;
	vcpus_call_at(vcpus, 1, 0);
	vcpus_wake(vcpus);
	assert_int_equal(asks(1), 0);
	run_cpu(0);			/* the first work, by which CPUs are found */
	call_once(0);
	call_once(1);
	plug(2);
	vcpus_call_at(vcpus, 2, 0);
	vcpus_wake(vcpus);
	assert_int_equal(asks(2), 0);
	call_once(0);
	call_once(2);
}

static void a_cpu_that_goes_is_not_touched_any_more(void **state)
{
	(void)state;
	run_cpu(0);
	for (uint32_t i = 0; i < 20; i++) {
		plug(2);
		call_once(0);
		call_once(2);
		vcpus_call_at(vcpus, 2, 0);	/* one is under way, or will soon be, when the CPU goes */
		vcpus_wake(vcpus);
		unplug(2);
		call_once(1);
	}
}

/* QEMU changes its list of CPUs, and frees them, with its lock held. */
static void the_list_of_cpus_is_walked_with_qemus_lock_alone(void **state)
{
	(void)state;
	run_cpu(0);
	call_once(0);
	call_once(1);
	assert_int_equal(__atomic_load_n(&fake.unlocked, __ATOMIC_RELAXED), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cpu_is_called_once_a_call_of_another_has_found_it, begin, end),
		cmocka_unit_test_setup_teardown(a_cpu_that_goes_is_not_touched_any_more, begin, end),
		cmocka_unit_test_setup_teardown(the_list_of_cpus_is_walked_with_qemus_lock_alone, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
