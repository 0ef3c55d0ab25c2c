/* SPDX-License-Identifier: MIT */
/* Instructions that C cannot express. */
#ifndef X86_H
#define X86_H

#include <stdbool.h>
#include <stdint.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum {
	MSR_STAR = 0xc0000081, MSR_LSTAR = 0xc0000082, MSR_FMASK = 0xc0000084,
	MSR_KERNEL_GS = 0xc0000102,
};
enum { FLAG_TRAP = 0x100, FLAG_INTERRUPTS = 0x200, FLAG_DIRECTION = 0x400 };

ALWAYS_INLINE uint8_t in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

ALWAYS_INLINE void out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" :: "a"(value), "Nd"(port));
}

ALWAYS_INLINE void out16(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" :: "a"(value), "Nd"(port));
}

ALWAYS_INLINE uint64_t clock_now(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) :: "memory");
	return (uint64_t)high << 32 | low;
}

ALWAYS_INLINE void msr_write(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" :: "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)));
}

ALWAYS_INLINE uint64_t page_table(void)
{
	uint64_t value;

	__asm__ volatile("mov %%cr3, %0" : "=r"(value));
	return value;
}

ALWAYS_INLINE void page_table_set(uint64_t value)
{
	__asm__ volatile("mov %0, %%cr3" :: "r"(value) : "memory");
}

ALWAYS_INLINE uint64_t fault_address(void)
{
	uint64_t value;

	__asm__ volatile("mov %%cr2, %0" : "=r"(value));
	return value;
}

/* ---- interrupts, whose masking is traced ---- */

/*
 * Interrupts off, and on before, by the kernel's own code; off still, and on from the next instructions on. The kernel
 * makes trace events of that (kernel/hook_calls.c).
 */
void traced_irqs_off(void);
void traced_irqs_on(void);

/* Save masks interrupts on this CPU and returns what was; restore puts that back. */
ALWAYS_INLINE unsigned long irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) :: "memory");
	if (flags & FLAG_INTERRUPTS)
		traced_irqs_off();
	return flags;
}

ALWAYS_INLINE void irq_restore(unsigned long flags)
{
	if (flags & FLAG_INTERRUPTS)
		traced_irqs_on();
	__asm__ volatile("pushq %0; popfq" :: "r"(flags) : "memory", "cc");
}

ALWAYS_INLINE bool irq_is_on(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq; popq %0" : "=r"(flags));
	return flags & FLAG_INTERRUPTS;
}

ALWAYS_INLINE void irq_off(void)
{
	irq_save();
}

/* STI takes effect after the next instruction. That is a NOP, so that it is not already the next irq_off(). */
ALWAYS_INLINE void irq_on(void)
{
	traced_irqs_on();
	__asm__ volatile("sti; nop" ::: "memory");
}

/* STI takes effect after the HLT: no interrupt comes between the two. */
ALWAYS_INLINE void irq_on_and_halt(void)
{
	traced_irqs_on();
	__asm__ volatile("sti; hlt" ::: "memory");
}

ALWAYS_INLINE void cpu_pause(void)
{
	__asm__ volatile("pause");
}

#endif
