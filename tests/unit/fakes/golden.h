/* SPDX-License-Identifier: MIT */
/* Compares screens with tests/golden/NAME.txt. `make golden` sets GOLDEN=write, which writes these files. */
#ifndef GOLDEN_H
#define GOLDEN_H

struct canvas;

void golden_check_text(const char *name, const char *text);
void golden_check(const char *name, const struct canvas *canvas);	/* without styles */

#endif
