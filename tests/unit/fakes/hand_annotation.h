/* SPDX-License-Identifier: MIT */
/* An annotation made by hand: the code of a function with a loop and something inlined, and its samples. */
#ifndef HAND_ANNOTATION_H
#define HAND_ANNOTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "answers.h"

struct symbols;

/* Gives it to the answers. `bare`: without source lines. `more`: is added to the weight of another line. */
void hand_annotation(struct answers *answers, struct symbols *symbols, uint32_t function, bool bare, uint64_t more);

#endif
