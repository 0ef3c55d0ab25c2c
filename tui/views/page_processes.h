/* SPDX-License-Identifier: MIT */
/* The processes whose threads run the function of a page; over all machines: the machines. */
#ifndef PAGE_PROCESSES_H
#define PAGE_PROCESSES_H

#include <stddef.h>

#include "agent/base/change.h"

struct function_page;

struct page_process {
	const char *name;		/* borrowed from the page */
	struct portion now, base;	/* of the function's time; base: in the baseline, if there is one */
};

struct page_processes {
	struct page_process *list;	/* the heaviest first; those of equal weight by name */
	size_t count;
};

struct page_processes page_processes_new(const struct function_page *page);
void page_processes_clear(struct page_processes *processes);

#endif
