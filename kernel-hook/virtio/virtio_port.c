/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio.h"
#include "virtio_port.h"
#include "virtq.h"

enum {
	SENDS = KTOP_VIRTIO_SENDS,
	RECEIVES = KTOP_VIRTIO_RECEIVES,
	RECEIVE_SIZE = KTOP_VIRTIO_RECEIVE_SIZE,
	MAX_PORTS = 4,			/* offset in the device's configuration, 5.3.4 */
};

void ktop_virtio_port_stop(struct ktop_virtio_port *port)
{
	port->device = NULL;
	port->sending = SENDS;
	port->reading = RECEIVES;
}

bool ktop_virtio_port_start(struct ktop_virtio_port *port, struct ktop_virtio *device,
	uint32_t number, uint64_t (*physical)(const void *address))
{
	const struct ktop_virtq_buffers receives = {
		.physical = physical(port->receives),
		.size = RECEIVE_SIZE,
		.count = RECEIVES,
		.device_writes = true,
	}, sends = {
		.physical = physical(port->sends),
		.size = KTOP_PACKET_MAX,
		.count = SENDS,
	};
	uint16_t in = (uint16_t)(number ? 2 * number + 2 : 0), out = in + 1;	/* 5.3.2 */

	if (number >= device->ops->config(device, MAX_PORTS) ||
			!ktop_virtio_queue(device, &port->in, in, &receives,
				&port->in_memory, physical(&port->in_memory)) ||
			!ktop_virtio_queue(device, &port->out, out, &sends,
				&port->out_memory, physical(&port->out_memory)))
		return false;
	port->device = device;
	return true;
}

bool ktop_virtio_port_broken(const struct ktop_virtio_port *port)
{
	return port->device && (port->in.broken || port->out.broken);
}

/* ---- out ---- */

/* Takes back the buffers that the device has finished with. */
static void take_back(struct ktop_virtio_port *port)
{
	uint32_t buffer, size;

	while (ktop_virtq_take(&port->out, &buffer, &size))
		continue;
}

bool ktop_virtio_port_sending(struct ktop_virtio_port *port)
{
	take_back(port);
	return port->out.in_flight;
}

void *ktop_virtio_port_buffer(struct ktop_virtio_port *port)
{
	if (!port->device)
		return NULL;
	if (port->sending == SENDS) {
		take_back(port);
		if (!ktop_virtq_idle(&port->out, &port->sending))
			return NULL;
	}
	return port->sends[port->sending];
}

/* The queues may have been stopped since the buffer was handed out; the buffer is then gone, too. */
void ktop_virtio_port_send(struct ktop_virtio_port *port, uint32_t size)
{
	if (!port->device || port->sending == SENDS || size == 0 || size > KTOP_PACKET_MAX)
		return;
	ktop_virtq_offer(&port->out, port->sending, size);
	port->sending = SENDS;
	ktop_virtio_notify(port->device, &port->out);
}

/* ---- in ---- */

/* Copies up to `size` bytes, and returns how many. Empty buffers go back to the device; the caller notifies it. */
static uint32_t read_queue(struct ktop_virtio_port *port, uint8_t *to, uint32_t size)
{
	uint32_t got = 0;

	/* Each buffer at most once, empty ones too: this ends whatever the device does. */
	for (uint32_t i = 0; i <= RECEIVES && got < size; i++) {
		uint32_t part = size - got;

		if (port->reading == RECEIVES) {
			if (!ktop_virtq_take(&port->in, &port->reading, &port->read_end))
				break;
			port->read_at = 0;
		}
		if (part > port->read_end - port->read_at)
			part = port->read_end - port->read_at;
		__builtin_memcpy(to + got, port->receives[port->reading] + port->read_at, part);
		got += part;
		port->read_at += part;
		if (port->read_at == port->read_end) {
			ktop_virtq_offer(&port->in, port->reading, RECEIVE_SIZE);
			port->reading = RECEIVES;
		}
	}
	return got;
}

/* The bytes that were kept over a reset come before all others. */
static uint32_t read_saved(struct ktop_virtio_port *port, void *to, uint32_t size)
{
	uint32_t part = port->saved_end - port->saved_at;

	part = part < size ? part : size;
	__builtin_memcpy(to, port->saved + port->saved_at, part);
	port->saved_at += part;
	return part;
}

void ktop_virtio_port_save(struct ktop_virtio_port *port)
{
	if (port->saved_at == port->saved_end)
		ktop_virtio_port_forget(port);
	port->saved_end += read_queue(port, port->saved + port->saved_end,
			(uint32_t)sizeof(port->saved) - port->saved_end);
}

void ktop_virtio_port_forget(struct ktop_virtio_port *port)
{
	port->saved_at = port->saved_end = 0;
}

uint32_t ktop_virtio_port_receive(struct ktop_virtio_port *port, void *to, uint32_t size)
{
	uint16_t offered = port->in.offered;
	uint32_t got;

	if (!port->device)
		return 0;
	got = read_saved(port, to, size);
	if (got)
		return got;
	got = read_queue(port, to, size);
	if (port->in.offered != offered)
		ktop_virtio_notify(port->device, &port->in);
	return got;
}
