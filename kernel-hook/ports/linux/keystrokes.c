/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <linux/i8042.h>
#include <linux/printk.h>

#include "keystrokes.h"
#include "ktop.h"

enum { FROM_MOUSE = 0x20 };		/* bit of the controller's status: the byte came from the second port */

static struct ktop *listener;		/* NULL: the filter is not in place */

/* Irq off, with the controller's lock held. True: Linux drops the byte. */
static bool filter(unsigned char byte, unsigned char status, struct serio *serio)
{
	return ktop_serio(listener, status & FROM_MOUSE ? 1 : 0, byte);
}

void keystrokes_start(struct ktop *ktop)
{
	listener = ktop;
	if (i8042_install_filter(filter) == 0) {
		ktop_keys_heard(ktop);
		return;
	}
	listener = NULL;
	pr_warn("ktop: the key does nothing: another module filters the keyboard; "
		"use ktop's control commands\n");
}

void keystrokes_stop(void)
{
	if (listener)
		i8042_remove_filter(filter);
	listener = NULL;
}
