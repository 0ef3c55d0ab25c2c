/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "fake_port.h"

struct fake_port fake_port;
_Thread_local uint32_t fake_cpu;

void fake_port_reset(void)
{
	fake_port = (struct fake_port) {
		.clock = 1000000,
		.texts = { { .low = 0x1000, .high = 0x2000, .is = KTOP_TEXT } },
	};
	fake_cpu = 0;
}

uint32_t ktop_port_cpu(void)
{
	return fake_cpu;
}

uint64_t ktop_port_clock(void)
{
	void (*at_clock)(void) = fake_port.at_clock;

	if (at_clock) {
		fake_port.at_clock = NULL;
		at_clock();
	}
	return __atomic_add_fetch(&fake_port.clock, fake_port.step, __ATOMIC_RELAXED);
}

unsigned long ktop_port_irq_save(void)
{
	return __atomic_fetch_add(&fake_port.masked, 1, __ATOMIC_RELAXED);
}

void ktop_port_irq_restore(unsigned long state)
{
	(void)state;
	__atomic_fetch_sub(&fake_port.masked, 1, __ATOMIC_RELAXED);
}

const struct ktop_current *ktop_port_current(uint64_t pc)
{
	(void)pc;
	return &fake_port.current[fake_cpu];
}

enum ktop_text ktop_port_text(uint64_t address)
{
	for (int i = 0; i < FAKE_TEXTS; i++)
		if (address >= fake_port.texts[i].low && address < fake_port.texts[i].high)
			return fake_port.texts[i].is;
	return KTOP_NOT_TEXT;
}

bool ktop_port_read_user(uint64_t address, void *to, uint32_t size)
{
	fake_port.user_reads++;
	if (fake_port.at_user_read)
		fake_port.at_user_read();
	if (address < fake_port.user_low || address - fake_port.user_low > FAKE_USER - size)
		return false;
	memcpy(to, fake_port.user + (address - fake_port.user_low), size);
	return true;
}

void ktop_port_timer(uint64_t deadline)
{
	fake_port.timer[fake_cpu] = deadline;
}

void ktop_port_kick(uint32_t cpu)
{
	fake_port.kicks[cpu]++;
}

bool ktop_port_nmi(uint32_t cpu)
{
	if (!fake_port.nmi_refused)
		fake_port.nmis[cpu]++;
	return !fake_port.nmi_refused;
}
