/* SPDX-License-Identifier: MIT */
/* The first serial port, as a line printer. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdarg.h>
#include <stdint.h>

void console_start(void);

/* thread or interrupts off: %s %c %d %u %x %ld %lu %lx %%, with a width and a leading 0. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* the same, without its lock: for a panic */
void print_now(const char *format, va_list arguments);

void console_write(const char *bytes, uint64_t size);

#endif
