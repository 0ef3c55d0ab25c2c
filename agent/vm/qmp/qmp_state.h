/* SPDX-License-Identifier: MIT */
/* Translates QEMU's words for a machine's state (qapi/run-state.json). */
#ifndef QMP_STATE_H
#define QMP_STATE_H

#include "qmp.h"

/* The new state, when query-status tells this RunState, or when this event comes; `state` is the one before. */
enum vm_state qmp_state_told(enum vm_state state, const char *status);
enum vm_state qmp_state_after(enum vm_state state, const char *event);

#endif
