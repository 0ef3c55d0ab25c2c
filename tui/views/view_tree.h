/* SPDX-License-Identifier: MIT */
/*
 * The call tree, top-down or bottom-up, whose rows fold and unfold; and the callers and callees of one function, with
 * the function in the middle. The cursor stays on its row's path while numbers move.
 */
#ifndef VIEW_TREE_H
#define VIEW_TREE_H

extern const struct view view_tree;

#endif
