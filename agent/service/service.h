/* SPDX-License-Identifier: MIT */
/*
 * What a live ktop does for other ktops that connect to its control socket. Requests are: ctl WORDS, report OPTIONS,
 * export OPTIONS, record OPTIONS, and vm. The answer to vm is the path of the VM's socket. If a report or recording
 * fails, the answer is what there is of it, CONTROL_SEPARATOR, and why it failed. If there is nothing of it, the answer
 * may be the reason alone, without CONTROL_SEPARATOR. That to export is what belongs on the standard output,
 * CONTROL_SEPARATOR, and what belongs on the standard error.
 */
#ifndef SERVICE_H
#define SERVICE_H

struct service;
struct session;

/* `socket`: the VM's QMP socket, else its port. NULL with `error` set when there is no control socket for it. */
struct service *service_new(struct session *session, const char *socket, char **error);
void service_free(struct service *service);	/* NULL is allowed */

/* Call it after each session_step, in the same thread. Never waits. */
void service_step(struct service *service);

#endif
