/* SPDX-License-Identifier: MIT */
/*
 * The interrupt controllers: the local APIC of each CPU, with its timer (Intel SDM 3A, chapter 10), and the I/O APIC
 * for devices (Intel 82093AA). `apic`: the id of a local APIC.
 */
#ifndef APIC_H
#define APIC_H

#include <stdint.h>

struct acpi_machine;

/* thread, at start-up. Map: once. Start: then, on each CPU. */
void apic_map(const struct acpi_machine *machine);
void apic_start(void);

/* Any context. The id of this CPU's local APIC. */
uint32_t apic_id(void);

/* interrupts off. Tells the local APIC that the interrupt is handled. */
void apic_done(void);

/* Interrupts off or thread. Messages to another CPU: an interrupt, an NMI, and the two that start it. */
void apic_kick(uint32_t apic);
void apic_nmi(uint32_t apic);
void apic_init(uint32_t apic);
void apic_start_up(uint32_t apic, uint32_t address);

/* interrupts off. Has the timer interrupt after so many ticks of its clock, 0: never. Left: ticks until then. */
void apic_timer(uint32_t ticks);
uint32_t apic_timer_left(void);

/* thread. From now on ISA interrupt `irq` comes to this CPU as `vector`. */
void apic_route(uint32_t irq, uint32_t vector);

#endif
