/* SPDX-License-Identifier: MIT */
/*
 * The top of every screen: what am I looking at, is it live, can I trust it; and a bar and a
 * histogram per CPU, which fold into a summary when all would take more than a third of the rows.
 */
#ifndef HEADER_H
#define HEADER_H

struct area;
struct canvas;
struct keys;
struct picture;
struct scope;

/* Draws at the top of the area, at most a third of its rows, or one; returns the rows used. */
int header_draw(struct canvas *canvas, struct area area, const struct picture *picture,
	const struct scope *scope);

/* For the status line while there is nothing else to say: why the picture stands, or its limits. */
enum { HEADER_REMARK = 200 };
const char *header_remark(const struct picture *picture, const struct keys *keys,
	char text[HEADER_REMARK]);

#endif
