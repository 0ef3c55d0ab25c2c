/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gate.h"
#include "machine/memory.h"

/* linux/Documentation/arch/x86/x86_64/mm.rst */
#define CODE UINT64_C(0xffffffff80000000)	/* the kernel's, up to the modules' */
#define CODE_END UINT64_C(0xffffffffc0000000)

enum { GATE_KIND = 0x8e };		/* an interrupt gate, present, for the kernel alone */

struct gate {				/* Intel SDM, volume 3, figure 7-8 */
	uint16_t low, segment;
	uint8_t stack, kind;
	uint16_t middle;
	uint32_t high, none;
};

_Static_assert(sizeof(struct gate) == GATE_SIZE, "a gate of a 64-bit IDT");

uint64_t gate_handler(const void *bytes)
{
	struct gate gate;
	uint64_t handler;

	memcpy(&gate, bytes, sizeof(gate));
	if (gate.kind != GATE_KIND)
		return 0;
	handler = gate.low | (uint64_t)gate.middle << 16 | (uint64_t)gate.high << 32;
	return handler >= CODE && handler < CODE_END ? handler : 0;
}

uint64_t gate_read(const struct qemu *qemu, struct qemu_cpu *cpu)
{
	uint8_t bytes[GATE_SIZE];

	return memory_read(qemu, cpu, GATE_ADDRESS, bytes, sizeof(bytes)) == sizeof(bytes) ? gate_handler(bytes) : 0;
}

bool gate_symbol(uint64_t gate, uint64_t from, struct ktop_symbol *symbol)
{
	*symbol = (struct ktop_symbol) { .address = gate, .size = 1, .name = GATE_FUNCTION };
	return gate && gate >= from;
}
