/* SPDX-License-Identifier: MIT */
/* Work like a real machine's day: its character changes every ten seconds. */
#ifndef MIX_H
#define MIX_H

#include <stdint.h>

/* thread */
void mix_start(void);

/* One round of each kind of work. `worker` counts the threads of the phase. */
void files_work(uint32_t worker, uint32_t round);
void processes_work(uint32_t worker, uint32_t round);
void memory_work(uint32_t worker, uint32_t round);
void ledger_work(uint32_t worker, uint32_t round);
void mail_work(uint32_t worker, uint32_t round);
void quiet_work(uint32_t worker, uint32_t round);

#endif
