/*
 * A private socket of a live ktop, by which other ktops of the same user work beside it: QEMU
 * serves one client a socket. It lies in a folder of mode 0700, named by the QMP socket's device
 * and inode. A request is one line of words, divided by 0x1f; the answer "ok" or "failed" on a
 * line, then text.
 */
#ifndef CONTROL_SOCKET_H
#define CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the live ktop of a VM (by its QMP socket or port) listens; NULL with `error` set. */
char *control_socket_path(const char *socket, char **error);

/* ---- the live ktop's side: never waits ---- */

struct control_socket;

enum { CONTROL_CLIENTS = 8 };		/* at once, numbered from 0 */

struct control_sink {
	void *context;
	/* To be answered by control_socket_answer. Words are good for the call only. */
	void (*request)(void *context, unsigned client, char *const *words, size_t count);
	void (*gone)(void *context, unsigned client);	/* it will not wait for its answer */
};

struct control_socket *control_socket_new(const char *path, const struct control_sink *sink,
	char **error);
void control_socket_free(struct control_socket *control);	/* and removes it */

void control_socket_step(struct control_socket *control);
void control_socket_answer(struct control_socket *control, unsigned client, bool ok,
	const char *text, size_t size);

/* ---- the other side ---- */

/* Is there a live ktop for this VM (socket NULL: exactly one at all)? Its path, or NULL. */
char *control_socket_find(const char *socket);

/*
 * Asks and waits for the answer, in fresh memory, ended by a zero behind `size` bytes; *ok as the
 * other side says. NULL with `error` set when it cannot be asked, or at the deadline (util_now).
 */
char *control_socket_ask(const char *path, char *const *words, size_t count, uint64_t deadline,
	bool *ok, size_t *size, char **error);

#endif
