/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The names of the kernel's functions, and its modules as they are loaded and unloaded. Thread. */
#ifndef KTOP_LINUX_SYMBOLS_H
#define KTOP_LINUX_SYMBOLS_H

#include <linux/types.h>

struct ktop;
struct ktop_symbol;

/* After private_init(). Start: 0, or a negative errno; -ENOENT: this kernel keeps no names. */
int symbols_start(void);
void symbols_stop(void);

/* The drainer. Tell: gives the hook the modules that are new. After: ktop_facts.symbols (ktop.h). */
void symbols_tell(struct ktop *ktop);
bool symbols_after(uint64_t from, struct ktop_symbol *symbol);

#endif
