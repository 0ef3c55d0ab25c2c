/* SPDX-License-Identifier: MIT */
/*
 * The call tree as cells, one row a depth, each as wide as its share: an icicle, or a flame. Siblings are in the order
 * of their names, so that they stand still while numbers move. A cell's colour is its function's, in every run.
 */
#ifndef VIEW_FLAME_H
#define VIEW_FLAME_H

extern const struct view view_flame;

#endif
