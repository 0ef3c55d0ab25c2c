/* SPDX-License-Identifier: MIT */
/*
 * The two queues through which the bytes of one port go (Virtual I/O Device 1.2, section 5.3.6). virtio_serial.c knows
 * which port it is, and whether a host is connected. One caller at a time.
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
	KTOP_VIRTIO_RECEIVES = 32,	/* buffers of KTOP_VIRTIO_RECEIVE_SIZE bytes */
	KTOP_VIRTIO_RECEIVE_SIZE = 256,
};

struct ktop_virtio_port {
	struct ktop_virtio *device;	/* NULL: there are no queues */
	struct ktop_virtq in, out;
	uint32_t sending;		/* the buffer that is being filled; KTOP_VIRTIO_SENDS: none */

	uint32_t reading;		/* the buffer that is being read; KTOP_VIRTIO_RECEIVES: none */
	uint32_t read_at, read_end;	/* the bytes in it that are still to be read */
	uint32_t saved_at, saved_end;	/* the bytes in `saved` that are still to be read */
	uint8_t saved[KTOP_VIRTIO_RECEIVES * KTOP_VIRTIO_RECEIVE_SIZE];

	struct ktop_virtq_memory in_memory, out_memory;
	_Alignas(KTOP_VIRTQ_PAGE) uint8_t
		receives[KTOP_VIRTIO_RECEIVES][KTOP_VIRTIO_RECEIVE_SIZE];
	_Alignas(KTOP_VIRTQ_PAGE) uint8_t sends[KTOP_VIRTIO_SENDS][KTOP_PACKET_MAX];
};

/* Forgets the queues. Also to be called before the first start, when the memory is zero. */
void ktop_virtio_port_stop(struct ktop_virtio_port *port);

/* Sets up the queues of the port with this number, on a device that is not yet live. False: it has no such port. */
bool ktop_virtio_port_start(struct ktop_virtio_port *port, struct ktop_virtio *device,
	uint32_t number, uint64_t (*physical)(const void *address));

/* Has the device written something impossible into one of the rings? */
bool ktop_virtio_port_broken(const struct ktop_virtio_port *port);

/* Does the device still have buffers that were sent? */
bool ktop_virtio_port_sending(struct ktop_virtio_port *port);

/* Save: keeps the received bytes, for after a reset. Forget: drops the bytes that were kept. */
void ktop_virtio_port_save(struct ktop_virtio_port *port);
void ktop_virtio_port_forget(struct ktop_virtio_port *port);

/* The functions of transport.h. */
void *ktop_virtio_port_buffer(struct ktop_virtio_port *port);
void ktop_virtio_port_send(struct ktop_virtio_port *port, uint32_t size);
uint32_t ktop_virtio_port_receive(struct ktop_virtio_port *port, void *to, uint32_t size);

#endif
