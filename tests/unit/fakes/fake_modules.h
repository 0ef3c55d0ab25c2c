/* SPDX-License-Identifier: MIT */
/* The memory of a guest with modules in a list, laid out as fake_btf says. */
#ifndef FAKE_MODULES_H
#define FAKE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_MODULES UINT64_C(0xffffffffc0000000)	/* where it lies */
#define FAKE_MODULES_HEAD (FAKE_MODULES + 0x100)	/* of the list */

enum { FAKE_MODULES_SIZE = 64 << 10 };

struct fake_modules {
	uint8_t bytes[FAKE_MODULES_SIZE];
	size_t used;
	unsigned reads;
};

/* "module_0", "module_1" ..., each with functions f0, f2, f4 and f6 of 16 bytes at its start, 32 bytes apart. */
struct fake_modules *fake_modules_new(bool old, unsigned modules);

void fake_modules_set(struct fake_modules *guest, uint64_t address, uint64_t value, size_t size);

/* As memory_reader.h wants it, with that as its context. */
bool fake_modules_read(void *context, uint64_t address, void *to, size_t size);

#endif
