/* SPDX-License-Identifier: MIT */
/* The trace events by name: first the hook's own, then the kernel's. A mask of events is as in struct ktop. */
#ifndef KTOP_EVENTS_H
#define KTOP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct ktop;
struct ktop_str;

/*
 * The drainer. Sets or clears, in `mask`, the bit of each event that the word names. A word is the name of an event,
 * the beginning of names up to a '_' (a group), or `all`. False: no event has such a name.
 */
bool ktop_events_choose(const struct ktop *ktop, const char *word, uint32_t *mask, bool on);

/* How many words of a mask are in use: all after them are 0. */
uint32_t ktop_events_words(const uint32_t *mask);

/* The drainer. Adds " +NAME" for each event whose bit is set, and " -NAME" for each other one. */
void ktop_events_list(const struct ktop *ktop, const uint32_t *mask, struct ktop_str *text);

/* The drainer. Adds "N of M": how many bits are set, of how many events. */
void ktop_events_count(const struct ktop *ktop, const uint32_t *mask, struct ktop_str *text);

#endif
