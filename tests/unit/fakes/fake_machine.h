/* SPDX-License-Identifier: MIT */
/* A machine behind a fake QMP. It answers what ktop asks when it plugs the port in, and takes the devices. */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include <stdbool.h>

#define MACHINE_REFUSES "\"error\": {\"desc\": \"not today\"}"
#define MACHINE_HAS(name, type) "{\"name\": \"" name "\", \"type\": \"child<" type ">\"}"

/* The requests that change the machine are counted, from 1. Number `odd` goes wrong. */
struct machine {
	const char *type;
	const char *board, *devices;	/* entries of the lists of /machine and of peripheral-anon */
	const char *controller;		/* the list of the children of those devices, and of the board's bridge */
	bool hotplug;			/* the bus on the board takes devices at run time */
	bool full;			/* the controller has no room for another port */
	bool keeps;			/* the guest releases no controller */
	int goes;			/* after so many questions about it, it goes; 0: never by itself */
	int requests;			/* how often the guest was asked to release it */
	bool paused;
	unsigned busy;			/* how often a chardev is still called busy after it became free */

	bool passed, chardev, held, port, plugged;	/* what the machine has now; `plugged`: a controller */
	bool small;			/* that controller was to have ktop's port and no more */
	int changes, odd;
	const char *oddity;		/* the answer of number `odd`, as in fake_answer */
	char *text;
};

extern const struct machine machine_pc, machine_q35, machine_microvm;
extern const struct machine machine_with_controller;	/* a q35 that had one from its start */

/* The answer to a request, for fake_script.machine. `context` is the struct machine. */
const char *machine_answer(void *context, const char *line);

#endif
