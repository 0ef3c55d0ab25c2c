/* SPDX-License-Identifier: MIT */
/* The other CPUs. */
#ifndef SMP_H
#define SMP_H

struct acpi_machine;

/* thread, at start-up. Numbers the CPUs and starts the others, which then run threads. */
void smp_start(const struct acpi_machine *machine);

/* boot.S calls smp_main() on each other CPU, with the stack pointer smp_stack. */
_Noreturn void smp_main(void);
extern char *smp_stack;

#endif
