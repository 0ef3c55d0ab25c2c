/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "call.h"
#include "machine/clock.h"
#include "thread.h"
#include "vcpus.h"

/*
 * A CPU does not tell the timer that its call is over: waking the timer would cost the guest time. The timer looks
 * instead.
 */
enum {
	LOOK_AT_CALL = 100000,		/* ns until the first look at a call; twice as long until each next one */
	LOOK_DOUBLED = 8,		/* how many times it doubles */
	LOOK_AT_CLOCK = 20000000,	/* ns between two looks while the machine's clock stands still */
};

struct vcpu {
	struct vcpus *vcpus;		/* fixed */
	uint32_t index;
	/* under the lock */
	enum { VCPU_NONE, VCPU_NEW, VCPU_COMPLETE } state;
	uint32_t looks;			/* how often the timer has looked at this call, LOOK_DOUBLED at most */

	struct call call;		/* call.h says who writes what */
};

struct vcpus {
	const struct qemu *qemu;
	vcpus_call *call;
	uint32_t count;
	bool any_new;			/* atomic; a CPU is new, and not known to be complete */
	bool ended;			/* atomic; set under the lock */

	pthread_mutex_t lock;
	pthread_cond_t woken;
	bool has_thread;		/* under the lock */
	pthread_t thread;
	struct vcpu all[];
};

struct vcpus *vcpus_prepare(const struct qemu *qemu, uint32_t count, vcpus_call *call)
{
	struct vcpus *vcpus = calloc(1, sizeof(*vcpus) + count * sizeof(vcpus->all[0]));
	pthread_condattr_t monotonic;

	if (vcpus == NULL)
		return NULL;
	vcpus->qemu = qemu;
	vcpus->call = call;
	vcpus->count = count;
	for (uint32_t i = 0; i < count; i++)
		vcpus->all[i] = (struct vcpu) { .vcpus = vcpus, .index = i, .call.due = CALL_NEVER };
	pthread_mutex_init(&vcpus->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&vcpus->woken, &monotonic);
	return vcpus;
}

/* ---- which CPUs there are ---- */

static void set_state(struct vcpus *vcpus, uint32_t index, int state)
{
	if (index >= vcpus->count)
		return;
	pthread_mutex_lock(&vcpus->lock);
	vcpus->all[index].state = state;
	call_end(&vcpus->all[index].call);
	if (state == VCPU_NEW)
		__atomic_store_n(&vcpus->any_new, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&vcpus->lock);
}

void vcpus_add(struct vcpus *vcpus, uint32_t index)
{
	set_state(vcpus, index, VCPU_NEW);
}

void vcpus_remove(struct vcpus *vcpus, uint32_t index)
{
	set_state(vcpus, index, VCPU_NONE);
}

/* Under the lock, while QEMU builds no CPU: each new one is complete. */
static void take_new(struct vcpus *vcpus)
{
	for (uint32_t i = 0; i < vcpus->count; i++)
		if (vcpus->all[i].state == VCPU_NEW)
			vcpus->all[i].state = VCPU_COMPLETE;
	__atomic_store_n(&vcpus->any_new, false, __ATOMIC_RELAXED);
}

/* ---- on the CPU's thread ---- */

static void work(struct qemu_cpu *cpu, union qemu_work_data data)
{
	struct vcpu *vcpu = data.pointer;
	struct vcpus *vcpus = vcpu->vcpus;

	if (__atomic_load_n(&vcpus->ended, __ATOMIC_RELAXED))
		return;
	if (__atomic_load_n(&vcpus->any_new, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&vcpus->lock);
		take_new(vcpus);
		pthread_cond_signal(&vcpus->woken);
		pthread_mutex_unlock(&vcpus->lock);
	}
	vcpus->call(cpu, vcpu->index);
	call_end(&vcpu->call);
}

/* ---- the timer's thread ---- */

static uint64_t until_next_look(struct vcpu *vcpu)
{
	uint64_t wait = (uint64_t)LOOK_AT_CALL << vcpu->looks;

	vcpu->looks += vcpu->looks < LOOK_DOUBLED;
	return wait;
}

/* Asks for the CPU's call, if its time has come. Returns in how many ns to look at the CPU again. */
static uint64_t look_at(struct vcpu *vcpu, uint64_t now)
{
	const struct qemu *qemu = vcpu->vcpus->qemu;
	struct qemu_cpu *cpu;
	uint64_t due;

	if (vcpu->state != VCPU_COMPLETE)
		return CALL_NEVER;
	if (call_is_under_way(&vcpu->call))
		return until_next_look(vcpu);
	due = call_due(&vcpu->call);
	if (due > now)
		return due == CALL_NEVER ? CALL_NEVER : due - now;
	cpu = qemu->get_cpu((int)vcpu->index);
	if (cpu == NULL)
		return CALL_NEVER;
	call_begin(&vcpu->call, due);
	qemu->async_run_on_cpu(cpu, work, (union qemu_work_data) { .pointer = vcpu });
	vcpu->looks = 0;
	return until_next_look(vcpu);
}

static uint64_t look_at_all(struct vcpus *vcpus, uint64_t now)
{
	uint64_t wait = CALL_NEVER;

	for (uint32_t i = 0; i < vcpus->count; i++) {
		uint64_t its = look_at(&vcpus->all[i], now);

		wait = its < wait ? its : wait;
	}
	return wait;
}

static void wait_for(struct vcpus *vcpus, uint64_t ns)
{
	struct timespec until;

	if (ns == CALL_NEVER) {
		pthread_cond_wait(&vcpus->woken, &vcpus->lock);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / CLOCK_NS_PER_SECOND);
	until.tv_nsec = (long)(ns % CLOCK_NS_PER_SECOND);
	pthread_cond_timedwait(&vcpus->woken, &vcpus->lock, &until);
}

static void *run(void *context)
{
	struct vcpus *vcpus = context;
	uint64_t before = 0;

	pthread_mutex_lock(&vcpus->lock);
	while (!vcpus->ended) {
		uint64_t now = clock_now(vcpus->qemu), wait = look_at_all(vcpus, now);

		if (now == before && wait < LOOK_AT_CLOCK)
			wait = LOOK_AT_CLOCK;
		before = now;
		wait_for(vcpus, wait);
	}
	pthread_mutex_unlock(&vcpus->lock);
	return NULL;
}

bool vcpus_begin(struct vcpus *vcpus)
{
	pthread_mutex_lock(&vcpus->lock);
	take_new(vcpus);
	vcpus->has_thread = vcpus->has_thread || (!vcpus->ended && thread_start(&vcpus->thread, run, vcpus));
	pthread_mutex_unlock(&vcpus->lock);
	return vcpus->has_thread;
}

void vcpus_end(struct vcpus *vcpus)
{
	bool has_thread;

	pthread_mutex_lock(&vcpus->lock);
	has_thread = vcpus->has_thread;
	vcpus->has_thread = false;
	__atomic_store_n(&vcpus->ended, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&vcpus->woken);
	pthread_mutex_unlock(&vcpus->lock);
	if (has_thread)
		thread_join(vcpus->thread);
}

/* ---- from any thread ---- */

void vcpus_call_at(struct vcpus *vcpus, uint32_t index, uint64_t at)
{
	call_want(&vcpus->all[index].call, at);
}

void vcpus_wake(struct vcpus *vcpus)
{
	pthread_mutex_lock(&vcpus->lock);
	pthread_cond_signal(&vcpus->woken);
	pthread_mutex_unlock(&vcpus->lock);
}
