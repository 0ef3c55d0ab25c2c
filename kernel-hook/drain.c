/* SPDX-License-Identifier: MIT */
/*
 * The drainer: moves the events of the rings and of meta.c into packets, and the packets into the transport's buffers,
 * a bounded number of them in each call. All functions run in the drainer's thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/packet.h"
#include "hook.h"
#include "ktop.h"
#include "port.h"
#include "transport.h"
#include "write_sample.h"

enum {
	BUFFERS = 16,			/* in one call */
	META_BYTES = KTOP_PACKET_MAX / 2,	/* in one call: the rings get the rest */
};

/* What one call of ktop_drain() sends. */
struct out {
	struct ktop *ktop;
	struct ktop_packet packet;
	uint64_t now;			/* the clock when the call began */
	uint32_t buffers;		/* how many this call may still take */
	bool stalled;			/* the transport had none */
};

/* Sends the buffer, if there is anything in it. An empty one stays the transport's next buffer. */
static void send(struct out *out)
{
	struct ktop_transport *transport = out->ktop->transport;

	if (out->packet.buffer && out->packet.used)
		transport->send(transport, out->packet.used);
	out->packet = (struct ktop_packet) { .buffer = NULL };
}

/* Sends this buffer and takes another. False: the transport has none, or this drain has used all that it may. */
static bool next_buffer(struct out *out)
{
	struct ktop_transport *transport = out->ktop->transport;

	send(out);
	if (out->buffers == 0)
		return false;
	out->packet.buffer = transport->buffer(transport);
	out->stalled = out->packet.buffer == NULL;
	if (out->stalled)
		return false;
	out->packet.limit = KTOP_PACKET_MAX;
	out->buffers--;
	return true;
}

/*
 * Opens a packet in this buffer, or in the next one if this one is full. It has room for an event of `payload` bytes;
 * with 0, it need not have room for any. False: there is no buffer.
 */
static bool open_packet(struct out *out, struct ktop_stream_id id, struct ktop_books *books, uint32_t payload)
{
	id.boot_id = out->ktop->meta.boot_id;
	if (out->packet.buffer && ktop_packet_open(&out->packet, &id, books, payload))
		return true;
	return next_buffer(out) && ktop_packet_open(&out->packet, &id, books, payload);
}

/* Sends one packet of meta events, if there is one to send. True: all meta events were sent. */
static bool pack_meta(struct out *out)
{
	struct ktop_stream_id id = { .stream = KTOP_META };
	struct ktop_packet *packet = &out->packet;
	uint8_t *to = NULL;
	uint32_t size;
	uint16_t event;

	if (!open_packet(out, id, &out->ktop->cpu[0].books[KTOP_META], KTOP_SAMPLE_ROOM))
		return false;
	packet->limit = META_BYTES;
	while ((to = ktop_packet_room(packet, out->now, KTOP_SAMPLE_ROOM)) &&
			(size = ktop_meta_next(out->ktop, out->now, to, &event)))
		ktop_packet_add(packet, event, size);
	packet->limit = KTOP_PACKET_MAX;
	if (packet->events)
		ktop_packet_close(packet, out->now, 0);
	else
		ktop_packet_cancel(packet);
	return to != NULL;
}

/*
 * Packs what was in the ring when this drain began; if there was nothing, a heartbeat that is due. True: all of it is
 * packed. Nothing is while a writer may still move the tail: the next drain comes soon enough.
 */
static bool pack_ring(struct out *out, struct ktop_cpu *cpu, struct ktop_stream_id id)
{
	struct ktop_ring *ring = ktop_ring(cpu, id.stream);
	struct ktop_books *books = &cpu->books[id.stream];
	uint64_t head = cpu->until[id.stream - KTOP_SAMPLES];
	const struct ktop_record *record = ring->settled ? ktop_ring_first(ring, head) : NULL;

	if (!ring->settled)
		return true;
	if (record == NULL && out->now - books->sent < ktop_beat(out->ktop))
		return true;
	if (!open_packet(out, id, books, record ? record->size : 0))
		return false;
	while ((record = ktop_ring_first(ring, head))) {
		uint8_t *to = ktop_packet_room(&out->packet, record->time, record->size);

		if (to == NULL) {
			ktop_packet_close(&out->packet, out->now, ktop_ring_lost(ring));
			if (!open_packet(out, id, books, record->size))
				return false;
			continue;
		}
		__builtin_memcpy(to, record->payload, record->size);
		ktop_packet_add(&out->packet, record->id, record->size);
		ktop_ring_drop(ring, record);
	}
	ktop_packet_close(&out->packet, out->now, ktop_ring_lost(ring));
	return true;
}

/* Packs all rings, beginning with the one at which buffers ran out last time. True: every ring is done. */
static bool pack_rings(struct out *out)
{
	struct ktop *ktop = out->ktop;
	uint32_t rings = ktop->cpus * KTOP_CLASSES;

	for (uint32_t i = 0; i < rings; i++) {
		struct ktop_cpu *cpu = &ktop->cpu[ktop->cursor / KTOP_CLASSES];
		struct ktop_stream_id id = {
			.stream = KTOP_SAMPLES + ktop->cursor % KTOP_CLASSES,
			.cpu = ktop->cursor / KTOP_CLASSES,
		};
		uint64_t sequence = cpu->books[id.stream].sequence;
		bool all = pack_ring(out, cpu, id);

		/* A ring from which a packet was sent has had its turn: it does not starve the others. */
		if (all || sequence != cpu->books[id.stream].sequence)
			ktop->cursor = (ktop->cursor + 1) % rings;
		if (!all)
			return false;
	}
	return true;
}

/*
 * Events that are written after this are left to the next call. Names are sent after this and before the rings, so
 * the names that a sample needs come before it.
 */
static void mark_rings(struct ktop *ktop)
{
	for (uint32_t i = 0; i < ktop->cpus; i++)
		for (uint32_t class = 0; class < KTOP_CLASSES; class++)
			if (ktop_ring_settle(&ktop->cpu[i].rings[class]))
				ktop->cpu[i].until[class] = ktop_ring_head(&ktop->cpu[i].rings[class]);
}

/* Nobody reads: the newest events are kept. */
static void roll_rings(struct ktop *ktop)
{
	for (uint32_t i = 0; i < ktop->cpus; i++)
		for (uint32_t class = 0; class < KTOP_CLASSES; class++)
			ktop_ring_roll(&ktop->cpu[i].rings[class]);
}

/* True: there is more to send, and the transport has buffers. */
static bool send_all(struct ktop *ktop)
{
	struct out out = { .ktop = ktop, .now = ktop_port_clock(), .buffers = BUFFERS };
	bool said, packed;

	mark_rings(ktop);
	said = pack_meta(&out);
	packed = pack_rings(&out);
	send(&out);
	ktop->stalled = out.stalled;
	return !out.stalled && !(said && packed);
}

/* Counts the time since the last drain for each class that is on. */
static void count_spans(struct ktop *ktop, uint64_t now)
{
	for (uint32_t i = 0; i < ktop->cpus; i++)
		for (uint32_t class = 0; class < KTOP_CLASSES; class++)
			if (ktop_on(ktop, i, KTOP_SAMPLES + class))
				ktop->cpu[i].span[class] += now - ktop->accounted;
	ktop->accounted = now;
}

/* A new host knows nothing yet: it gets all meta events, and a packet of each ring at once. */
static void greet(struct ktop *ktop, uint64_t now)
{
	ktop_control_reset(ktop);
	ktop_meta_hello(ktop);
	for (uint32_t i = 0; i < ktop->cpus; i++)
		for (uint32_t class = 0; class < KTOP_CLASSES; class++)
			ktop->cpu[i].books[KTOP_SAMPLES + class].sent = now - ktop_beat(ktop);
}

bool ktop_drain(struct ktop *ktop)
{
	struct ktop_transport *transport = ktop->transport;
	uint64_t now = ktop_port_clock();
	uint32_t connections = 0;
	bool connected = transport && transport->connected(transport, &connections);

	count_spans(ktop, now);
	ktop->stalled = false;
	if (connected && connections != ktop->connections) {
		ktop->connections = connections;
		greet(ktop, now);
	}
	ktop_control(ktop, connected);
	ktop_black_box_keep(ktop);
	if (!connected)
		roll_rings(ktop);
	return connected && (send_all(ktop) || ktop_control_more(ktop));
}

/*
 * Clock ticks until half a ring can be full of the largest samples. UINT64_MAX: never. With trace points on, nobody
 * knows how many events there will be: 50 ms.
 */
static uint64_t until_half_full(const struct ktop *ktop)
{
	uint64_t samples = ktop->cpu[0].rings[0].size / 2 / ktop_ring_bytes(KTOP_SAMPLE_ROOM);

	if (ktop->tracing)
		return ktop_beat(ktop);
	return ktop->sampler == KTOP_NONE ? UINT64_MAX : samples * ktop->period;
}

/*
 * 90 ms after the last drain, or 40 ms while the host does not read, to try again sooner. Earlier, if a ring may be
 * half full by then.
 */
uint64_t ktop_drain_by(const struct ktop *ktop)
{
	uint64_t wait = ktop->stalled ? ktop->hz / 25 : ktop->hz / 100 * 9;
	uint64_t half = until_half_full(ktop);

	return ktop->accounted + (wait < half ? wait : half);
}
