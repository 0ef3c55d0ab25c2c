/* A byte stream to and from the guest's port: a unix socket, non-blocking. */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct source;

/* Connects; NULL with `error` set (freed by the caller). */
struct source *source_connect(const char *path, char **error);
struct source *source_from_fd(int fd);		/* takes the descriptor; used by tests */
void source_free(struct source *source);

int source_fd(const struct source *source);

/* Bytes read; 0: nothing now; -1: the other side closed or failed. */
ssize_t source_read(struct source *source, void *to, size_t size);

/*
 * Queues all of it, and sends what fits now. False when the queue (64 KiB) has no room, and nothing
 * is queued; or when the socket is gone.
 */
bool source_send(struct source *source, const void *bytes, size_t size);
bool source_wants_write(const struct source *source);
bool source_flush(struct source *source);

#endif
