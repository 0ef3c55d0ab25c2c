/* SPDX-License-Identifier: MIT */
/*
 * A live machine as a source: QEMU over QMP, and what samples the guest and obeys control lines. That is the guest's
 * hook, behind the guest's port; or ktop's plugin in QEMU, or its client of QEMU's gdb stub, behind a socket each.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>

struct source;

struct live_options {
	const char *qmp;		/* the QMP socket's path; NULL: only the port is used */
	const char *port;		/* the port's socket; NULL: QMP tells it */
	int choice;			/* enum link_choice (vm/link.h): who samples */
	bool no_plug;			/* plug no port into a VM that has none */
	char *(*ended)(void *context, bool *well);	/* as in link_set_own (vm/link.h); NULL: somebody else's QEMU */
	void *ended_context;
	const char *kernel;		/* a file of the kernel, which may have the hook; NULL: QMP's alone */
};

/* Only the steps connect. The options need not outlive the call. */
struct source *live_new(const struct live_options *options);

#endif
