/* SPDX-License-Identifier: MIT */
/* A screen in all its sizes and looks as one text, for a golden file. */
#ifndef SHEET_H
#define SHEET_H

struct stage;

/*
 * The stage's screen at 80x24, 120x40, 200x60, 40x10 and 20x5: in UTF-8; in ASCII, only the rows that
 * differ; and the styles of its cells. test_canvas tests how styles look in colour and without.
 */
void sheet_check(struct stage *stage, const char *golden);

void sheet_check_view(struct stage *stage, const char *golden);	/* at 80x24, 120x36, 200x60 and 40x12, in UTF-8 alone */

#endif
