/* SPDX-License-Identifier: MIT */
/* Text for people, on the first serial port. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdarg.h>
#include <stdint.h>

/* thread, at start-up, before the others */
void console_start(void);

/* thread or interrupts off. It knows %s %c %d %u %x %ld %lu %lx %%, with a width and a leading 0. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Any context. The same without the lock, for a panic. */
void print_now(const char *format, va_list arguments);

/* thread or interrupts off */
void console_write(const char *bytes, uint64_t size);

#endif
