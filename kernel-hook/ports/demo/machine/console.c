/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "console.h"
#include "panic.h"
#include "spin.h"
#include "x86.h"

enum { COM1 = 0x3f8, DATA = COM1, LINE_STATUS = COM1 + 5, CAN_SEND = 0x20, PVPANIC = 0x505 };

static struct spin lock;
static char last[128];			/* what a panic prints; ends with a zero */
static uint32_t last_room;		/* left in it, in a panic; else 0 */

static void put(char c)
{
	if (c == '\n')
		put('\r');
	if (last_room)
		last[sizeof(last) - 1 - last_room--] = c;
	for (uint32_t tries = 0; !(in8(LINE_STATUS) & CAN_SEND) && tries < 100000; tries++)
		cpu_pause();
	out8(DATA, (uint8_t)c);
}

/* 115200 baud, 8 data bits, no parity, no interrupts. */
void console_start(void)
{
	static const uint8_t settings[][2] = {
		{ 1, 0 }, { 3, 0x80 }, { 0, 1 }, { 1, 0 }, { 3, 3 }, { 2, 1 }, { 4, 3 },
	};

	for (uint32_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		out8(COM1 + settings[i][0], settings[i][1]);
}

static void put_number(uint64_t value, uint32_t base, uint32_t width, char fill)
{
	char digits[24];
	uint32_t count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	while (width-- > count)
		put(fill);
	while (count > 0)
		put(digits[--count]);
}

static void put_text(const char *text, uint32_t width)
{
	for (; *text != '\0'; text++) {
		put(*text);
		width -= width > 0;
	}
	while (width-- > 0)
		put(' ');
}

static void put_signed(int64_t value)
{
	if (value < 0)
		put('-');
	put_number(value < 0 ? -(uint64_t)value : (uint64_t)value, 10, 0, ' ');
}

/* Prints one conversion; `format` is behind its '%'. Returns where the format goes on. */
static const char *convert(const char *format, va_list *arguments)
{
	char fill = *format == '0' ? '0' : ' ';
	uint32_t width = 0;
	bool wide = false;

	for (; *format >= '0' && *format <= '9'; format++)
		width = width * 10 + (uint32_t)(*format - '0');
	for (; *format == 'l'; format++)
		wide = true;
	switch (*format) {
	case 's':
		put_text(va_arg(*arguments, const char *), width);
		break;
	case 'c':
		put((char)va_arg(*arguments, int));
		break;
	case 'd':
		put_signed(wide ? va_arg(*arguments, int64_t) : va_arg(*arguments, int));
		break;
	case 'u':
	case 'x':
		put_number(wide ? va_arg(*arguments, uint64_t) : va_arg(*arguments, uint32_t),
			*format == 'u' ? 10 : 16, width, fill);
		break;
	default:
		put(*format);
	}
	return format + 1;
}

void print_now(const char *format, va_list arguments)
{
	va_list rest;

	va_copy(rest, arguments);
	while (*format != '\0') {
		char c = *format++;

		if (c == '%' && *format != '\0')
			format = convert(format, &rest);
		else
			put(c);
	}
	va_end(rest);
}

void print(const char *format, ...)
{
	unsigned long flags = spin_lock_irq(&lock);
	va_list arguments;

	va_start(arguments, format);
	print_now(format, arguments);
	va_end(arguments);
	spin_unlock_irq(&lock, flags);
}

void console_write(const char *bytes, uint64_t size)
{
	unsigned long flags = spin_lock_irq(&lock);

	for (uint64_t i = 0; i < size; i++)
		put(bytes[i]);
	spin_unlock_irq(&lock, flags);
}

_Noreturn void panic(const char *format, ...)
{
	va_list arguments;

	__asm__ volatile("cli");	/* and no trace event of it: anything may be broken */
	va_start(arguments, format);
	put_text("panic: ", 0);
	last_room = sizeof(last) - 1;
	print_now(format, arguments);
	last_room = 0;
	panic_told(last);
	put('\n');
	va_end(arguments);
	out8(PVPANIC, 1);		/* tells QEMU (docs/specs/pvpanic); no other device has this port */
	for (;;)
		__asm__ volatile("hlt");
}
