/* SPDX-License-Identifier: MIT */
#include "set_writing.h"

enum { STEP = 1024 };			/* turns of a loop between two looks */

bool set_writing_step(const struct set_writing *writing, uint64_t at, uint64_t of)
{
	if (at % STEP != 0)
		return false;
	if (writing->done)
		atomic_store_explicit(writing->done, (unsigned)(of ? at * 1000 / of : 0), memory_order_relaxed);
	return ferror(writing->to) || (writing->stop && atomic_load_explicit(writing->stop, memory_order_relaxed));
}
