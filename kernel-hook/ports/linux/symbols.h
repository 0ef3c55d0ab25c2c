/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's names for its own code, and its modules as they come and go. Thread. */
#ifndef KTOP_LINUX_SYMBOLS_H
#define KTOP_LINUX_SYMBOLS_H

#include <linux/types.h>

struct ktop;
struct ktop_symbol;

/* 0, or a negative errno: this kernel keeps no names. After private_init(). */
int symbols_start(void);
void symbols_stop(void);

/* The drainer: tells of modules that are new; and the names, as ktop.h wants them. */
void symbols_tell(struct ktop *ktop);
bool symbols_after(uint64_t from, struct ktop_symbol *symbol);

#endif
