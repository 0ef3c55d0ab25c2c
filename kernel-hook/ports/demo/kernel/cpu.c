/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "cpu.h"
#include "ports/demo/machine/layout.h"
#include "ports/demo/machine/x86.h"
#include "trap.h"

struct cpu cpus[CPU_MAX];
uint32_t cpu_count = 1;

struct pointer {
	uint16_t limit;
	void *base;
} __attribute__((packed));

/* The segment table of all CPUs. The task state segment of CPU n is in slots 5 + 2n and 6 + 2n. */
static uint64_t segments[5 + 2 * CPU_MAX] = {
	[KERNEL_CODE / 8] = 0x00af9a000000ffff,
	[KERNEL_DATA / 8] = 0x00cf92000000ffff,
	[USER_DATA / 8] = 0x00cff2000000ffff,
	[USER_CODE / 8] = 0x00affa000000ffff,
};

static _Alignas(16) uint8_t alarm_stacks[CPU_MAX][TRAP_STACKS][8192];

/* The far return loads CS. cpu_this() reads the task register. */
static void load_segments(uint32_t number)
{
	struct cpu_state *state = &cpus[number].state;
	uint64_t base = (uint64_t)state, limit = sizeof(*state) - 1;
	uint32_t selector = CPU_STATE + 16 * number;
	struct pointer pointer = { sizeof(segments) - 1, segments };

	segments[selector / 8] = limit | (base & 0xffffff) << 16 | 0x89ull << 40 |
		(base >> 24 & 0xff) << 56;
	segments[selector / 8 + 1] = base >> 32;
	__asm__ volatile("lgdt %0" :: "m"(pointer));
	__asm__ volatile(
		"pushq %0\n\tleaq 1f(%%rip), %%rax\n\tpushq %%rax\n\tlretq\n1:\n\t"
		"mov %1, %%ds\n\tmov %1, %%es\n\tmov %1, %%ss\n\tmov %2, %%fs\n\tmov %2, %%gs" ::
		"i"(KERNEL_CODE), "r"(KERNEL_DATA), "r"(0) : "rax", "memory");
	__asm__ volatile("ltr %w0" :: "r"(selector));
}

void cpu_start(uint32_t number)
{
	struct cpu *cpu = &cpus[number];

	cpu->number = number;
	for (uint32_t i = 0; i < TRAP_STACKS; i++)
		cpu->state.ist[i] = (uint64_t)(alarm_stacks[number][i] + sizeof(alarm_stacks[0][0]));
	cpu->state.io_map = sizeof(cpu->state);
	load_segments(number);
	trap_start();
	msr_write(MSR_KERNEL_GS, (uint64_t)cpu);
	msr_write(MSR_STAR, (uint64_t)KERNEL_CODE << 32 | (uint64_t)KERNEL_DATA << 48);
	msr_write(MSR_LSTAR, (uint64_t)entry_syscall);
	msr_write(MSR_FMASK, FLAG_TRAP | FLAG_INTERRUPTS | FLAG_DIRECTION);
}
