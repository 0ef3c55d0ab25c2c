/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "qmp_state.h"

/* A kernel that has panicked stays so, even if QEMU was told to let it run. */
enum vm_state qmp_state_told(enum vm_state state, const char *status)
{
	if (strcmp(status, "running") == 0)
		return state == VM_PANICKED ? state : VM_RUNNING;
	if (strcmp(status, "shutdown") == 0)
		return VM_SHUTDOWN;
	return strcmp(status, "guest-panicked") == 0 ? VM_PANICKED : VM_PAUSED;
}

/* QEMU also sends STOP for a machine that has shut down or panicked. It changes nothing then: those states say more. */
enum vm_state qmp_state_after(enum vm_state state, const char *event)
{
	bool ended = state == VM_SHUTDOWN || state == VM_PANICKED;

	if (strcmp(event, "RESUME") == 0)
		return VM_RUNNING;
	if (strcmp(event, "STOP") == 0)
		return ended ? state : VM_PAUSED;
	if (strcmp(event, "SHUTDOWN") == 0)
		return ended ? state : VM_SHUTDOWN;
	if (strcmp(event, "RESET") == 0)
		return ended ? VM_PAUSED : state;
	return strcmp(event, "GUEST_PANICKED") == 0 ? VM_PANICKED : state;
}
