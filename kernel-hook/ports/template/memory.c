/* SPDX-License-Identifier: MIT */
/* Memory for the hook and the port, and how devices see it. A kernel that has all these functions leaves this out. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "template.h"

enum { PAGE = 4096 };
#define HIGH 0xffffffff80000000

/* Memory in .bss is physically in one piece if the kernel is, and is always mapped. */
static _Alignas(PAGE) uint8_t pool[KTOP_TEMPLATE_MEMORY];
static size_t used;

__attribute__((weak)) void *ktop_pages(size_t size)
{
	void *pages = pool + used;

	if (size > sizeof(pool) - used)
		return NULL;
	used += (size + PAGE - 1) / PAGE * PAGE;
	return pages;
}

__attribute__((weak)) uint64_t ktop_physical(const void *address)
{
	uint64_t at = (uintptr_t)address;

	return at >= HIGH ? at - HIGH : at;
}

__attribute__((weak)) void *ktop_map(uint64_t physical, size_t size)
{
	(void)physical, (void)size;
	return NULL;
}

__attribute__((weak)) bool ktop_hotplug(void)
{
	return true;
}
