/* SPDX-License-Identifier: MIT */
/*
 * A live machine as a source: QEMU over QMP, and what samples the guest and obeys control lines. That is the guest's
 * hook, behind the guest's port, or ktop's plugin in QEMU, behind a socket of its own.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

#include "agent/vm/link.h"

struct source;

/* The arguments are those of link_new. */
struct source *live_new(const char *qmp, const char *port, bool plug, enum link_choice choice);

#endif
