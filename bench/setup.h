/* SPDX-License-Identifier: MIT */
/*
 * What a program of the bench is to do: `name=value` words; without any, a million samples of
 * 100,000 stacks.
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

/* Ends the program, with the words that there are, when one is not understood. */
struct setup setup_parse(int argc, char **argv);

/* This process, and what it starts, on one core; the last one stands for all that are not there. */
void setup_pin(int core);

/* Processor time of this thread, ns. */
uint64_t setup_spent(void);

/* Sorts. */
double setup_median(double *values, uint32_t count);

#endif
