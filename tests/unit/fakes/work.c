/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stddef.h>

#include "work.h"

enum { BATCH = 1024, BYTES = 64 };

static _Thread_local uint64_t done, told;
static atomic_uint_fast64_t all;

void __sanitizer_cov_trace_pc(void);
void __wrap___sanitizer_cov_trace_pc(void);
void __sanitizer_malloc_hook(const volatile void *memory, size_t size);

static __attribute__((noinline)) void tell(void)
{
	atomic_fetch_add_explicit(&all, done - told, memory_order_relaxed);
	told = done;
}

static inline void count(void)
{
	if (++done % BATCH == 0)
		tell();
}

/* The compiler has put a call of it into each basic block of the agent (Makefile). */
void __sanitizer_cov_trace_pc(void)
{
	count();
}

/* libFuzzer has a function of that name, which ends the program: there the calls come here (tests.mk, wraps). */
void __wrap___sanitizer_cov_trace_pc(void)
{
	count();
}

/* Called by the sanitizer. */
void __sanitizer_malloc_hook(const volatile void *memory, size_t size)
{
	(void)memory;
	done += size / BYTES;
	if (done - told >= BATCH)
		tell();
}

uint64_t work_done(void)
{
	return done;
}

uint64_t work_of_all(void)
{
	return atomic_load(&all);
}
