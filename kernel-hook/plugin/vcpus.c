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
	LOOK_AT_CLOCK = 20 * CLOCK_NS_PER_MS,	/* ns between two looks while the machine's clock stands still */
	TIMER_WORDS = 16,		/* QEMU's struct QEMUTimer has 6 */
};

struct vcpu {
	struct vcpus *vcpus;		/* fixed */
	uint32_t index;
	/* under the lock */
	enum { VCPU_NONE, VCPU_NEW, VCPU_COMPLETE } state;
	struct qemu_cpu *cpu;		/* while the state is VCPU_COMPLETE */
	uint32_t looks;			/* how often the timer has looked at this call, LOOK_DOUBLED at most */

	struct call call;		/* call.h says who writes what */

	/* under QEMU's lock: its timer, by the guest's clock */
	bool has_timer;
	uint64_t timer[TIMER_WORDS];
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

/* With QEMU's lock held, so it neither builds a CPU nor takes one away: each new one is complete. */
static void take_new(struct vcpus *vcpus)
{
	pthread_mutex_lock(&vcpus->lock);
	for (uint32_t i = 0; i < vcpus->count; i++) {
		struct vcpu *vcpu = &vcpus->all[i];

		if (vcpu->state != VCPU_NEW)
			continue;
		vcpu->cpu = vcpus->qemu->get_cpu((int)i);
		vcpu->state = vcpu->cpu ? VCPU_COMPLETE : VCPU_NONE;
	}
	__atomic_store_n(&vcpus->any_new, false, __ATOMIC_RELAXED);
	pthread_cond_signal(&vcpus->woken);
	pthread_mutex_unlock(&vcpus->lock);
}

/* ---- on the CPU's thread; on the timer's thread for a CPU that sleeps, without the lock ---- */

static void set_timer(struct vcpu *vcpu);

static void take_first(struct qemu_cpu *cpu, union qemu_work_data data)
{
	(void)cpu;
	take_new(data.pointer);
}

static void work(struct qemu_cpu *cpu, union qemu_work_data data)
{
	struct vcpu *vcpu = data.pointer;
	struct vcpus *vcpus = vcpu->vcpus;

	if (__atomic_load_n(&vcpus->ended, __ATOMIC_RELAXED))
		return;
	if (__atomic_load_n(&vcpus->any_new, __ATOMIC_RELAXED))
		take_new(vcpus);
	vcpus->call(cpu, vcpu->index);
	if (vcpus->qemu->guest_clock)
		set_timer(vcpu);
	call_end(&vcpu->call);
}

/* ---- the timer's thread, and QEMU's timers: one at a time, by the lock ---- */

static uint64_t until_next_look(struct vcpu *vcpu)
{
	uint64_t wait = (uint64_t)LOOK_AT_CALL << vcpu->looks;

	vcpu->looks += vcpu->looks < LOOK_DOUBLED;
	return wait;
}

/*
 * True: the CPU sleeps, and its call was made here in its place. Gives up the lock meanwhile, so all CPUs are to be
 * looked at again.
 */
static bool call_asleep(struct vcpu *vcpu)
{
	struct vcpus *vcpus = vcpu->vcpus;
	struct qemu_cpu *cpu = vcpu->cpu;

	if (!vcpus->qemu->take_back_asleep || !vcpus->qemu->take_back_asleep(cpu))
		return false;
	pthread_mutex_unlock(&vcpus->lock);
	work(cpu, (union qemu_work_data) { .pointer = vcpu });
	pthread_mutex_lock(&vcpus->lock);
	return true;
}

/* Asks for the CPU's call, if its time has come. Returns in how many ns to look at the CPU again. */
static uint64_t look_at(struct vcpu *vcpu, uint64_t now)
{
	uint64_t due;

	if (vcpu->state != VCPU_COMPLETE)
		return CALL_NEVER;
	if (call_is_under_way(&vcpu->call))
		return call_asleep(vcpu) ? 0 : until_next_look(vcpu);
	due = call_due(&vcpu->call);
	if (due > now && due != CALL_NEVER)
		return vcpu->vcpus->qemu->guest_clock ? LOOK_AT_CLOCK : due - now;
	if (due > now)
		return CALL_NEVER;
	call_begin(&vcpu->call, due);
	vcpu->vcpus->qemu->async_run_on_cpu(vcpu->cpu, work, (union qemu_work_data) { .pointer = vcpu });
	vcpu->looks = 0;
	return call_asleep(vcpu) ? 0 : until_next_look(vcpu);
}

/* QEMU calls this with its lock held. The thread looks, too, but seldom: an earlier time may have been loaded. */
static void timer_is_due(void *context)
{
	struct vcpu *vcpu = context;
	struct vcpus *vcpus = vcpu->vcpus;

	pthread_mutex_lock(&vcpus->lock);
	if (!vcpus->ended)
		look_at(vcpu, clock_now(vcpus->qemu));
	pthread_mutex_unlock(&vcpus->lock);
}

static void set_timer(struct vcpu *vcpu)
{
	const struct qemu *qemu = vcpu->vcpus->qemu;
	uint64_t due = call_due(&vcpu->call);

	if (due == CALL_NEVER)
		return;
	if (!vcpu->has_timer)
		qemu->timer_init_full(vcpu->timer, NULL, QEMU_CLOCK_VIRTUAL, 1, 0, timer_is_due, vcpu);
	vcpu->has_timer = true;
	qemu->timer_mod_ns(vcpu->timer, clock_of_qemu(due));
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

bool vcpus_begin(struct vcpus *vcpus, struct qemu_cpu *first)
{
	bool has_thread;

	pthread_mutex_lock(&vcpus->lock);
	has_thread = vcpus->has_thread = vcpus->has_thread ||
		(!vcpus->ended && thread_start(&vcpus->thread, run, vcpus));
	pthread_mutex_unlock(&vcpus->lock);
	if (first)
		vcpus->qemu->async_run_on_cpu(first, take_first, (union qemu_work_data) { .pointer = vcpus });
	else
		take_new(vcpus);
	return has_thread;
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
