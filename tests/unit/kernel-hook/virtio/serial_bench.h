/* SPDX-License-Identifier: MIT */
/* The driver of the port on a bench: with a controller that is simulated in memory, and another one beside it. */
#ifndef SERIAL_BENCH_H
#define SERIAL_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel-hook/ktop.h"
#include "kernel-hook/transport.h"
#include "kernel-hook/virtio/virtio_serial.h"
#include "tests/unit/fakes/fake_serial.h"

#define NAME "org.ktop.0"
enum { TURNS = 60 };			/* rounds; more than any handshake in here needs */

struct bench {
	struct fake_serial *fake, *other;
	struct ktop_virtio_serial_config config;
	struct ktop_transport *transport;
	uint32_t connections;
};

static inline uint64_t physical(const void *address)
{
	return (uintptr_t)address;
}

static inline int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	bench->fake = fake_serial_new();
	bench->other = fake_serial_new();
	bench->config = (struct ktop_virtio_serial_config) {
		.port = NAME,
		.size = ktop_virtio_serial_memory_size(),
		.physical = physical,
	};
	bench->config.memory = aligned_alloc(4096, bench->config.size);
	*state = bench;
	return 0;
}

static inline int tear_down(void **state)
{
	struct bench *bench = *state;

	fake_serial_free(bench->fake);
	fake_serial_free(bench->other);
	free(bench->config.memory);
	free(bench);
	return 0;
}

static inline void open(struct bench *bench)
{
	struct ktop_virtio *devices[] = { &bench->other->device, &bench->fake->device };

	bench->transport = ktop_virtio_serial_over(&bench->config, devices, 2);
	assert_non_null(bench->transport);
}

static inline bool connected(struct bench *bench)
{
	return bench->transport->connected(bench->transport, &bench->connections);
}

/* Driver and device run in turns. */
static inline bool settle(struct bench *bench)
{
	for (uint32_t i = 0; i < TURNS; i++) {
		connected(bench);
		fake_serial_run(bench->fake);
		fake_serial_run(bench->other);
	}
	return connected(bench);
}

static inline void open_connected(struct bench *bench, uint32_t port)
{
	bench->fake->ports[port] = (struct fake_serial_port) { .name = NAME, .host = true };
	open(bench);
	assert_true(settle(bench));
}

static inline uint8_t *buffer(struct bench *bench)
{
	return bench->transport->buffer(bench->transport);
}

static inline void send(struct bench *bench, uint32_t size)
{
	bench->transport->send(bench->transport, size);
}

static inline uint32_t receive(struct bench *bench, void *to, uint32_t size)
{
	return bench->transport->receive(bench->transport, to, size);
}

#endif
