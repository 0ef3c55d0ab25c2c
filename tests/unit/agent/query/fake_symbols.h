/* SPDX-License-Identifier: MIT */
/*
 * symbols.h without files. A function is 256 bytes of a space: "k2" is at 0x200 of the kernel, "p7_2" at 0x200 of
 * process 7. A space may have no symbols for a while. In the upper half of a function "i2" is inlined, and "j2" in
 * the upper half of that, once they are read.
 */
#ifndef FAKE_SYMBOLS_H
#define FAKE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct symbols;

void fake_symbols_know(struct symbols *symbols, uint32_t process, bool known);	/* process < 64 */

/* From now on it is known that no code returns to this address; 0: nothing is known any more. */
void fake_symbols_return_never(struct symbols *symbols, uint64_t address);

/* From now on the inlined functions are known. */
void fake_symbols_read(struct symbols *symbols);

/* Gives a function another name from now on. Its id stays. */
/* Those below this id have lines now; 0: none has. */
void fake_symbols_read_lines(struct symbols *symbols, uint32_t functions);
void fake_symbols_rename(struct symbols *symbols, uint32_t function, const char *name);

#endif
