/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/unix_socket.h"
#include "gdb_connect.h"

/* TCP_NODELAY: a small packet must not wait until the one before it is acknowledged. */
static int connect_tcp(unsigned long port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = port && port <= UINT16_MAX ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1, on = 1;

	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) == 0 &&
			fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int gdb_connect(const char *stub)
{
	static const char by_path[] = "unix:", by_port[] = "tcp:";
	const char *port = strrchr(stub, ':');

	if (strncmp(stub, by_path, strlen(by_path)) == 0)
		return unix_socket_connect(stub + strlen(by_path));
	return port && strncmp(stub, by_port, strlen(by_port)) == 0 ? connect_tcp(strtoul(port + 1, NULL, 10)) : -1;
}
