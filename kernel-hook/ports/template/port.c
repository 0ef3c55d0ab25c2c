/* SPDX-License-Identifier: MIT */
/* The defaults of port.h, each weak; template.h lists them. ktop_port_current() is in current.c. */
#include <stdbool.h>
#include <stdint.h>

#include "../../arch.h"
#include "../../port.h"
#include "template.h"

#define DEFAULT __attribute__((weak))

DEFAULT uint32_t ktop_port_cpu(void)
{
	return 0;
}

DEFAULT uint64_t ktop_port_clock(void)
{
	return ktop_cycles();
}

DEFAULT unsigned long ktop_port_irq_save(void)
{
	return ktop_mask();
}

DEFAULT void ktop_port_irq_restore(unsigned long state)
{
	ktop_unmask(state);
}

DEFAULT enum ktop_text ktop_port_text(uint64_t address)
{
	if (address >= (uintptr_t)ktop_stubs_begin && address < (uintptr_t)ktop_stubs_end)
		return KTOP_TEXT_ENTRY;
	return address >= (uintptr_t)ktop_text_begin && address < (uintptr_t)ktop_text_end ?
		KTOP_TEXT : KTOP_NOT_TEXT;
}

DEFAULT bool ktop_port_read_user(uint64_t address, void *to, uint32_t size)
{
	(void)address, (void)to, (void)size;
	return false;
}

DEFAULT void ktop_port_timer(uint64_t deadline)
{
	(void)deadline;
}

DEFAULT void ktop_port_kick(uint32_t cpu)
{
	(void)cpu;
}

DEFAULT bool ktop_port_nmi(uint32_t cpu)
{
	(void)cpu;
	return false;
}
