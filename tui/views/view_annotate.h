/* SPDX-License-Identifier: MIT */
/*
 * One function's code: source lines, under each its instructions, and the share of the function's samples on each. The
 * cursor stays on its line while numbers move. The function is the one that was under the cursor of the view before.
 */
#ifndef VIEW_ANNOTATE_H
#define VIEW_ANNOTATE_H

extern const struct view view_annotate;

#endif
