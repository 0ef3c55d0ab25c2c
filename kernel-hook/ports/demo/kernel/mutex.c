/* SPDX-License-Identifier: MIT */
#include "clock.h"
#include "hook_calls.h"
#include "mutex.h"
#include "ports/demo/machine/spin.h"
#include "ports/demo/machine/string.h"
#include "ports/demo/machine/time.h"
#include "sched.h"
#include "thread.h"
#include "trace.h"

static const struct mutex *named;	/* written at start-up */

void mutex_init(struct mutex *mutex, const char *name, int number)
{
	size_t length = text_length(name);

	text_copy(mutex->name, name, sizeof(mutex->name));
	if (number >= 0 && length + 4 <= sizeof(mutex->name)) {
		mutex->name[length] = ' ';
		mutex->name[length + 1] = (char)('0' + number / 10 % 10);
		mutex->name[length + 2] = (char)('0' + number % 10);
		mutex->name[length + 3] = '\0';
	}
	mutex->next = named;
	named = mutex;
}

const struct mutex *mutex_named(uint32_t index)
{
	const struct mutex *mutex = named;

	while (mutex != NULL && index-- > 0)
		mutex = mutex->next;
	return mutex;
}

/* The mutex is free, or was just given up; its lock is held. */
static void take(struct mutex *mutex, uint32_t thread)
{
	mutex->held = true;
	mutex->holder = thread;
	ktop_trace_lock_acquired(hook, (uintptr_t)mutex, thread);
}

void mutex_lock(struct mutex *mutex)
{
	unsigned long flags = spin_lock_irq(&mutex->lock);
	uint32_t self = thread_current()->id;

	if (mutex->held) {
		ktop_trace_lock_wait(hook, (uintptr_t)mutex, self, mutex->holder);
		sched_wait(&mutex->waiting, &mutex->lock);	/* then the mutex is held by us */
	} else {
		take(mutex, self);
	}
	spin_unlock_irq(&mutex->lock, flags);
}

/* It looks now and then. It is in no queue, so others may go before it. */
bool mutex_lock_for(struct mutex *mutex, uint64_t ns)
{
	unsigned long flags = spin_lock_irq(&mutex->lock);
	uint32_t self = thread_current()->id;
	uint64_t end = clock_ns(clock_now()) + ns;
	bool taken = !mutex->held;

	if (mutex->held)
		ktop_trace_lock_wait(hook, (uintptr_t)mutex, self, mutex->holder);
	while (mutex->held && clock_ns(clock_now()) < end) {
		spin_unlock_irq(&mutex->lock, flags);
		sched_sleep(NS_PER_MS);
		flags = spin_lock_irq(&mutex->lock);
		taken = !mutex->held;
	}
	if (taken)
		take(mutex, self);
	else
		ktop_trace_lock_waited(hook, (uintptr_t)mutex, self, false);
	spin_unlock_irq(&mutex->lock, flags);
	return taken;
}

void mutex_unlock(struct mutex *mutex)
{
	unsigned long flags = spin_lock_irq(&mutex->lock);
	struct thread *next = mutex->waiting.head;

	ktop_trace_lock_released(hook, (uintptr_t)mutex, mutex->holder);
	mutex->held = false;
	if (next != NULL)
		take(mutex, next->id);
	sched_wake_one(&mutex->waiting);
	spin_unlock_irq(&mutex->lock, flags);
}
