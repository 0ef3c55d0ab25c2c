/* SPDX-License-Identifier: MIT */
#include "gate.h"
#include "memory.h"

/* linux/Documentation/arch/x86/x86_64/mm.rst: each CPU's entry area begins with the IDT, the same for all. */
#define IDT UINT64_C(0xfffffe0000000000)
#define CODE UINT64_C(0xffffffff80000000)	/* the kernel's, up to the modules' */
#define CODE_END UINT64_C(0xffffffffc0000000)

enum { GATE_KIND = 0x8e };		/* an interrupt gate, present, for the kernel alone */

struct gate {				/* Intel SDM, volume 3, figure 7-8 */
	uint16_t low, segment;
	uint8_t stack, kind;
	uint16_t middle;
	uint32_t high, none;
};

uint64_t gate_read(const struct qemu *qemu, struct qemu_cpu *cpu)
{
	struct gate gate = { .kind = 0 };
	uint64_t handler;

	if (memory_read(qemu, cpu, IDT, &gate, sizeof(gate)) != sizeof(gate) || gate.kind != GATE_KIND)
		return 0;
	handler = gate.low | (uint64_t)gate.middle << 16 | (uint64_t)gate.high << 32;
	return handler >= CODE && handler < CODE_END ? handler : 0;
}
