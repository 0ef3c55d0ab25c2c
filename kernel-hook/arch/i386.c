/* SPDX-License-Identifier: MIT */
/*
 * For i386 alone: atomic loads and stores of 64 bits, which compilers call because this CPU has no plain instruction
 * for them. CMPXCHG8B does both; its LOCK prefix orders everything around it, so `order` does not matter. A kernel
 * that has these functions keeps its own: these are weak. Any context.
 */
#include <stdint.h>

uint64_t ktop_load_8(const volatile void *from, int order) __asm__("__atomic_load_8");
void ktop_store_8(volatile void *to, uint64_t value, int order) __asm__("__atomic_store_8");

/* Compares with 0. If that is there, it is written again; else nothing is. Either way the value is now in EDX:EAX. */
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
