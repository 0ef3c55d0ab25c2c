/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "hook_calls.h"
#include "keyboard.h"
#include "ktop.h"
#include "ports/demo/machine/apic.h"
#include "ports/demo/machine/console.h"
#include "ports/demo/machine/vector.h"
#include "ports/demo/machine/x86.h"

enum { DATA = 0x60, STATUS = 0x64, COMMAND = 0x64 };
enum { HAS_BYTE = 1, BUSY = 2, FROM_MOUSE = 0x20, NO_CONTROLLER = 0xff };
enum { READ_SETTINGS = 0x20, WRITE_SETTINGS = 0x60, ENABLE_KEYBOARD = 0xae };
enum { INTERRUPTS = 3, TRANSLATE = 0x40, CLOCKS_OFF = 0x30 };
enum { TRIES = 10000, BREAK = 0x80 };

static void drop_bytes(void)
{
	for (uint32_t i = 0; i < 32 && (in8(STATUS) & HAS_BYTE); i++)
		in8(DATA);
}

static void send(uint16_t port, uint8_t byte)
{
	for (uint32_t i = 0; i < TRIES && (in8(STATUS) & BUSY); i++)
		cpu_pause();
	out8(port, byte);
}

/* The controller's command byte: interrupts, clocks, translation to set 1. */
static uint8_t settings(void)
{
	send(COMMAND, READ_SETTINGS);
	for (uint32_t i = 0; i < TRIES && !(in8(STATUS) & HAS_BYTE); i++)
		cpu_pause();
	return in8(DATA);
}

void keyboard_start(void)
{
	uint8_t now;

	if (in8(STATUS) == NO_CONTROLLER)
		return;
	drop_bytes();
	now = settings();
	send(COMMAND, WRITE_SETTINGS);
	send(DATA, (uint8_t)((now | INTERRUPTS | TRANSLATE) & ~CLOCKS_OFF));
	send(COMMAND, ENABLE_KEYBOARD);
	drop_bytes();
	apic_route(1, VECTOR_KEYBOARD);
	apic_route(12, VECTOR_MOUSE);
	ktop_keys_heard(hook);
}

/* Prints a letter when its key goes down. Nothing else is done with it. */
static void echo(uint8_t code)
{
	static const char letters[] = "??1234567890-=\b\tqwertyuiop[]\n?asdfghjkl;'`?\\zxcvbnm,./";

	if (!(code & BREAK) && code < sizeof(letters) - 1 && letters[code] != '?')
		print("%c", letters[code]);
	else if (code == 0x39)
		print(" ");
}

/* Each byte first goes to ktop, with the port from which it came. The kernel gets those that ktop does not take. */
void keyboard_interrupt(void)
{
	uint8_t status;

	while ((status = in8(STATUS)) & HAS_BYTE) {
		uint32_t index = (status & FROM_MOUSE) != 0;
		uint8_t byte = in8(DATA);

		if (!ktop_serio(hook, index, byte) && index == 0)
			echo(byte);
	}
}
