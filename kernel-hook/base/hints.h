/* SPDX-License-Identifier: MIT */
/*
 * Hints to the compiler, for the code that runs at each sample. That code is inlined, since a call would cost as
 * much as the work.
 */
#ifndef KTOP_HINTS_H
#define KTOP_HINTS_H

#define KTOP_INLINE static inline __attribute__((always_inline))
#define KTOP_RARE(condition) __builtin_expect(condition, 0)

#endif
