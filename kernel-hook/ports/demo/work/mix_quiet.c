/* SPDX-License-Identifier: MIT */
/* The phase `quiet`: a little work now and then, as at night. */
#include <stddef.h>
#include <stdint.h>

#include "mix.h"
#include "ports/demo/kernel/sched.h"
#include "ports/demo/machine/checksum.h"
#include "ports/demo/machine/time.h"
#include "ports/demo/memory/page.h"

enum { PAUSE = 20 * NS_PER_MS };

static uint32_t scrub_page(void)
{
	void *page = page_alloc_clear();
	uint32_t sum = 0;

	if (page != NULL) {
		sum = checksum_crc32(0, page, 4096);
		page_free(page, 0);
	}
	return sum;
}

static void housekeeping(void)
{
	for (uint32_t i = 0; i < 4; i++)
		scrub_page();
}

void quiet_work(uint32_t worker, uint32_t round)
{
	(void)worker;
	(void)round;
	housekeeping();
	sched_sleep(PAUSE);
}
