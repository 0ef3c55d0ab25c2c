/* SPDX-License-Identifier: MIT */
#ifndef TIME_H
#define TIME_H

/* The demo kernel's own, as each kernel has: it is no part of the hook, and knows nothing of the host. */
enum { NS_PER_MS = 1000000, NS_PER_SECOND = 1000000000 };

#endif
