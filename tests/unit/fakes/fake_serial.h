/* SPDX-License-Identifier: MIT */
/*
 * A virtio-serial controller in plain memory, written from the specification (Virtual I/O Device
 * 1.2, section 5.3), with the habits of QEMU's. It looks at a queue only when notified. It drops control messages
 * for which there is no buffer. It completes what is sent while nobody is connected. It never returns a buffer that a
 * host had begun to read when it went. Each port is also a console, so that one more kind of message is sent.
 */
#ifndef FAKE_SERIAL_H
#define FAKE_SERIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-hook/virtio/virtio.h"
#include "device_queue.h"

enum { FAKE_PORTS = 40, FAKE_QUEUES = 2 * FAKE_PORTS + 2, FAKE_OUT = 8 << 20 };

struct fake_serial_port {
	const char *name;		/* NULL: no such port */
	bool host;			/* connected */
	bool ready, open;		/* as the driver has said */
};

struct fake_serial {
	struct ktop_virtio device;

	/* what a test may set */
	uint64_t features;
	uint32_t max_ports;
	uint16_t queue_size;
	bool stuck;			/* a reset never ends */
	bool refuses;			/* it refuses any set of features */
	bool reading;			/* the host takes bytes */
	struct fake_serial_port ports[FAKE_PORTS];

	/* what a test may look at */
	uint64_t accepted;
	uint8_t status;
	uint32_t touched;		/* how often the device's operations were called */
	uint32_t resets;
	uint32_t dropped;		/* control messages without a buffer */
	uint32_t kept;			/* buffers that it never returns */
	uint32_t late;			/* queues that were set up after the device was live */
	uint32_t out_size;		/* bytes that the host has */
	uint8_t *out;			/* of FAKE_OUT bytes */

	struct device_queue queues[FAKE_QUEUES];
	bool kicked[FAKE_QUEUES];
};

/* A controller with MULTIPORT, version 1, and no ports. */
struct fake_serial *fake_serial_new(void);
void fake_serial_free(struct fake_serial *fake);

/* The device's turn: it does what it was notified of. */
void fake_serial_run(struct fake_serial *fake);

/* Ports and hosts come and go. To be called at any time. */
void fake_serial_plug(struct fake_serial *fake, uint32_t port, const char *name);
void fake_serial_unplug(struct fake_serial *fake, uint32_t port);
void fake_serial_host(struct fake_serial *fake, uint32_t port, bool connected);

/* Sends bytes from the host, and returns how many found a buffer. */
uint32_t fake_serial_type(struct fake_serial *fake, uint32_t port, const void *bytes,
	uint32_t size);

/* Sends a control message, well-formed or not. */
void fake_serial_tell(struct fake_serial *fake, const void *bytes, uint32_t size);

#endif
