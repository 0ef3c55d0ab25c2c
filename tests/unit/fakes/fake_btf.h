/* SPDX-License-Identifier: MIT */
/* BTF of a kernel with the structs that ktop looks for, in the form of 6.1 or of 6.12; their members lie elsewhere. */
#ifndef FAKE_BTF_H
#define FAKE_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {					/* bytes */
	FAKE_MODULE_LIST = 8, FAKE_MODULE_NAME = 24, FAKE_MODULE_NAME_SIZE = 56, FAKE_MODULE_PARTS = 96,
	FAKE_OLD_PART = 16, FAKE_OLD_INIT = 112, FAKE_NEW_PART = 24, FAKE_NEW_PARTS = 7,
	FAKE_PART_BASE = 0, FAKE_PART_SIZE = 8,
	FAKE_KALLSYMS = 280, FAKE_ORC_COUNT = 288, FAKE_ORC_IPS = 296, FAKE_ORC_ENTRIES = 304, FAKE_MODULE_SIZE = 320,
	FAKE_SYMBOLS = 0, FAKE_SYMBOLS_COUNT = 8, FAKE_TEXTS = 16, FAKE_TYPES = 24, FAKE_MOD_KALLSYMS_SIZE = 32,
	FAKE_BPF_START = 0, FAKE_BPF_END = 8, FAKE_BPF_NAME = 16, FAKE_BPF_NAME_SIZE = 64, FAKE_BPF_LIST = 80,
	FAKE_BPF_SIZE = 96,
	FAKE_TRAMPOLINE = 8, FAKE_TRAMPOLINE_SIZE = 16, FAKE_TRAMPOLINE_LIST = 24, FAKE_OPS_SIZE = 40,
	FAKE_TASK_STATE = 16, FAKE_TASK_QUEUED = 20, FAKE_IRQ_DATA = 40, FAKE_IRQ = 4,
	FAKE_TASK_STACK = 32, FAKE_TASK_MEMORY = 40, FAKE_TASK_LIST = 64, FAKE_TASK_PID = 80,
	FAKE_TASK_GROUP = 84, FAKE_TASK_COMM = 96,
	FAKE_FILE_CONTENTS = 24, FAKE_CACHE_ROOT = 16, FAKE_CACHE_SLOTS = 64, FAKE_PAGE = 64, FAKE_PAGE_INDEX = 32,
	FAKE_CLOCK_SHIFT = 28, FAKE_CLOCK_FRACTION = 32, FAKE_CLOCK_BASE = 40,	/* in struct timekeeper */
	FAKE_OLD_CLOCK = 8, FAKE_NEW_CLOCK = 16,	/* and where that lies */
	FAKE_TREE = 16, FAKE_VDSO = 40, FAKE_SLOTS = 16, FAKE_GAP_SLOTS = 10,
};

/* In fresh memory of just that size; `before` bytes of something else stand before it. */
uint8_t *fake_btf(bool old, size_t before, size_t *size);

#endif
