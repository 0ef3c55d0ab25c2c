/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "locks.h"
#include "ports/demo/kernel/clock.h"
#include "ports/demo/kernel/mutex.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/kernel/thread.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/time.h"

enum { HOLD = 60 * NS_PER_MS, REST = 40 * NS_PER_MS };

static struct mutex inode, disk, log, port, starboard;

static uint64_t now(void)
{
	return clock_ns(clock_now());
}

/* Takes the lock, and shows for how long that took. */
static void wait_for(struct mutex *mutex, const char *name)
{
	uint64_t from = now(), to;

	mutex_lock(mutex);
	to = now();
	print("locks: thread=%u name=%s lock=%s from=%lu to=%lu\n", thread_current()->id, name, mutex->name, from, to);
}

static void hold(struct mutex *mutex)
{
	for (;;) {
		mutex_lock(mutex);
		sched_sleep(HOLD);
		mutex_unlock(mutex);
		sched_sleep(REST);
	}
}

static void writer_run(void *argument)
{
	(void)argument;
	hold(&inode);
}

static void flusher_run(void *argument)
{
	(void)argument;
	hold(&disk);
}

static void reader_run(void *argument)
{
	(void)argument;
	for (;;) {
		sched_sleep(REST / 2);
		wait_for(&inode, "reader");
		mutex_unlock(&inode);
	}
}

static void journal_run(void *argument)
{
	(void)argument;
	for (;;) {
		mutex_lock(&log);
		wait_for(&disk, "journal");
		mutex_unlock(&disk);
		mutex_unlock(&log);
		sched_sleep(REST / 4);
	}
}

static void commit_run(void *argument)
{
	(void)argument;
	for (;;) {
		sched_sleep(REST / 8);
		wait_for(&log, "commit");
		mutex_unlock(&log);
	}
}

/* The side that holds `own` gives up before the other one does. */
static void meet(struct mutex *own, struct mutex *other, uint64_t patience)
{
	for (;;) {
		sched_sleep(NS_PER_SECOND - now() % NS_PER_SECOND);
		mutex_lock(own);
		sched_sleep(20 * NS_PER_MS);
		if (mutex_lock_for(other, patience))
			mutex_unlock(other);
		mutex_unlock(own);
	}
}

static void left_run(void *argument)
{
	(void)argument;
	meet(&port, &starboard, 600 * NS_PER_MS);
}

static void right_run(void *argument)
{
	(void)argument;
	meet(&starboard, &port, 900 * NS_PER_MS);
}

void locks_start(void)
{
	mutex_init(&inode, "inode", -1);
	mutex_init(&disk, "disk", -1);
	mutex_init(&log, "log", -1);
	mutex_init(&port, "port", -1);
	mutex_init(&starboard, "starboard", -1);
	thread_spawn("writer", writer_run, NULL);
	thread_spawn("flusher", flusher_run, NULL);
	thread_spawn("reader", reader_run, NULL);
	thread_spawn("journal", journal_run, NULL);
	thread_spawn("commit", commit_run, NULL);
	thread_spawn("left", left_run, NULL);
	thread_spawn("right", right_run, NULL);
}
