/* SPDX-License-Identifier: MIT */
/* The system calls, as a program makes them (call.h has their meaning). */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdint.h>

#include "ports/demo/machine/call.h"

static inline int64_t call4(enum call number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	register uint64_t fourth __asm__("r10") = d;
	int64_t result;

	__asm__ volatile("syscall" :
		"=a"(result) :
		"a"((uint64_t)number), "D"(a), "S"(b), "d"(c), "r"(fourth) :
		"rcx", "r11", "memory");
	return result;
}

static inline int64_t program_write(const char *text, uint64_t size)
{
	return call4(CALL_WRITE, (uint64_t)text, size, 0, 0);
}

static inline uint32_t program_process(void)
{
	return (uint32_t)call4(CALL_PROCESS, 0, 0, 0, 0);
}

static inline void program_yield(void)
{
	call4(CALL_YIELD, 0, 0, 0, 0);
}

static inline void program_sleep(uint64_t ns)
{
	call4(CALL_SLEEP, ns, 0, 0, 0);
}

/* Memory, which is zero. A program that asks for more than there is ends when it uses it. */
static inline void *program_map(uint64_t size)
{
	return (void *)call4(CALL_MAP, size, 0, 0, 0);
}

static inline int64_t program_read(uint32_t file, uint64_t offset, void *to, uint64_t size)
{
	return call4(CALL_READ, file, offset, (uint64_t)to, size);
}

static inline int64_t program_digest(const void *from, uint64_t size)
{
	return call4(CALL_DIGEST, (uint64_t)from, size, 0, 0);
}

/* Marks this moment, for ktop. Negative: this text is one too many. */
static inline int64_t program_mark(const char *text, uint64_t size)
{
	return call4(CALL_MARK, (uint64_t)text, size, 0, 0);
}

/* Each program has its own. Its result is the status of the process. */
int64_t main(uint64_t argument);

#endif
