/* SPDX-License-Identifier: MIT */
/*
 * What the agent does, in units: the same for the same input, on every machine. A unit is a basic block of its code, or
 * 64 bytes of memory that anybody takes. What libraries do is not counted.
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

uint64_t work_done(void);		/* by this thread */
uint64_t work_of_all(void);		/* by all threads, each counted to 1024 units */

#endif
