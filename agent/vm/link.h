/* SPDX-License-Identifier: MIT */
/*
 * The two connections to one VM: QMP, and the port of its guest. Made by steps of the caller's loop,
 * and made anew when they break, at most twice a second. What the guest sends is for others; here it only counts that
 * something came.
 */
#ifndef LINK_H
#define LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/vm/qmp/qmp.h"

struct link;
struct port_socket;

/* Why there may be nothing to see, in the order in which things come up. */
enum link_state {
	LINK_NO_PORT,			/* the VM has no port of ours */
	LINK_CONNECTING,		/* not connected to its socket */
	LINK_TAKEN,			/* connected behind another client */
	LINK_NOT_OPENED,		/* connected, not a byte from the guest yet */
	LINK_NO_HELLO,			/* bytes, but no guest facts yet */
	LINK_UP,
	LINK_SILENT,			/* up, but nothing comes although the VM runs */
	LINK_LOST,			/* was up; the other side closed */
};

enum {
	LINK_RETRY_MS = 500,
	LINK_SILENT_MS = 2000,		/* twenty heartbeats of the guest: something is wrong */
};

/*
 * `qmp` or `port` may be NULL, not both; `port` overrides what QMP tells. Where QMP tells of none,
 * it is plugged in, if `plug`, as soon as the VM runs. Only the steps connect.
 */
struct link *link_new(const char *qmp, const char *port, bool plug);
void link_free(struct link *link);

/*
 * Goes on with what is under way, and tries again what is broken; handles QMP's events, looks into
 * what is silent. Never waits. True: the port has just been connected, be it anew.
 */
bool link_step(struct link *link, uint64_t now);
int link_fd(const struct link *link);		/* QMP's, to be waited for beside the port; -1: none */
uint64_t link_due(struct link *link, uint64_t now);	/* the next step, if nothing comes before */
uint64_t link_news(const struct link *link);	/* grows when link_remark may be another */

/*
 * The first try is over: it is connected, or waits for the VM to run, or has failed. Why it has: what
 * is missing, what to do; NULL: it has not, or not yet. Steps try again.
 */
bool link_settled(const struct link *link);
const char *link_failure(const struct link *link);

/* What was plugged in, and where, in a line; "" if nothing. Returns `text`. */
const char *link_plugged(const struct link *link, char *text, size_t size);

/*
 * Takes out what was plugged in, by the steps, as long as it is leaving, which ends in that time;
 * the link is of no use then. What stays, in a line; NULL: nothing.
 */
void link_leave(struct link *link, uint64_t now, int timeout_ms);
bool link_leaving(const struct link *link);
const char *link_stays(const struct link *link);

struct qmp *link_qmp(const struct link *link);		/* NULL: not connected */
struct port_socket *link_socket(const struct link *link);	/* NULL: not connected */
const struct qmp_facts *link_facts(const struct link *link);
enum vm_state link_vm(const struct link *link);

/* The port's state as far as it is known here, not knowing what the bytes say. */
enum link_state link_port_state(const struct link *link);
bool link_silent(const struct link *link);		/* the VM should run, and nothing comes */
bool link_closed(const struct link *link);		/* silent: the guest itself has closed the port */

/* What ails the connections, and what to do, in a line; "" if nothing. Returns `text`. */
const char *link_remark(const struct link *link, enum link_state state, char *text, size_t size);

void link_heard(struct link *link);			/* bytes came from the port */
void link_lost_port(struct link *link);			/* the port was closed */

#endif
