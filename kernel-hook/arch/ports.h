/* SPDX-License-Identifier: MIT */
/* The I/O ports of x86. Any context. */
#ifndef KTOP_ARCH_PORTS_H
#define KTOP_ARCH_PORTS_H

#include <stdint.h>

#define KTOP_HAS_PORTS true

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

#endif
