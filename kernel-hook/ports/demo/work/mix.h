/* SPDX-License-Identifier: MIT */
/* Work in phases, as a real machine has it in a day: every ten seconds another kind of work begins. */
#ifndef MIX_H
#define MIX_H

#include <stdint.h>

/* thread. Starts the thread that changes the phases. */
void mix_start(void);

/* thread. One round of each kind of work. `worker` is the number of the thread in its phase, from 0. */
void files_work(uint32_t worker, uint32_t round);
void processes_work(uint32_t worker, uint32_t round);
void memory_work(uint32_t worker, uint32_t round);
void ledger_work(uint32_t worker, uint32_t round);
void ledger_start(void);			/* thread, at start-up: its lock gets a name */
void mail_work(uint32_t worker, uint32_t round);
void quiet_work(uint32_t worker, uint32_t round);

#endif
