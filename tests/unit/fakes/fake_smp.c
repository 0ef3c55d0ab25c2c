/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "kernel-hook/port.h"
#include "fake_smp.h"

static struct smp smp;
static pthread_t threads[SMP_CPUS];
static uint64_t now;
static pthread_barrier_t all_there;
static uint32_t working;
static bool up;				/* all threads can be sent signals */
static bool nmi_due[SMP_CPUS + 1];
static struct ktop_current current[SMP_CPUS + 1];
static _Thread_local uint32_t self = SMP_CPUS;
static _Thread_local bool in_nmi;
static const uint64_t user[] = { 0, 0x400100 };	/* a program's only frame */

/* ---- the machine ---- */

static void take_nmi(void)
{
	if (in_nmi || !__atomic_exchange_n(&nmi_due[self], false, __ATOMIC_ACQ_REL))
		return;
	in_nmi = true;
	smp.nmi(self);
	in_nmi = false;
}

static void handle(int number)
{
	if (number == SIGUSR1)
		smp.tick(self);
	else
		take_nmi();
}

static void *run(void *argument)
{
	self = (uint32_t)(uintptr_t)argument;
	pthread_barrier_wait(&all_there);
	smp.work(self);
	__atomic_fetch_sub(&working, 1, __ATOMIC_RELEASE);
	return NULL;
}

void smp_start(const struct smp *machine)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };

	smp = *machine;
	up = true;
	now = 1000000;
	memset(nmi_due, 0, sizeof(nmi_due));
	for (uint32_t i = 0; i <= SMP_CPUS; i++)
		current[i] = (struct ktop_current) { .process = i, .thread = 100 + i };
	sigaction(SIGUSR1, &action, NULL);
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR2, &action, NULL);
	__atomic_store_n(&working, SMP_CPUS, __ATOMIC_RELAXED);
	pthread_barrier_init(&all_there, NULL, SMP_CPUS + 1);
	for (uintptr_t i = 0; i < SMP_CPUS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	pthread_barrier_wait(&all_there);
}

void smp_join(void (*meanwhile)(void))
{
	while (__atomic_load_n(&working, __ATOMIC_ACQUIRE))
		meanwhile();
	for (uint32_t i = 0; i < SMP_CPUS; i++)
		pthread_join(threads[i], NULL);
	up = false;
}

void smp_interrupt(uint32_t cpu)
{
	pthread_kill(threads[cpu], SIGUSR1);
}

void smp_advance(uint64_t ticks)
{
	__atomic_add_fetch(&now, ticks, __ATOMIC_RELAXED);
}

/* ---- port.h ---- */

uint32_t ktop_port_cpu(void)
{
	return self;
}

uint64_t ktop_port_clock(void)
{
	take_nmi();
	return __atomic_add_fetch(&now, SMP_STEP, __ATOMIC_RELAXED);
}

unsigned long ktop_port_irq_save(void)
{
	sigset_t timer, before;

	sigemptyset(&timer);
	sigaddset(&timer, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &timer, &before);
	return !sigismember(&before, SIGUSR1);
}

void ktop_port_irq_restore(unsigned long unmask)
{
	sigset_t timer;

	sigemptyset(&timer);
	sigaddset(&timer, SIGUSR1);
	if (unmask)
		pthread_sigmask(SIG_UNBLOCK, &timer, NULL);
}

const struct ktop_current *ktop_port_current(uint64_t pc)
{
	(void)pc;
	take_nmi();
	return &current[self];
}

enum ktop_text ktop_port_text(uint64_t address)
{
	(void)address;
	return KTOP_TEXT;
}

bool ktop_port_read_user(uint64_t address, void *to, uint32_t size)
{
	(void)address;
	take_nmi();
	if (size > sizeof(user))
		return false;
	memcpy(to, user, size);
	return true;
}

void ktop_port_timer(uint64_t deadline)
{
	(void)deadline;
	take_nmi();
}

void ktop_port_kick(uint32_t cpu)
{
	if (up)
		smp_interrupt(cpu);
}

bool ktop_port_nmi(uint32_t cpu)
{
	__atomic_store_n(&nmi_due[cpu], true, __ATOMIC_RELEASE);
	if (up)
		pthread_kill(threads[cpu], SIGUSR2);
	return true;
}
