/* SPDX-License-Identifier: MIT */
/*
 * The sums as comma-separated values (RFC 4180), with a line of names first. A stack is one field: its functions, the
 * root first, with ';' between them. What would end a field is in quotes. Within a function's name, ';' and '\' have a
 * '\' before them, and so have control characters, as in C: a program that splits lines before it reads quotes is not
 * misled, and different stacks stay different.
 */
#ifndef CSV_STACKS_H
#define CSV_STACKS_H

#include "set_format.h"

extern const struct set_format format_csv_stacks;

#endif
