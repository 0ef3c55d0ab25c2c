/* SPDX-License-Identifier: MIT */
/* Which trace events there are, by name: the hook's own, then the kernel's. */
#ifndef KTOP_EVENTS_H
#define KTOP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct ktop;
struct ktop_str;

/*
 * The drainer. Sets the bit of each event that a word names, in a mask as struct ktop has it, or clears it. A
 * word is an event's name; the beginning of names, up to a '_'; or `all`. False: no event is called so.
 */
bool ktop_events_choose(const struct ktop *ktop, const char *word, uint32_t *mask, bool on);

/* As many words of a mask as say something: the rest are 0. */
uint32_t ktop_events_words(const uint32_t *mask);

/* The drainer. " +NAME" for each event whose bit is set, " -NAME" for each other. */
void ktop_events_list(const struct ktop *ktop, const uint32_t *mask, struct ktop_str *text);

/* The drainer. "N of M". */
void ktop_events_count(const struct ktop *ktop, const uint32_t *mask, struct ktop_str *text);

#endif
