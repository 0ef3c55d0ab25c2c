/* SPDX-License-Identifier: MIT */
/*
 * One function's code: source lines, under each its instructions, and the share of the function's samples on each. The
 * cursor stays on its line while numbers move. The function is the one that was under the cursor of the view before.
 */
#ifndef VIEW_ANNOTATE_H
#define VIEW_ANNOTATE_H

extern const struct view view_annotate;

/*
 * The cursor goes to the hottest code of this source line, "mm/page.c:120", as soon as that is known, unless the cursor
 * is moved before. If the function has no code of the line, nothing changes.
 */
void view_annotate_go(void *self, const char *line);

#endif
