/* SPDX-License-Identifier: MIT */
/*
 * What a live ktop does for others by its control socket: ctl WORDS, report OPTIONS, record OPTIONS,
 * vm (which one it has). A report or a recording that failed is answered by what there is of it,
 * CONTROL_SEPARATOR, and why.
 */
#ifndef SERVICE_H
#define SERVICE_H

struct service;
struct session;

/* `socket`: the VM's QMP socket, else its port. NULL with `error` set. */
struct service *service_new(struct session *session, const char *socket, char **error);
void service_free(struct service *service);	/* NULL: nothing */

/* To be called after each session_step, by the same thread. Never waits. */
void service_step(struct service *service);

#endif
