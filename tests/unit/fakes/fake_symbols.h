/* SPDX-License-Identifier: MIT */
/*
 * symbols.h without files: a function is 256 bytes of a space, "k2" at 0x200 of the kernel, "p7_2" of
 * process 7; a space can be without symbols for a while. In the upper half of a function "i2" is
 * inlined, and "j2" in that in its upper half, once they are read.
 */
#ifndef FAKE_SYMBOLS_H
#define FAKE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct symbols;

void fake_symbols_know(struct symbols *symbols, uint32_t process, bool known);	/* process < 64 */

/* From now on it is known what is inlined. */
void fake_symbols_read(struct symbols *symbols);

/* What a function is called from now on, its id staying. */
void fake_symbols_rename(struct symbols *symbols, uint32_t function, const char *name);

#endif
