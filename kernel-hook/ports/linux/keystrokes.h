/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Gives PS/2 bytes to the hook before Linux' drivers get them. Thread. If another module does so, the log says it. */
#ifndef KTOP_LINUX_KEYSTROKES_H
#define KTOP_LINUX_KEYSTROKES_H

struct ktop;

void keystrokes_start(struct ktop *ktop);
void keystrokes_stop(void);

#endif
