/* SPDX-License-Identifier: MIT */
/* The formats in which the samples of any question can be saved: a list, from number 0 on. */
#ifndef SAVE_FORMAT_H
#define SAVE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "export.h"

struct save_format {
	const char *name, *ending, *about;	/* as in export.h; name NULL: there is no such number */
};

struct save_format save_format_at(size_t number);
bool save_format_named(const char *name, size_t *number);	/* false: there is none */

/* `machine`: its name, where there are several; "": there is one. It is the root of folded stacks. */
struct export_choice save_format_choice(size_t number, const char *machine);

#endif
