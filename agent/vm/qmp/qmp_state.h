/* SPDX-License-Identifier: MIT */
/* How QEMU's words for a machine's state map to ours (qapi/run-state.json). */
#ifndef QMP_STATE_H
#define QMP_STATE_H

#include "qmp.h"

/* The state when query-status tells this RunState, or this event comes, in that one. */
enum vm_state qmp_state_told(enum vm_state state, const char *status);
enum vm_state qmp_state_after(enum vm_state state, const char *event);

#endif
