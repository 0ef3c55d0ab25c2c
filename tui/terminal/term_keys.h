/* SPDX-License-Identifier: MIT */
/* Keys, mouse, what is pasted: term_read of term.h. For term.c, while ncurses is up. */
#ifndef TERM_KEYS_H
#define TERM_KEYS_H

#include <stdbool.h>

bool term_keys_open(void);
void term_keys_close(void);

#endif
