/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include "acpi.h"
#include "apic.h"
#include "memory.h"
#include "vector.h"
#include "x86.h"

/* Offsets of the registers, in bytes. */
enum {
	ID = 0x20, END = 0xb0, SPURIOUS = 0xf0, COMMAND_LOW = 0x300, COMMAND_HIGH = 0x310,
	TIMER = 0x320, TIMER_START = 0x380, TIMER_NOW = 0x390, TIMER_DIVIDE = 0x3e0,
};
enum { ENABLE = 0x100, DIVIDE_BY_1 = 0xb };
enum { FIXED = 0x4000, NMI = 0x4400, INIT = 0x4500, START_UP = 0x4600, PENDING = 0x1000 };
enum { IO_SELECT = 0, IO_WINDOW = 0x10, IO_REDIRECTION = 0x10 };

static volatile uint8_t *local, *io;
static uint32_t lines[16];

static uint32_t read(uint32_t at)
{
	return *(volatile uint32_t *)(local + at);
}

static void write(uint32_t at, uint32_t value)
{
	*(volatile uint32_t *)(local + at) = value;
}

static void io_write(uint32_t at, uint32_t value)
{
	*(volatile uint32_t *)(io + IO_SELECT) = at;
	*(volatile uint32_t *)(io + IO_WINDOW) = value;
}

void apic_map(const struct acpi_machine *machine)
{
	local = memory_at(machine->local_apic);
	io = machine->io_apic != 0 ? memory_at(machine->io_apic) : NULL;
	for (uint32_t i = 0; i < 16; i++)
		lines[i] = machine->lines[i];
	out8(0x21, 0xff);		/* masks the old controllers (Intel 8259A) */
	out8(0xa1, 0xff);
}

void apic_start(void)
{
	write(SPURIOUS, ENABLE | VECTOR_SPURIOUS);
	write(TIMER_DIVIDE, DIVIDE_BY_1);
	write(TIMER, VECTOR_CLOCK);
}

uint32_t apic_id(void)
{
	return read(ID) >> 24;
}

void apic_done(void)
{
	write(END, 0);
}

/* A command is written to two registers. Between the two writes no interrupt handler may send another. */
static void send(uint32_t apic, uint32_t command)
{
	unsigned long flags = irq_save();

	while (read(COMMAND_LOW) & PENDING)
		cpu_pause();
	write(COMMAND_HIGH, apic << 24);
	write(COMMAND_LOW, command);
	irq_restore(flags);
}

void apic_kick(uint32_t apic)
{
	send(apic, FIXED | VECTOR_KICK);
}

void apic_nmi(uint32_t apic)
{
	send(apic, NMI);
}

void apic_init(uint32_t apic)
{
	send(apic, INIT);
}

void apic_start_up(uint32_t apic, uint32_t address)
{
	send(apic, START_UP | address >> 12);
}

void apic_timer(uint32_t ticks)
{
	write(TIMER_START, ticks);
}

uint32_t apic_timer_left(void)
{
	return read(TIMER_NOW);
}

void apic_route(uint32_t irq, uint32_t vector)
{
	uint32_t entry = IO_REDIRECTION + 2 * lines[irq];

	if (io == NULL)
		return;
	io_write(entry + 1, apic_id() << 24);
	io_write(entry, vector);
}
