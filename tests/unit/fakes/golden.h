/* SPDX-License-Identifier: MIT */
/* Screens as files: tests/golden/NAME.txt. GOLDEN=write in the environment writes them. */
#ifndef GOLDEN_H
#define GOLDEN_H

struct canvas;

void golden_check_text(const char *name, const char *text);
void golden_check(const char *name, const struct canvas *canvas);	/* without styles */

#endif
