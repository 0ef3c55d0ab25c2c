/* SPDX-License-Identifier: MIT */
/* A machine behind a fake QMP that takes devices, as far as plugging the port in asks for it. */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include <stdbool.h>

#define MACHINE_REFUSES "\"error\": {\"desc\": \"not today\"}"
#define MACHINE_HAS(name, type) "{\"name\": \"" name "\", \"type\": \"child<" type ">\"}"

/*
 * What changes it has a number, from 1; the one that is `odd` goes
 * wrong.
 */
struct machine {
	const char *type;
	const char *board, *devices;	/* in the lists of /machine and of peripheral-anon */
	const char *controller;		/* children of those devices, and of the board's bridge */
	bool hotplug;			/* of the bus on the board */
	bool full;			/* the controller takes no more port */
	bool keeps;			/* the guest lets no controller go */
	int goes;			/* or after so many looks at it; 0: never by itself */
	int requests;			/* to let it go */
	bool paused;
	unsigned busy;			/* how often a chardev that is free is busy yet */

	bool passed, chardev, held, port, plugged;	/* what there is; plugged: a controller */
	int changes, odd;
	const char *oddity;		/* as fake_answer */
	char *text;
};

extern const struct machine machine_pc, machine_q35, machine_microvm;
extern const struct machine machine_with_controller;	/* q35, from its start */

/* The answer to a request, as fake_script's; `context` is the machine. */
const char *machine_answer(void *context, const char *line);

#endif
