/* SPDX-License-Identifier: MIT */
/*
 * The two queues of one port (Virtual I/O Device 1.2, section 5.3.6), through which its bytes go.
 * Which port it is, and whether it has a host, is the business of virtio_serial.c. One caller at a
 * time.
 */
#ifndef KTOP_VIRTIO_PORT_H
#define KTOP_VIRTIO_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "../wire.h"
#include "virtq.h"

struct ktop_virtio;

enum {
	KTOP_VIRTIO_SENDS = 32,		/* buffers of KTOP_PACKET_MAX bytes */
	KTOP_VIRTIO_RECEIVES = 32,
	KTOP_VIRTIO_RECEIVE_SIZE = 256,	/* bytes of each */
};

struct ktop_virtio_port {
	struct ktop_virtio *device;	/* NULL: there are no queues */
	struct ktop_virtq in, out;
	uint32_t sending;		/* the buffer being filled; KTOP_VIRTIO_SENDS: none */

	uint32_t reading;		/* the buffer being read; KTOP_VIRTIO_RECEIVES: none */
	uint32_t read_at, read_end;	/* in it */
	uint32_t saved_at, saved_end;	/* in `saved` */
	uint8_t saved[KTOP_VIRTIO_RECEIVES * KTOP_VIRTIO_RECEIVE_SIZE];

	struct ktop_virtq_memory in_memory, out_memory;
	_Alignas(KTOP_VIRTQ_PAGE) uint8_t
		receives[KTOP_VIRTIO_RECEIVES][KTOP_VIRTIO_RECEIVE_SIZE];
	_Alignas(KTOP_VIRTQ_PAGE) uint8_t sends[KTOP_VIRTIO_SENDS][KTOP_PACKET_MAX];
};

/* Lets go of its queues. Before the first start too, in memory that is zero. */
void ktop_virtio_port_stop(struct ktop_virtio_port *port);

/* Sets up the queues of the port of this number, on a device that is not yet live. */
bool ktop_virtio_port_start(struct ktop_virtio_port *port, struct ktop_virtio *device,
	uint32_t number, uint64_t (*physical)(const void *address));

/* Has the device written nonsense into one of the rings? */
bool ktop_virtio_port_broken(const struct ktop_virtio_port *port);

/* Does the device still have something that was sent? */
bool ktop_virtio_port_sending(struct ktop_virtio_port *port);

/* Received bytes that are to outlive a reset, and those that are to be forgotten. */
void ktop_virtio_port_save(struct ktop_virtio_port *port);
void ktop_virtio_port_forget(struct ktop_virtio_port *port);

/* As in transport.h. */
void *ktop_virtio_port_buffer(struct ktop_virtio_port *port);
void ktop_virtio_port_send(struct ktop_virtio_port *port, uint32_t size);
uint32_t ktop_virtio_port_receive(struct ktop_virtio_port *port, void *to, uint32_t size);

#endif
