/* SPDX-License-Identifier: MIT */
/* The vectors that this kernel handles by name. 0 to 31 are the CPU's exceptions, the others interrupts. */
#ifndef VECTOR_H
#define VECTOR_H

enum {
	VECTOR_NMI = 2, VECTOR_DOUBLE_FAULT = 8, VECTOR_PAGE_FAULT = 14,
	VECTOR_CLOCK = 32, VECTOR_KEYBOARD, VECTOR_MOUSE, VECTOR_KICK, VECTOR_SPURIOUS = 255,
};

#endif
