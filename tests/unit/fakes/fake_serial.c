/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "kernel-hook/virtio/virtq.h"
#include "fake_serial.h"

enum { DRIVER_OK = 4, FEATURES_OK = 8, CONTROL_IN = 2, CONTROL_OUT = 3 };

struct control {
	uint32_t port;
	uint16_t event, value;
};

static struct fake_serial *fake_of(struct ktop_virtio *device)
{
	struct fake_serial *fake = (struct fake_serial *)device;

	fake->touched++;
	return fake;
}

static uint8_t status(struct ktop_virtio *device)
{
	return fake_of(device)->status;
}

static void reset(struct fake_serial *fake)
{
	fake->resets++;
	fake->accepted = 0;
	memset(fake->queues, 0, sizeof(fake->queues));
	memset(fake->kicked, 0, sizeof(fake->kicked));
	for (uint32_t i = 0; i < FAKE_PORTS; i++)
		fake->ports[i].ready = fake->ports[i].open = false;
}

static void set_status(struct ktop_virtio *device, uint8_t bits)
{
	struct fake_serial *fake = fake_of(device);

	if (bits == 0)
		reset(fake);
	if (fake->refuses)
		bits &= (uint8_t)~FEATURES_OK;
	fake->status = fake->stuck ? 0xff : bits;
}

static uint64_t features(struct ktop_virtio *device)
{
	return fake_of(device)->features;
}

static void accept(struct ktop_virtio *device, uint64_t bits)
{
	fake_of(device)->accepted = bits;
}

static uint32_t config(struct ktop_virtio *device, uint32_t offset)
{
	return offset == 4 ? fake_of(device)->max_ports : 0;
}

static uint16_t queue_size(struct ktop_virtio *device, uint16_t index)
{
	struct fake_serial *fake = fake_of(device);

	return index < 2 * fake->max_ports + 2 ? fake->queue_size : 0;
}

static bool queue_start(struct ktop_virtio *device, struct ktop_virtq *queue)
{
	struct fake_serial *fake = fake_of(device);

	fake->late += (fake->status & DRIVER_OK) != 0;
	fake->queues[queue->index] =
		device_queue_at((void *)(uintptr_t)queue->physical, queue->size);
	return true;
}

static void notify(struct ktop_virtio *device, const struct ktop_virtq *queue)
{
	fake_of(device)->kicked[queue->index] = true;
}

static const struct ktop_virtio_ops fake_ops = {
	.status = status,
	.set_status = set_status,
	.features = features,
	.accept = accept,
	.config = config,
	.queue_size = queue_size,
	.queue_start = queue_start,
	.notify = notify,
};

struct fake_serial *fake_serial_new(void)
{
	struct fake_serial *fake = calloc(1, sizeof(*fake));

	fake->device.ops = &fake_ops;
	fake->features = 1ull << 32 | 1 << 29 | 1 << 28 | 1 << 2 | 1 << 1 | 1 << 0;
	fake->max_ports = 31;
	fake->queue_size = 64;
	fake->reading = true;
	fake->out = malloc(FAKE_OUT);
	return fake;
}

void fake_serial_free(struct fake_serial *fake)
{
	if (fake)
		free(fake->out);
	free(fake);
}

static bool live(const struct fake_serial *fake)
{
	return fake->status & DRIVER_OK && fake->status != 0xff;
}

void fake_serial_tell(struct fake_serial *fake, const void *bytes, uint32_t size)
{
	struct device_queue *queue = &fake->queues[CONTROL_IN];
	struct device_buffer buffer;

	if (!live(fake) || !queue->size)
		return;
	if (!device_pop(queue, &buffer)) {
		fake->dropped++;
		return;
	}
	memcpy(buffer.data, bytes, size < buffer.length ? size : buffer.length);
	device_push(queue, buffer.id, size);
}

static void tell(struct fake_serial *fake, uint32_t port, uint16_t event, uint16_t value)
{
	fake_serial_tell(fake, &(struct control) { port, event, value }, sizeof(struct control));
}

static void tell_name(struct fake_serial *fake, uint32_t port)
{
	struct control head = { port, 7, 1 };
	size_t length = strlen(fake->ports[port].name);
	uint8_t text[256];

	/* An odd port's name ends with a zero, as QEMU's do; an even one's does not, as in the specification. */
	memcpy(text, &head, sizeof(head));
	memcpy(text + sizeof(head), fake->ports[port].name, length + 1);
	fake_serial_tell(fake, text, (uint32_t)(sizeof(head) + length + (port & 1)));
}

static void hear(struct fake_serial *fake, const struct control *message)
{
	struct fake_serial_port *port = &fake->ports[message->port % FAKE_PORTS];

	switch (message->event) {
	case 0:
		for (uint32_t i = 0; i < FAKE_PORTS; i++)
			if (fake->ports[i].name)
				tell(fake, i, 1, 1);
		break;
	case 3:
		port->ready = message->value;
		if (port->name == NULL)
			break;
		tell(fake, message->port, 4, 1);
		tell_name(fake, message->port);
		if (port->host)
			tell(fake, message->port, 6, 1);
		break;
	case 6:
		port->open = message->value;
		break;
	}
}

static void run_control(struct fake_serial *fake)
{
	struct device_queue *queue = &fake->queues[CONTROL_OUT];
	struct device_buffer buffer;
	struct control message;

	while (device_pop(queue, &buffer)) {
		memcpy(&message, buffer.data, sizeof(message));
		hear(fake, &message);
		device_push(queue, buffer.id, 0);
	}
}

static void run_out(struct fake_serial *fake, uint32_t port, struct device_queue *queue)
{
	struct device_buffer buffer;

	if (fake->ports[port].host && !fake->reading)
		return;
	while (device_pop(queue, &buffer)) {
		if (fake->ports[port].host && fake->out_size + buffer.length <= FAKE_OUT) {
			memcpy(fake->out + fake->out_size, buffer.data, buffer.length);
			fake->out_size += buffer.length;
		}
		device_push(queue, buffer.id, 0);
	}
}

void fake_serial_run(struct fake_serial *fake)
{
	if (!live(fake))
		return;
	if (fake->kicked[CONTROL_OUT] && fake->queues[CONTROL_OUT].size)
		run_control(fake);
	fake->kicked[CONTROL_OUT] = false;
	for (uint32_t port = 0; port < FAKE_PORTS; port++) {
		uint32_t out = port ? 2 * port + 3 : 1;

		if (fake->kicked[out] && fake->queues[out].size)
			run_out(fake, port, &fake->queues[out]);
		/* The device waits for a host that does not read, and goes on later without another notification. */
		fake->kicked[out] &= fake->ports[port].host && !fake->reading;
	}
}

void fake_serial_plug(struct fake_serial *fake, uint32_t port, const char *name)
{
	fake->ports[port].name = name;
	tell(fake, port, 1, 1);
}

void fake_serial_unplug(struct fake_serial *fake, uint32_t port)
{
	fake->ports[port] = (struct fake_serial_port) { .name = NULL };
	tell(fake, port, 2, 1);
}

/* When a host goes, the buffers that it has not read are returned, except the one that it had begun to read. */
static void discard(struct fake_serial *fake, struct device_queue *queue)
{
	struct device_buffer buffer;

	if (!live(fake) || !queue->size || fake->reading)
		return;
	if (device_pop(queue, &buffer))
		fake->kept++;
	while (device_pop(queue, &buffer))
		device_push(queue, buffer.id, 0);
}

void fake_serial_host(struct fake_serial *fake, uint32_t port, bool connected)
{
	if (fake->ports[port].host && !connected)
		discard(fake, &fake->queues[port ? 2 * port + 3 : 1]);
	fake->ports[port].host = connected;
	tell(fake, port, 6, connected);
}

uint32_t fake_serial_type(struct fake_serial *fake, uint32_t port, const void *bytes,
	uint32_t size)
{
	uint32_t in = port ? 2 * port + 2 : 0, typed = 0;
	struct device_queue *queue = &fake->queues[in];
	struct device_buffer buffer;

	if (!live(fake) || !fake->ports[port].open || !queue->size)
		return 0;
	while (typed < size && fake->kicked[in]) {
		uint32_t part;

		fake->kicked[in] = device_pop(queue, &buffer);
		if (!fake->kicked[in])
			break;
		part = size - typed < buffer.length ? size - typed : buffer.length;
		memcpy(buffer.data, (const uint8_t *)bytes + typed, part);
		device_push(queue, buffer.id, part);
		typed += part;
	}
	return typed;
}
