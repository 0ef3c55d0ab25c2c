/* SPDX-License-Identifier: MIT */
/* The PS/2 controller: keyboard and mouse (IBM PS/2 Technical Reference; scan code set 1). */
#ifndef KEYBOARD_H
#define KEYBOARD_H

/* thread, at start-up */
void keyboard_start(void);

/* interrupts off. Handles the interrupts of keyboard and mouse. */
void keyboard_interrupt(void);

#endif
