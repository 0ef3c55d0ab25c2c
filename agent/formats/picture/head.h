/* SPDX-License-Identifier: MIT */
/* What stands at the head of a picture. */
#ifndef HEAD_H
#define HEAD_H

#include <stdio.h>

struct picture;

const char *head_title(const struct picture *picture);

/* A line as XML: the machine, the range, what was sampled and lost. */
void head_about(const struct picture *picture, FILE *to);

#endif
