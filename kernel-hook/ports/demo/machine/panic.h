/* SPDX-License-Identifier: MIT */
/* The end, for a fault of the kernel's own. */
#ifndef PANIC_H
#define PANIC_H

/* Any context. Says why on the console, and halts this CPU for good. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
