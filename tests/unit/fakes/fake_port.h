/* SPDX-License-Identifier: MIT */
/* A kernel all of whose answers a test can set, for the hook's tests. */
#ifndef FAKE_PORT_H
#define FAKE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel-hook/port.h"

enum { FAKE_CPUS = 8, FAKE_TEXTS = 4, FAKE_USER = 2048 };

struct fake_text {
	uint64_t low, high;
	enum ktop_text is;
};

struct fake_port {
	uint64_t clock;
	uint64_t step;			/* the clock moves by this each time it is read */
	void (*at_clock)(void);		/* called once, when the clock is read next: an interruption */
	struct ktop_current current[FAKE_CPUS];
	struct fake_text texts[FAKE_TEXTS];

	uint64_t user_low;		/* where the readable user memory begins */
	uint8_t user[FAKE_USER];
	uint32_t user_reads;
	void (*at_user_read)(void);	/* called in each ktop_port_read_user(), that is, while a sample is written */

	uint64_t timer[FAKE_CPUS];	/* the last deadline of ktop_port_timer() */
	uint32_t kicks[FAKE_CPUS], nmis[FAKE_CPUS];
	bool nmi_refused;
	uint32_t masked;		/* how deeply interrupts are masked */
};

extern struct fake_port fake_port;
extern _Thread_local uint32_t fake_cpu;

/* Each test begins with this: clock 1000000, kernel text from 0x1000 to 0x2000, all else zero. */
void fake_port_reset(void);

#endif
