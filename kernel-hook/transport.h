/* SPDX-License-Identifier: MIT */
/*
 * How the hook reaches the host: packets go out in whole buffers, control lines come in as bytes. The drainer
 * alone calls these functions, in a thread. None of them waits. ktop's own driver is virtio/virtio_serial.h.
 */
#ifndef KTOP_TRANSPORT_H
#define KTOP_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

struct ktop_transport {
	/* True: a host is connected. `connections`: how often one has connected so far, from 1 on. */
	bool (*connected)(struct ktop_transport *self, uint32_t *connections);

	/* A buffer of KTOP_PACKET_MAX bytes to fill, the same one until it is sent. NULL: all are on their way. */
	void *(*buffer)(struct ktop_transport *self);

	/* Sends the first `size` bytes of that buffer. From then on the buffer is the transport's. */
	void (*send)(struct ktop_transport *self, uint32_t size);

	/* Copies up to `size` received bytes to `to`, and returns how many. 0: there are none. */
	uint32_t (*receive)(struct ktop_transport *self, void *to, uint32_t size);
};

#endif
