/* SPDX-License-Identifier: MIT */
/* Words to the compiler, for what runs at each sample: there a call takes as long as its work. */
#ifndef KTOP_HINTS_H
#define KTOP_HINTS_H

#define KTOP_INLINE static inline __attribute__((always_inline))
#define KTOP_RARE(condition) __builtin_expect(condition, 0)

#endif
