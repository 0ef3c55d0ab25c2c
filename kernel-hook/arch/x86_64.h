/*
 * Instructions that C has no word for, on x86-64. Each header in arch/ has these same names. Any
 * context.
 */
#ifndef KTOP_ARCH_X86_64_H
#define KTOP_ARCH_X86_64_H

#include <stdint.h>

static inline uint8_t ktop_in8(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint16_t ktop_in16(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline uint32_t ktop_in32(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

static inline void ktop_out8(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" :: "a"(value), "Nd"(port) : "memory");
}

static inline void ktop_out16(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" :: "a"(value), "Nd"(port) : "memory");
}

static inline void ktop_out32(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" :: "a"(value), "Nd"(port) : "memory");
}

/* All that was read and written before, in memory or a device, comes before all that follows. */
static inline void ktop_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* In a loop that waits for another CPU. */
static inline void ktop_relax(void)
{
	__asm__ volatile("pause");
}

/* A counter that goes on at a steady rate, also while the CPU is halted. */
static inline uint64_t ktop_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) :: "memory");
	return (uint64_t)high << 32 | low;
}

/* Masks interrupts on this CPU, and says what was; puts that back. */
static inline unsigned long ktop_mask(void)
{
	unsigned long flags;

	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) :: "memory");
	return flags;
}

static inline void ktop_unmask(unsigned long flags)
{
	__asm__ volatile("pushq %0; popfq" :: "r"(flags) : "memory", "cc");
}

/* This CPU as `uname -m` has it. */
#define KTOP_ARCH_NAME "x86_64"

#endif
