/* SPDX-License-Identifier: MIT */
/* Our threads in QEMU. They block all signals: those are for QEMU's own threads. */
#ifndef PLUGIN_THREAD_H
#define PLUGIN_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False: it could not be started. */
bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* Waits until the thread has ended, but at most two seconds, so that QEMU can end in any case. */
void thread_join(pthread_t thread);

#endif
