/* SPDX-License-Identifier: MIT */
/* The console of a QEMU that ktop has started: its newest lines; and what is typed here goes to the guest. */
#ifndef VIEW_CONSOLE_H
#define VIEW_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/frame/view.h"

struct console;

extern const struct view view_console;

void view_console_begin(void *self, struct console *console);	/* borrowed; NULL: there is none */
bool view_console_changed(void *self);			/* something has come since it was drawn */

/* While the user types to the guest, each key and each pasted character goes there: codes as in keys.h. */
bool view_console_types(const void *self);
void view_console_look(void *self);			/* the user only looks at it from now on */
bool view_console_type(void *self, uint32_t code);	/* false: the guest has not taken it */

#endif
