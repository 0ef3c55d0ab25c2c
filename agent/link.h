/*
 * The two connections to one VM: QMP, and the port of its guest. Made anew by itself when they
 * break, at most twice a second. What the guest sends is for others; here it only counts that
 * something came.
 */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "picture.h"
#include "qmp.h"

struct link;
struct source;

enum {
	LINK_RETRY_MS = 500,
	LINK_SILENT_MS = 2000,		/* twenty heartbeats of the guest: something is wrong */
};

/*
 * `qmp` or `port` may be NULL, not both; `port` overrides what QMP tells. Where QMP tells of none,
 * it is plugged in, if `plug`, as soon as the VM runs. Waits for QEMU's answers 30 s at most. NULL
 * with `error` set: what is missing, what to do.
 */
struct link *link_new(const char *qmp, const char *port, bool plug, char **error);

/* One that only the steps connect: never waits. */
struct link *link_wait(const char *qmp, const char *port, bool plug);
void link_free(struct link *link);

/* What was plugged in, and where, in a line; "" if nothing. Returns `text`. */
const char *link_plugged(const struct link *link, char *text, size_t size);

/* Takes that out again, in 2 s at most; the link is of no use then. False: not all is gone. */
bool link_unplug(struct link *link);

/*
 * Handles QMP's events, tries again what is broken, looks into what is silent. True: the port has
 * just been connected, be it anew.
 */
bool link_step(struct link *link, uint64_t now);

struct qmp *link_qmp(const struct link *link);		/* NULL: not connected */
struct source *link_source(const struct link *link);	/* NULL: not connected */
const struct qmp_facts *link_facts(const struct link *link);
enum vm_state link_vm(const struct link *link);

/* The port's state as far as it is known here, not knowing what the bytes say. */
enum link_state link_port_state(const struct link *link);
bool link_silent(const struct link *link);		/* the VM should run, and nothing comes */

/* What ails the connections, and what to do, in a line; "" if nothing. Returns `text`. */
const char *link_remark(const struct link *link, enum link_state state, char *text, size_t size);

/* Why nothing is known of a guest whose port stays so, and what to look at: a constant. */
const char *link_trouble(enum link_state state);

void link_heard(struct link *link);			/* bytes came from the port */
void link_lost_port(struct link *link);			/* the port was closed */

#endif
