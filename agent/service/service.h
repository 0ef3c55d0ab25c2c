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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct service;
struct session;

/* `socket`: the VM's QMP socket, else its port. NULL with `error` set when there is no control socket for it. */
struct service *service_new(struct session *session, const char *socket, char **error);
void service_free(struct service *service);	/* NULL is allowed */

/* Call it after each session_step, in the same thread. Never waits. */
void service_step(struct service *service);
int service_fd(const struct service *service);	/* for poll() until the next step: somebody comes; -1: is there */

/* ---- the control socket ---- */

/*
 * A private socket of a live ktop. QEMU serves only one client on a socket, so other ktops of the same user ask the
 * live ktop instead. The control socket is in a folder of mode 0700. Its name is the device and inode of the VM's
 * socket. A request is one line of words, separated by 0x1f. An answer is a line with "ok" or "failed" and the size of
 * a text, and then the text. A client that closes its side for writing wants the answer now.
 */

enum { CONTROL_REQUEST_MAX = 4096, CONTROL_WORDS_MAX = 64 };	/* bytes of a line; words in it */
#define CONTROL_SEPARATOR "\x1f"

/* Where the live ktop of a VM listens, in fresh memory. `socket`: the VM's QMP socket or port. NULL: `error` is set. */
char *control_socket_path(const char *socket, char **error);
char *control_socket_folder(void);		/* the folder of all control sockets, in fresh memory */
bool control_socket_is_live(const char *path);	/* a ktop listens there */

/* ---- the live ktop's side: never waits ---- */

struct control_socket;

enum {
	CONTROL_CLIENTS = 64,		/* at once, numbered from 0; others wait until they are accepted */
	CONTROL_PATIENCE_MS = 5000,	/* with a client that sends no request, or does not take its answer */
};

struct control_sink {
	void *context;
	/* A request came: answer it by control_socket_answer, now or later. The words live for the call only. */
	void (*request)(void *context, unsigned client, char *const *words, size_t count);
	void (*hurried)(void *context, unsigned client);	/* the client wants its answer now */
	void (*gone)(void *context, unsigned client);	/* the client waits no longer: no answer is wanted */
};

/* Listens at a path of control_socket_path. Removes what killed ktops left in the folder. NULL with `error` set. */
struct control_socket *control_socket_new(const char *path, const struct control_sink *sink,
	char **error);
void control_socket_free(struct control_socket *control);	/* removes the socket's file, too */
const char *control_socket_at(const struct control_socket *control);	/* its path */
int control_socket_fd(const struct control_socket *control);	/* readable when somebody comes */
bool control_socket_idle(const struct control_socket *control);	/* nobody is connected */

/* Accepts clients, reads requests and writes answers, as far as that needs no wait. `now`: host ns. */
void control_socket_step(struct control_socket *control, uint64_t now);
/* Copies the text. Without effect if the client is gone, or has an answer already. */
void control_socket_answer(struct control_socket *control, unsigned client, bool ok,
	const char *text, size_t size);

#endif
