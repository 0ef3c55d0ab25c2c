/* SPDX-License-Identifier: MIT */
/*
 * The time of a unit test. The linker's --wrap puts it in the place of the host's: util_now, time, and all waits with
 * an end. Nothing here looks at a clock of the host. The time stands still while anything works, however long that
 * takes, and goes on in two ways:
 *
 * - A test says that time passes.
 * - A thread waits, and all others of the program rest, those of forked processes too: nothing can come any more that
 *   would end the wait. Then it is later, by as much as was waited for.
 *
 * So a deadline passes when nobody is going to do anything about it, and never because the host is busy. What the
 * kernel hands on by a thread of its own, such as a terminal's bytes, is not seen on its way: a test awaits it without
 * an end.
 * All processes that a test forks have one time.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

void clock_pass(uint64_t ns);		/* so much time passes */

/* What a thread has spent by util_thread_time: nothing, but for what the test says. */
void clock_spend(uint64_t ns);

/*
 * A program with a clock of its own is beside the test, which looks at it now and then. From here on each wait takes a
 * millisecond in truth, and no end of a wait says anything of that program.
 */
void clock_beside(void);

/* Called before each poll, and before each sleep, with its time. A test that watches who waits defines it. */
void clock_watch(const char *call, int timeout_ms);

#endif
