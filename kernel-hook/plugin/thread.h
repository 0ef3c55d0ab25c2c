/* SPDX-License-Identifier: MIT */
/* Threads of ours in QEMU: its signals are not for them. */
#ifndef PLUGIN_THREAD_H
#define PLUGIN_THREAD_H

#include <pthread.h>
#include <stdbool.h>

bool thread_start(pthread_t *thread, void *(*run)(void *context), void *context);

/* Waits for its end, with a bound: QEMU's own end does not hang on us. */
void thread_join(pthread_t thread);

#endif
