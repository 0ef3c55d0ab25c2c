/* SPDX-License-Identifier: MIT */
/*
 * A unix socket as the way out (transport.h): it listens, and serves one host at a time; others wait until that one
 * has gone, as with a port of QEMU's own. Nothing here waits.
 */
#ifndef PLUGIN_SOCKET_H
#define PLUGIN_SOCKET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "../transport.h"
#include "../wire.h"

struct plugin_socket {
	struct ktop_transport transport;	/* the first member */
	int listener, client;			/* -1: none */
	uint32_t connections;
	uint32_t size, sent;			/* bytes of the buffer that are to go, and have gone */
	uint8_t buffer[KTOP_PACKET_MAX];
	char path[108];				/* as struct sockaddr_un has it */
};

/* NULL, or why it cannot listen there. A file that a dead one has left is taken away. */
const char *plugin_socket_listen(struct plugin_socket *socket, const char *path);

/* Does not listen: serves this connected client alone, until it has gone; -1: none. Takes it over. */
void plugin_socket_serve(struct plugin_socket *socket, int client);

/* What to wait for: who comes, what it says, or room for what it has not read yet. */
struct pollfd plugin_socket_wait(const struct plugin_socket *socket);

/* Takes its file away. Whoever is connected stays. */
void plugin_socket_remove(struct plugin_socket *socket);

#endif
