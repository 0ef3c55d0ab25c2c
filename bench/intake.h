/* SPDX-License-Identifier: MIT */
/* From bytes to a store, as a session does it: decoder and epoch, without a screen. */
#ifndef INTAKE_H
#define INTAKE_H

#include <stddef.h>
#include <stdint.h>

struct budget;
struct epoch;
struct intake;

struct intake *intake_new(const char *names, struct budget *budget);	/* the kernel's file, or NULL; NULL: no limit */
void intake_free(struct intake *intake);

void intake_feed(struct intake *intake, const void *bytes, size_t size);
struct epoch *intake_epoch(const struct intake *intake);

/* Ends the program unless the store has exactly so many samples. */
void intake_check(const struct intake *intake, uint64_t samples);

#endif
