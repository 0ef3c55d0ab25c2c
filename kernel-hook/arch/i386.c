/* SPDX-License-Identifier: MIT */
/*
 * For i386 alone: 64 bits read and written in one, which is what compilers call where the CPU has no
 * single instruction for it. CMPXCHG8B is one, and with LOCK orders all that is around it.
 */
#include <stdint.h>

uint64_t ktop_load_8(const volatile void *from, int order) __asm__("__atomic_load_8");
void ktop_store_8(volatile void *to, uint64_t value, int order) __asm__("__atomic_store_8");

/* Compares with what is there or is not, and writes that again: the row stays as it is. */
__attribute__((weak)) uint64_t ktop_load_8(const volatile void *from, int order)
{
	uint64_t value = 0;

	(void)order;
	__asm__ volatile("lock; cmpxchg8b %1" : "+A"(value), "+m"(*(volatile uint64_t *)from) :
		"b"(0), "c"(0) : "memory", "cc");
	return value;
}

__attribute__((weak)) void ktop_store_8(volatile void *to, uint64_t value, int order)
{
	uint64_t seen = *(volatile uint64_t *)to;

	(void)order;
	__asm__ volatile("1: lock; cmpxchg8b %1; jne 1b" : "+A"(seen), "+m"(*(volatile uint64_t *)to) :
		"b"((uint32_t)value), "c"((uint32_t)(value >> 32)) : "memory", "cc");
}
