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

#endif
