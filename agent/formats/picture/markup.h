/* SPDX-License-Identifier: MIT */
/*
 * Texts and numbers in pictures. A name may be any bytes. Written here, it is harmless, valid and can be seen: a byte
 * that no reader should get stands as \x1b, a character as \u{202e}, and a backslash as two. So different names stay
 * different.
 */
#ifndef MARKUP_H
#define MARKUP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * `most`: bytes of it that are written; 0: all. Behind a text that is cut stand its length and a number made of all of
 * it.
 */
void markup_xml(FILE *to, const char *text, size_t most);	/* as content, or between double quotes */
void markup_json(FILE *to, const char *text, size_t most);	/* with its quotes; harmless in a <script>, too */
size_t markup_width(const char *text);		/* characters of it as it is written */

/* The first characters of a text, so that it has `most` in all; then "…". */
void markup_cut(FILE *to, const char *text, size_t most);

void markup_count(FILE *to, uint64_t count);		/* 1,234 */
void markup_share(FILE *to, double part, double whole);	/* 43.8%, 0.052% */
void markup_time(FILE *to, uint64_t ns);		/* 1.25 s */

/* ---- the head ---- */

/* What stands at the head of a picture. */

struct picture;

const char *head_title(const struct picture *picture);

/* A line as XML: the machine, the range, what was sampled and lost. */
void head_about(const struct picture *picture, FILE *to);

/* ---- sources ---- */

/* Scripts and styles of pictures: the files of this folder that are no C, as they are. They end with a 0. */

extern const char sources_flame_css[], sources_flame_js[], sources_report_css[], sources_report_js[];

#endif
