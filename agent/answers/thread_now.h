/* SPDX-License-Identifier: MIT */
/* What a thread does now, in words, by the guest's trace events. */
#ifndef THREAD_NOW_H
#define THREAD_NOW_H

struct epoch;

enum { THREAD_NOW = 224 };		/* bytes of the text */

/*
 * "sleeps for 2.3s in syscall read; woken last by pulse/5". `title`: as threads_title writes it. "": it is not known,
 * as where nothing is traced. Returns `text`.
 */
const char *thread_now(const struct epoch *epoch, const char *title, char text[THREAD_NOW]);

#endif
