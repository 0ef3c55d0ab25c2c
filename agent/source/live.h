/* SPDX-License-Identifier: MIT */
/*
 * A live machine as a source: QEMU and the port of its guest, and the guest's hook behind that, which
 * obeys control lines.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

struct source;

/* As link_new. */
struct source *live_new(const char *qmp, const char *port, bool plug);

#endif
