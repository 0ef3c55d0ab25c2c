/* SPDX-License-Identifier: MIT */
/* Translates QEMU's words for a machine's state (qapi/run-state.json). */
#ifndef QMP_STATE_H
#define QMP_STATE_H

#include "qmp.h"

/* Both return the new state; `state` is the one before. */
enum vm_state qmp_state_told(enum vm_state state, const char *status);	/* query-status has told this RunState */
enum vm_state qmp_state_after(enum vm_state state, const char *event);	/* this event has come */

#endif
