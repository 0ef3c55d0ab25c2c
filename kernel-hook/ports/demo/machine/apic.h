/* SPDX-License-Identifier: MIT */
/*
 * The interrupt controllers: each CPU's own, with its timer (Intel SDM 3A, chapter 10), and the one
 * for devices (Intel 82093AA).
 */
#ifndef APIC_H
#define APIC_H

#include <stdint.h>

struct acpi_machine;

/* thread, at start-up, once; then on each CPU. */
void apic_map(const struct acpi_machine *machine);
void apic_start(void);

uint32_t apic_id(void);

/* interrupts off: this interrupt is done. */
void apic_done(void);

/* Interrupts off or thread: messages to another CPU. */
void apic_kick(uint32_t apic);
void apic_nmi(uint32_t apic);
void apic_init(uint32_t apic);
void apic_start_up(uint32_t apic, uint32_t address);

/* interrupts off: an interrupt after so many ticks of the APIC's clock; 0: none. */
void apic_timer(uint32_t ticks);
uint32_t apic_timer_left(void);

/* thread: ISA interrupt `irq` comes to this CPU as `vector`. */
void apic_route(uint32_t irq, uint32_t vector);

#endif
