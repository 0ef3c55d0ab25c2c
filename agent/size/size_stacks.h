/* SPDX-License-Identifier: MIT */
/*
 * Code sizes as stacks, for flame graphs: a stack's weight is bytes. By function: the object, the folders of the source
 * file, the file, the function; by file, folder or object, so much of that; by namespace: the object, then the parts of
 * the namespace, then the function.
 */
#ifndef SIZE_STACKS_H
#define SIZE_STACKS_H

#include <stdbool.h>
#include <stdint.h>

struct code_sizes;
struct size_asked;

enum { SIZE_FRAMES_MAX = 64 };		/* of a stack; what would be deeper stays in one frame */

/* A stack: its frames, the root first, printable; its bytes in the two builds (size_rows.h). Each stack comes once. */
typedef void size_stacks_take(void *context, char *const *frames, uint32_t count, const uint64_t *bytes);

/* False: there is no memory. */
bool size_stacks_visit(struct code_sizes *sizes, const struct size_asked *asked, size_stacks_take *take, void *context);

#endif
