/* SPDX-License-Identifier: MIT */
/* The calls that a compiler puts before each access of a file under -fsanitize=thread. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "weak_accesses.h"

enum { REMOVED_MAX = 64 };		/* calls that stand for one barrier */

/* ---- a barrier that is removed ---- */

static struct {
	uintptr_t calls[REMOVED_MAX];	/* their return addresses */
	size_t count;
} removed;

extern const char __executable_start[];		/* the linker's */

void weak_remove(void)
{
	const char *text = getenv("WEAK_WITHOUT");
	char *rest;

	for (removed.count = 0; text && *text; text = rest) {
		uintptr_t call = strtoul(text, &rest, 16);

		if (rest == text || removed.count == REMOVED_MAX) {
			fprintf(stderr, "WEAK_WITHOUT: too many calls, or no address: %s\n", text);
			abort();
		}
		removed.calls[removed.count++] = (uintptr_t)__executable_start + call;
	}
}

static bool is_removed(const void *call)
{
	for (size_t i = 0; i < removed.count; i++)
		if (removed.calls[i] == (uintptr_t)call)
			return true;
	return false;
}

/* ---- the functions that -fsanitize=thread calls: gcc and clang chose the names ---- */

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_read_range(void *at, size_t size);
void __tsan_write_range(void *at, size_t size);
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_read_range(void *at, size_t size)
{
	weak_read(at, size);
}

void __tsan_write_range(void *at, size_t size)
{
	weak_write(at, size);
}

void __tsan_atomic_thread_fence(int order)
{
	if (!is_removed(__builtin_return_address(0)))
		weak_fence(order);
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	weak_settle();
}

#define FUNCTION(type, name, arguments, ...) \
type __tsan_##name arguments; \
type __tsan_##name arguments \
{ \
	__VA_ARGS__; \
}
#define PLAIN(size) \
FUNCTION(void, read##size, (void *at), weak_read(at, size)) \
FUNCTION(void, write##size, (void *at), weak_write(at, size)) \
FUNCTION(void, unaligned_read##size, (void *at), weak_read(at, size)) \
FUNCTION(void, unaligned_write##size, (void *at), weak_write(at, size))
#define ORDER (is_removed(__builtin_return_address(0)) ? __ATOMIC_RELAXED : order)
#define ATOMIC(bits, type) \
FUNCTION(type, atomic##bits##_load, (const volatile void *at, int order), \
	return (type)weak_load(at, bits / 8, ORDER)) \
FUNCTION(void, atomic##bits##_store, (volatile void *at, type value, int order), \
	weak_store(at, bits / 8, value, ORDER)) \
FUNCTION(type, atomic##bits##_exchange, (volatile void *at, type value, int order), \
	return (type)weak_change(at, bits / 8, 0, value, ORDER)) \
FUNCTION(type, atomic##bits##_fetch_add, (volatile void *at, type value, int order), \
	return (type)weak_change(at, bits / 8, UINT64_MAX, value, ORDER)) \
FUNCTION(type, atomic##bits##_fetch_sub, (volatile void *at, type value, int order), \
	return (type)weak_change(at, bits / 8, UINT64_MAX, -(uint64_t)value, ORDER))

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
