/* SPDX-License-Identifier: MIT */
/* A screen in all its looks as one text, for a golden file. */
#ifndef SHEET_H
#define SHEET_H

struct stage;

/*
 * The stage's screen at 80x24, 120x40, 200x60, 40x10 and 20x5: in UTF-8; in ASCII, of which only
 * the rows that differ; and the styles of its cells, which test_canvas has in colour and in none.
 */
void sheet_check(struct stage *stage, const char *golden);

#endif
