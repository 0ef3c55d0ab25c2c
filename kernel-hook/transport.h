/* SPDX-License-Identifier: MIT */
/*
 * The way out: a byte stream in whole buffers, and a byte stream in. Used by the drainer alone
 * (thread, one caller); no call waits.
 */
#ifndef KTOP_TRANSPORT_H
#define KTOP_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

struct ktop_transport {
	/* Is a host connected? False: what is sent is lost. Connections are counted from 1. */
	bool (*connected)(struct ktop_transport *self, uint32_t *connections);

	/* A send buffer of KTOP_PACKET_MAX bytes, the same until sent; NULL: all are in flight. */
	void *(*buffer)(struct ktop_transport *self);

	/* Sends the first `size` bytes of that buffer, which is the transport's from then on. */
	void (*send)(struct ktop_transport *self, uint32_t size);

	/* Takes up to `size` received bytes; 0 when there are none. */
	uint32_t (*receive)(struct ktop_transport *self, void *to, uint32_t size);
};

#endif
