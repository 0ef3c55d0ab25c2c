/* SPDX-License-Identifier: MIT */
/* A recording of a made-up guest, as `ktop record` writes it: the folder `recording`, where the program works. */
#ifndef RECORDED_H
#define RECORDED_H

#include <stdint.h>

struct setup;

struct recorded {
	double guest_s;
	uint64_t bytes, samples, events;
};

/* At least so many bytes of packets. Ends the program if they cannot be written. */
struct recorded recorded_make(const struct setup *setup, uint64_t bytes);

#endif
