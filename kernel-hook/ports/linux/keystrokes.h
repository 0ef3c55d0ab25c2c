/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* PS/2 bytes on their way to the kernel's drivers, shown to the hook. Thread. */
#ifndef KTOP_LINUX_KEYSTROKES_H
#define KTOP_LINUX_KEYSTROKES_H

struct ktop;

void keystrokes_start(struct ktop *ktop);
void keystrokes_stop(void);

#endif
