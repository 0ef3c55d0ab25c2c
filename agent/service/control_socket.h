/* SPDX-License-Identifier: MIT */
/*
 * A private socket of a live ktop, by which other ktops of the same user work beside it: QEMU
 * serves one client a socket. It lies in a folder of mode 0700, named by the QMP socket's device
 * and inode. A request is one line of words, divided by 0x1f; the answer "ok" or "failed" and
 * the size of a text, on a line, then that text. Who has closed its side for writing wants
 * the answer now.
 */
#ifndef CONTROL_SOCKET_H
#define CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTROL_REQUEST_MAX = 4096, CONTROL_WORDS_MAX = 64 };	/* bytes of a line; words in it */
#define CONTROL_SEPARATOR "\x1f"

/* Where the live ktop of a VM (by its QMP socket or port) listens; NULL with `error` set. */
char *control_socket_path(const char *socket, char **error);
char *control_socket_folder(void);		/* where all of them lie */
bool control_socket_is_live(const char *path);	/* somebody listens there */

/* ---- the live ktop's side: never waits ---- */

struct control_socket;

enum {
	CONTROL_CLIENTS = 64,		/* at once, numbered from 0; others wait to be taken */
	CONTROL_PATIENCE_MS = 5000,	/* with who sends no request, or does not take its answer */
};

struct control_sink {
	void *context;
	/* To be answered by control_socket_answer. Words are good for the call only. */
	void (*request)(void *context, unsigned client, char *const *words, size_t count);
	void (*hurried)(void *context, unsigned client);	/* it wants its answer now */
	void (*gone)(void *context, unsigned client);	/* it will not wait for its answer */
};

/* At a path of control_socket_path. What killed ktops have left there goes. */
struct control_socket *control_socket_new(const char *path, const struct control_sink *sink,
	char **error);
void control_socket_free(struct control_socket *control);	/* and removes it */
const char *control_socket_at(const struct control_socket *control);
bool control_socket_idle(const struct control_socket *control);	/* nobody is connected */

void control_socket_step(struct control_socket *control, uint64_t now);	/* host ns */
void control_socket_answer(struct control_socket *control, unsigned client, bool ok,
	const char *text, size_t size);

#endif
