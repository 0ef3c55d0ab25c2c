/* SPDX-License-Identifier: MIT */
/*
 * The transport (transport.h) of the plugin: a unix socket. It serves one client at a time, a ktop on the host. Other
 * clients wait until that one has gone, as they do at a virtio-serial port's socket. No function here waits. The
 * drainer makes all calls, but for those of plugin_socket_listen(), plugin_socket_serve() and plugin_socket_remove():
 * they come before it begins or after it has ended.
 */
#ifndef PLUGIN_SOCKET_H
#define PLUGIN_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../transport.h"
#include "../wire.h"

struct plugin_socket {
	struct ktop_transport transport;	/* the first member */
	int listener, client;			/* -1: none */
	uint32_t connections;			/* clients so far */
	uint32_t size, sent;			/* bytes in the buffer; how many of them are sent */
	uint8_t buffer[KTOP_PACKET_MAX];
	char path[108];				/* as long as in struct sockaddr_un */
	struct stat is;				/* the file there, if it listens */
};

/* Replaces only a socket on which nobody listens any more. Returns NULL, or why it cannot listen there. */
const char *plugin_socket_listen(struct plugin_socket *socket, const char *path);

/* Serves this connected client alone, and does not listen. Owns `client` from now on; -1: there is none. */
void plugin_socket_serve(struct plugin_socket *socket, int client);

/* What to poll for: a client that connects, a line from it, or room for bytes that it has not taken yet. */
struct pollfd plugin_socket_wait(const struct plugin_socket *socket);

/* Removes the socket file, so nobody else can connect; not another file there. A client that is connected stays. */
void plugin_socket_remove(struct plugin_socket *socket);

#endif
