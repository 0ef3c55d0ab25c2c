/* SPDX-License-Identifier: MIT */
/*
 * A live machine as a source: QEMU over QMP, the guest's port, and behind the port the guest's hook, which obeys
 * control lines.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

struct source;

/* The arguments are those of link_new. */
struct source *live_new(const char *qmp, const char *port, bool plug);

#endif
