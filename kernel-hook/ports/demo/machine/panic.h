/* SPDX-License-Identifier: MIT */
/* How the kernel ends when it has an error of its own. */
#ifndef PANIC_H
#define PANIC_H

/* Any context. Prints why on the console, tells QEMU, and halts this CPU for ever. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Any context. The kernel above has it: `why` is what panic() prints. */
void panic_told(const char *why);

#endif
