/* SPDX-License-Identifier: MIT */
/*
 * What a program of the bench is to do, from its `name=value` words. Without words: a million samples of 100,000
 * stacks.
 */
#ifndef SETUP_H
#define SETUP_H

#include <stdint.h>

#include "traffic.h"
#include "world.h"

struct setup {
	struct world_shape world;
	struct traffic_shape traffic;
	uint64_t samples;
	uint32_t runs;
	const char *names;		/* the kernel's file; NULL: none */
};

/* When a word is not understood, ends the program and prints the words that there are. */
struct setup setup_parse(int argc, char **argv);

/* Binds this process, and those that it starts, to one core. A core that does not exist means the last one. */
void setup_pin(int core);

/* Processor time of this thread, in ns. */
uint64_t setup_spent(void);

/* Returns the median. Sorts the values. */
double setup_median(double *values, uint32_t count);

#endif
