/* SPDX-License-Identifier: MIT */
/*
 * The drainer alone calls in here. With the device it shares the rings and buffers of four queues: two control queues,
 * in which device and driver talk about ports, and two of the port. Messages from the device are copied before they
 * are read, and never trusted: the worst message names another port, and the worst ring causes a new start.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../transport.h"
#include "pci.h"
#include "virtio.h"
#include "virtio_pci.h"
#include "virtio_port.h"
#include "virtio_serial.h"
#include "virtq.h"

enum {
	MULTIPORT = 1 << 1,		/* the feature bit: the device has control queues, 5.3.3 */
	CONTROL_IN = 2, CONTROL_OUT = 3,	/* queues, 5.3.2 */

	PORTS = 64,			/* ports with these numbers can be found */
	NO_PORT = PORTS,

	CONTROLLERS = KTOP_VIRTIO_SERIAL_CONTROLLERS,
	/*
	 * Buffers for messages from the device (hears) and to it (says). The device drops a message for which it
	 * finds no buffer. It sends one for each port at the beginning, then up to three for each of ours.
	 */
	HEARS = 32, HEAR_SIZE = 128,
	SAYS = 8,
	HEAR_AT_ONCE = 2 * HEARS,	/* messages in one call, at most */
	LOOK_AT_ONCE = 8,		/* PCI functions in one call, at most: some 4 calls for a bus */
	GONE = 0xff,			/* the status of a device that was unplugged */
};

/* A control message, 5.3.6.2. */
struct message {
	uint32_t port;
	uint16_t event;
	uint16_t value;
};
enum {
	DEVICE_READY = 0, DEVICE_ADD = 1, DEVICE_REMOVE = 2, PORT_READY = 3, PORT_OPEN = 6,
	PORT_NAME = 7,
};

struct controller {
	struct ktop_virtio *device;	/* NULL: there is none, or it was given up */
	struct ktop_virtq in, out;	/* the control queues */
	bool greeted;			/* DEVICE_READY was sent */
	uint64_t ask;			/* bit i: port i was added, and PORT_READY is to be sent for it */

	struct ktop_virtq_memory in_memory, out_memory;
	uint8_t hears[HEARS][HEAR_SIZE];
	struct message says[SAYS];
};

struct serial {
	struct ktop_transport transport;
	const char *name;
	uint64_t (*physical)(const void *address);

	struct controller *home;	/* the controller that has the port; NULL: it is not found yet */
	uint32_t number;		/* of the port on that controller */
	bool named;			/* the device has said that this port has our name */
	bool open;			/* PORT_OPEN was sent */
	bool host;			/* a host is connected */
	uint32_t connections;		/* of hosts, so far */
	bool hotplug;
	struct ktop_virtio_search search;
	struct controller controllers[CONTROLLERS];
	struct ktop_virtio_pci pci[CONTROLLERS];	/* of the controller with the same index */
	struct ktop_virtio_port port;
};

static struct serial *serial_of(struct ktop_transport *transport)
{
	return (struct serial *)transport;
}

/* ---- setting up ---- */

/* The port is to be found anew. */
static void forget_port(struct serial *self)
{
	self->home = NULL;
	self->named = self->open = self->host = false;
	ktop_virtio_port_stop(&self->port);
}

/* The controller is not used any more. */
static void let_go(struct serial *self, struct controller *controller)
{
	controller->device = NULL;
	if (self->home == controller)
		forget_port(self);
}

static bool set_up_control(struct serial *self, struct controller *controller)
{
	const struct ktop_virtq_buffers hears = {
		.physical = self->physical(controller->hears),
		.size = HEAR_SIZE,
		.count = HEARS,
		.device_writes = true,
	}, says = {
		.physical = self->physical(controller->says),
		.size = sizeof(struct message),
		.count = SAYS,
	};

	controller->greeted = false;
	controller->ask = 0;
	return ktop_virtio_queue(controller->device, &controller->in, CONTROL_IN, &hears,
			&controller->in_memory, self->physical(&controller->in_memory)) &&
		ktop_virtio_queue(controller->device, &controller->out, CONTROL_OUT, &says,
			&controller->out_memory, self->physical(&controller->out_memory));
}

static bool set_up_port(struct serial *self, struct controller *controller, uint32_t number)
{
	self->home = controller;
	self->number = number;
	return ktop_virtio_port_start(&self->port, controller->device, number, self->physical);
}

/*
 * Resets a controller and starts it. Queues are set up before a device is live (3.1.1), but only a live device tells
 * the names of its ports. So this is called first with NO_PORT, and again with the port that was found. If it fails,
 * the controller is given up.
 */
static void start(struct serial *self, struct controller *controller, uint32_t number)
{
	struct ktop_virtio *device = controller->device;

	if (self->home == controller)
		forget_port(self);
	if (!ktop_virtio_start(device, MULTIPORT) || !set_up_control(self, controller) ||
			(number != NO_PORT && !set_up_port(self, controller, number))) {
		ktop_virtio_give_up(device);
		let_go(self, controller);
		return;
	}
	ktop_virtio_live(device);
	ktop_virtio_notify(device, &controller->in);
	if (number != NO_PORT)
		ktop_virtio_notify(device, &self->port.in);
}

/* Starts the controller again with the same port. Bytes that the host has sent are kept: it will not repeat them. */
static void restart(struct serial *self)
{
	self->home->device->ops->set_status(self->home->device, 0);
	ktop_virtio_port_save(&self->port);
	start(self, self->home, self->number);
}

/* ---- the control queues (5.3.6.2) ---- */

/*
 * A port has our name. Only one port is used at a time, and there is memory for the queues of one. The controller of
 * the port before is therefore started again without a port first.
 */
static void on_name(struct serial *self, struct controller *controller, uint32_t number)
{
	if (self->home == controller && self->number == number) {
		self->named = true;
		self->open = false;
	} else if (!self->named) {
		if (self->home && self->home != controller)
			start(self, self->home, NO_PORT);
		ktop_virtio_port_forget(&self->port);
		start(self, controller, number);
	}
}

/*
 * When a host disconnects, QEMU returns the buffers that the host has not read, then says that it went. But QEMU keeps
 * the buffer that it was just writing until a reset. A reset does no harm if there was no such buffer.
 */
static void on_open(struct serial *self, bool host)
{
	if (host && !self->host && ktop_virtio_port_sending(&self->port)) {
		restart(self);
		return;
	}
	self->connections += host;
	self->host = host;
}

/* Are the names equal? The device may end its name with a zero, or not. */
static bool same(const char *name, const uint8_t *text, uint32_t size)
{
	uint32_t i;

	for (i = 0; i < size && text[i]; i++)
		if (text[i] != (uint8_t)name[i])
			return false;
	return name[i] == 0;
}

/* Handles a message from the device. */
static void hear(struct serial *self, struct controller *controller, const uint8_t *bytes,
	uint32_t size)
{
	struct message message;
	bool ours;

	if (size < sizeof(message))
		return;
	__builtin_memcpy(&message, bytes, sizeof(message));
	if (message.port >= PORTS)
		return;
	ours = self->home == controller && self->number == message.port;
	switch (message.event) {
	case DEVICE_ADD:
		controller->ask |= 1ull << message.port;
		break;
	case DEVICE_REMOVE:
		controller->ask &= ~(1ull << message.port);
		if (ours)
			self->named = self->open = self->host = false;
		break;
	case PORT_NAME:
		if (same(self->name, bytes + sizeof(message), size - sizeof(message)))
			on_name(self, controller, message.port);
		break;
	case PORT_OPEN:
		/* Before the name it may be out of date; the device repeats it after the name. */
		if (ours && self->named)
			on_open(self, message.value);
		break;
	}
}

/* Takes a bounded number of messages from the device. */
static void listen(struct serial *self, struct controller *controller)
{
	uint8_t copy[HEAR_SIZE];	/* the device may change the original meanwhile */
	uint32_t buffer, size, heard = 0;

	while (heard < HEAR_AT_ONCE && ktop_virtq_take(&controller->in, &buffer, &size)) {
		__builtin_memcpy(copy, controller->hears[buffer], size);
		ktop_virtq_offer(&controller->in, buffer, HEAR_SIZE);
		hear(self, controller, copy, size);
		heard++;
	}
	if (heard && controller->device)
		ktop_virtio_notify(controller->device, &controller->in);
}

/* The number of the lowest bit that is set; there is one. */
static uint32_t lowest(uint64_t bits)
{
	uint32_t i = 0;

	while (!(bits >> i & 1))
		i++;
	return i;
}

/* The next message to the device, which counts as sent. False: there is none. */
static bool next_message(struct serial *self, struct controller *controller,
	struct message *message)
{
	*message = (struct message) { .value = 1 };
	if (!controller->greeted) {
		message->event = DEVICE_READY;
		controller->greeted = true;
	} else if (self->home == controller && self->named && !self->open) {
		message->event = PORT_OPEN;
		message->port = self->number;
		self->open = true;
	} else if (controller->ask) {
		message->event = PORT_READY;
		message->port = lowest(controller->ask);
		controller->ask &= controller->ask - 1;
	} else {
		return false;
	}
	return true;
}

/* Sends the device as many messages as there are buffers for. */
static void speak(struct serial *self, struct controller *controller)
{
	struct message message;
	uint32_t buffer, size, said = 0;

	while (ktop_virtq_take(&controller->out, &buffer, &size))
		continue;
	while (ktop_virtq_idle(&controller->out, &buffer) &&
			next_message(self, controller, &message)) {
		controller->says[buffer] = message;
		ktop_virtq_offer(&controller->out, buffer, sizeof(message));
		said++;
	}
	if (said)
		ktop_virtio_notify(controller->device, &controller->out);
}

static bool broken(const struct serial *self, const struct controller *controller)
{
	return controller->in.broken || controller->out.broken ||
		(self->home == controller && ktop_virtio_port_broken(&self->port));
}

/* One controller's turn: a bounded number of messages each way. */
static void attend(struct serial *self, struct controller *controller)
{
	uint8_t status = controller->device->ops->status(controller->device);

	if (!(status & KTOP_VIRTIO_DRIVER_OK)) {
		/* Another driver has reset it and uses it now. */
		let_go(self, controller);
		return;
	}
	if (status == GONE) {
		/* It was unplugged: its place is free for another one. */
		let_go(self, controller);
		self->pci[controller - self->controllers].function = KTOP_NO_FUNCTION;
		return;
	}
	if (status & KTOP_VIRTIO_NEEDS_RESET || broken(self, controller))
		start(self, controller, NO_PORT);
	if (controller->device)
		listen(self, controller);
	if (controller->device)
		speak(self, controller);
}

/* ---- finding controllers ---- */

/* A place for one more controller; NULL: all are taken. */
static struct ktop_virtio_pci *free_place(struct serial *self)
{
	for (uint32_t i = 0; i < CONTROLLERS; i++)
		if (!self->controllers[i].device && self->pci[i].function == KTOP_NO_FUNCTION)
			return &self->pci[i];
	return NULL;
}

static bool known(const struct serial *self, uint32_t function)
{
	for (uint32_t i = 0; i < CONTROLLERS; i++)
		if (self->pci[i].function == function)
			return true;
	return false;
}

/* A controller that cannot be driven, or was given up, keeps its place while it is there: it is not tried again. */
static void take(struct serial *self, struct ktop_virtio_pci *place, uint32_t function)
{
	struct controller *controller = &self->controllers[place - self->pci];

	if (ktop_virtio_pci_init(place, function, &self->search)) {
		controller->device = &place->device;
		start(self, controller, NO_PORT);
	}
	place->function = function;
}

/* Looks for a controller among the next `limit` PCI functions. True: one was found, and there may be more. */
static bool look(struct serial *self, uint32_t limit)
{
	struct ktop_virtio_pci *place = free_place(self);

	if (!place || !ktop_virtio_pci_next(&self->search, limit))
		return false;
	if (!known(self, self->search.at))
		take(self, place, self->search.at);
	self->search.at++;
	return true;
}

/* Frees the places of controllers that were given up and are not there any more. */
static void forget_unplugged(struct serial *self)
{
	for (uint32_t i = 0; i < CONTROLLERS; i++)
		if (!self->controllers[i].device && self->pci[i].function != KTOP_NO_FUNCTION &&
				!ktop_pci_present(self->pci[i].function))
			self->pci[i].function = KTOP_NO_FUNCTION;
}

/*
 * Called until the port is found: looks at a few functions in each call, round and round. A controller that is plugged
 * in late may have the port.
 */
static void look_again(struct serial *self)
{
	forget_unplugged(self);
	if (self->search.at >= self->search.end)
		self->search.at = 0;
	look(self, LOOK_AT_ONCE);
}

/* ---- the transport ---- */

/* Each round of the drainer begins with this call, so the handshake is taken further here. */
static bool connected(struct ktop_transport *transport, uint32_t *connections)
{
	struct serial *self = serial_of(transport);

	if (self->hotplug && !self->named)
		look_again(self);
	for (uint32_t i = 0; i < CONTROLLERS; i++)
		if (self->controllers[i].device)
			attend(self, &self->controllers[i]);
	*connections = self->connections;
	return self->open && self->host;
}

static void *buffer(struct ktop_transport *transport)
{
	struct serial *self = serial_of(transport);

	return self->open ? ktop_virtio_port_buffer(&self->port) : NULL;
}

static void send(struct ktop_transport *transport, uint32_t size)
{
	struct serial *self = serial_of(transport);

	if (self->open)
		ktop_virtio_port_send(&self->port, size);
}

static uint32_t receive(struct ktop_transport *transport, void *to, uint32_t size)
{
	struct serial *self = serial_of(transport);

	return self->open ? ktop_virtio_port_receive(&self->port, to, size) : 0;
}

/* ---- start ---- */

size_t ktop_virtio_serial_memory_size(void)
{
	return sizeof(struct serial);
}

static struct serial *make(const struct ktop_virtio_serial_config *config)
{
	struct serial *self = config->memory;

	if (!self || (uintptr_t)self % _Alignof(struct serial) || config->size < sizeof(*self))
		return NULL;
	__builtin_memset(self, 0, sizeof(*self));
	self->transport.connected = connected;
	self->transport.buffer = buffer;
	self->transport.send = send;
	self->transport.receive = receive;
	self->name = config->port;
	self->physical = config->physical;
	self->hotplug = config->hotplug;
	self->search = (struct ktop_virtio_search) { .map = config->map };
	for (uint32_t i = 0; i < CONTROLLERS; i++)
		self->pci[i].function = KTOP_NO_FUNCTION;
	forget_port(self);
	return self;
}

static bool any(const struct serial *self)
{
	for (uint32_t i = 0; i < CONTROLLERS; i++)
		if (self->controllers[i].device)
			return true;
	return false;
}

struct ktop_transport *ktop_virtio_serial_over(const struct ktop_virtio_serial_config *config,
	struct ktop_virtio *const *devices, uint32_t count)
{
	struct serial *self = make(config);

	for (uint32_t i = 0; self && i < count && i < CONTROLLERS; i++) {
		self->controllers[i].device = devices[i];
		start(self, &self->controllers[i], NO_PORT);
	}
	return self && any(self) ? &self->transport : NULL;
}

struct ktop_transport *ktop_virtio_serial_init(const struct ktop_virtio_serial_config *config)
{
	struct serial *self = make(config);

	if (!self)
		return NULL;
	while (look(self, KTOP_PCI_FUNCTIONS))
		continue;
	self->search.late = self->hotplug;
	return self->hotplug || any(self) ? &self->transport : NULL;
}
