/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel-hook/ktop.h"
#include "fake_host.h"

static void keep(struct fake_host *host, const struct fake_event *event)
{
	if (host->count == host->room) {
		host->room = host->room ? 2 * host->room : 256;
		host->events = realloc(host->events, host->room * sizeof(*host->events));
		assert_non_null(host->events);
	}
	host->events[host->count++] = *event;
}

/* Reads the events of one packet, and returns their number. */
static uint32_t read_events(struct fake_host *host, const struct ktop_wire_packet *packet,
	const uint8_t *at, const uint8_t *end)
{
	uint64_t clock = packet->begin;
	uint32_t count = 0;

	while (at != end) {
		struct ktop_wire_event head;
		struct fake_event event = { .stream = packet->stream, .cpu = packet->cpu };

		assert_true((size_t)(end - at) >= sizeof(head));
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		assert_true(head.size <= end - at && head.size <= KTOP_STACKS_SAMPLE_MAX);
		clock += (uint32_t)(head.time - (uint32_t)clock);	/* as CTF readers do */
		assert_true(clock <= packet->end);
		event.id = head.id;
		event.size = head.size;
		event.time = clock;
		memcpy(event.payload, at, head.size);
		at += head.size;
		keep(host, &event);
		count++;
	}
	if (count)
		assert_int_equal(clock, packet->end);
	return count;
}

static uint32_t read_packet(struct fake_host *host, const uint8_t *at, uint32_t size)
{
	struct ktop_wire_packet packet;
	struct fake_books *books;
	uint32_t bytes, count;

	assert_true(size >= sizeof(packet));
	memcpy(&packet, at, sizeof(packet));
	bytes = (uint32_t)(packet.packet_size / 8);
	assert_int_equal(packet.magic, KTOP_MAGIC);
	assert_int_equal(packet.boot_id[0], 0xb0);
	assert_int_equal(packet.content_size, packet.packet_size);
	assert_true(packet.packet_size % 8 == 0 && bytes >= sizeof(packet) && bytes <= size);
	assert_true(packet.stream < KTOP_STREAMS && packet.cpu < 8);
	books = &host->books[packet.stream][packet.cpu];
	assert_true(packet.begin <= packet.end && books->end <= packet.begin);
	assert_true(packet.sequence >= books->sequence && packet.discarded >= books->discarded);
	assert_true(packet.before >= books->sent);
	count = read_events(host, &packet, at + sizeof(packet), at + bytes);
	books->sequence = packet.sequence + 1;
	books->sent = packet.before + count;
	books->discarded = packet.discarded;
	books->end = packet.end;
	books->received += count;
	books->packets++;
	books->empty += count == 0;
	return bytes;
}

static bool is_connected(struct ktop_transport *self, uint32_t *connections)
{
	struct fake_host *host = (struct fake_host *)self;

	*connections = host->connections;
	return host->connected;
}

static void *buffer(struct ktop_transport *self)
{
	struct fake_host *host = (struct fake_host *)self;

	return host->free ? host->buffer : NULL;
}

static void send(struct ktop_transport *self, uint32_t size)
{
	struct fake_host *host = (struct fake_host *)self;

	assert_true(host->free > 0 && size > 0 && size <= KTOP_PACKET_MAX);
	host->free--;
	host->buffers++;
	if (host->hear && !host->deaf)
		host->hear(host->context, host->buffer, size);
	for (uint32_t at = 0; at < size && !host->deaf;)
		at += read_packet(host, host->buffer + at, size - at);
	memset(host->buffer, 0xee, sizeof(host->buffer));
}

static uint32_t receive(struct ktop_transport *self, void *to, uint32_t size)
{
	struct fake_host *host = (struct fake_host *)self;
	uint32_t count = (uint32_t)strlen(host->input);

	if (count > size)
		count = size;
	if (count > host->chunk)
		count = host->chunk;
	memcpy(to, host->input, count);
	host->input += count;
	return count;
}

struct fake_host *fake_host_new(void)
{
	struct fake_host *host = calloc(1, sizeof(*host));

	assert_non_null(host);
	host->transport = (struct ktop_transport) {
		.connected = is_connected,
		.buffer = buffer,
		.send = send,
		.receive = receive,
	};
	host->free = UINT32_MAX;
	host->chunk = UINT32_MAX;
	host->input = "";
	return host;
}

void fake_host_free(struct fake_host *host)
{
	free(host->events);
	free(host);
}

void fake_host_connect(struct fake_host *host)
{
	host->connected = true;
	host->connections++;
}

void fake_host_drain(struct ktop *ktop)
{
	int calls = 0;

	while (ktop_drain(ktop))
		assert_true(++calls < 1000);
}

void fake_host_forget(struct fake_host *host)
{
	host->count = 0;
}

const struct fake_event *fake_host_last(const struct fake_host *host, enum ktop_event id)
{
	for (uint32_t i = host->count; i-- > 0;)
		if (host->events[i].id == id)
			return &host->events[i];
	return NULL;
}

uint32_t fake_host_count(const struct fake_host *host, enum ktop_event id)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < host->count; i++)
		count += host->events[i].id == id;
	return count;
}

const char *fake_text(const struct fake_event *event, uint32_t fixed, uint32_t index)
{
	static char text[KTOP_TEXT_MAX + 1];
	const uint8_t *at, *end;
	uint16_t size;

	assert_non_null(event);
	at = event->payload + fixed;
	end = event->payload + event->size;
	do {
		assert_true(end - at >= 2);
		memcpy(&size, at, sizeof(size));
		at += sizeof(size);
		assert_true(size <= end - at && size < sizeof(text));
		memcpy(text, at, size);
		text[size] = 0;
		at += size;
	} while (index--);
	return text;
}
