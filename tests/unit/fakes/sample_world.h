/* SPDX-License-Identifier: MIT */
/*
 * A sample set with all that a format may meet: functions of the kernel, of a module and of programs; inlined ones; two
 * CPUs and samples without one; threads, idle and unknown time; and names that could harm. Its sums are known.
 */
#ifndef SAMPLE_WORLD_H
#define SAMPLE_WORLD_H

#include <stdbool.h>
#include <stdio.h>

struct sample_set;

enum {
	WORLD_PERIOD = 1000000,		/* ns */
	WORLD_SAMPLES = 3000,		/* in all sums together */
};

#define WORLD_FROM UINT64_C(5000000000)
#define WORLD_TO UINT64_C(8000000000)
#define WORLD_BEGAN UINT64_C(1790000000000000000)

/* Names that could harm. Ended by NULL. Each is a function's, an object's, a file's, a thread's and a process's. */
extern const char *const sample_world_hostile[];

/* Without rows the times were not kept. Rows may be made to fail in their midst. */
struct sample_set *sample_world_new(bool rows);
struct sample_set *sample_world_failing(void);

/* Its stacks as folded lines, sorted by nobody: names as name_text_put writes them, ';' between, and samples. */
void sample_world_folded(const struct sample_set *set, FILE *to);

#endif
