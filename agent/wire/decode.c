/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "kernel-hook/wire.h"
#include "decode.h"
#include "payload.h"
#include "trace_kinds.h"

enum {
	HEADER = sizeof(struct ktop_wire_packet),
	MAGIC = sizeof(uint32_t),
	MARK = MAGIC + KTOP_BOOT_ID,		/* magic and boot id: how a packet of one boot begins */
	PACKET_AND_MARK = KTOP_PACKET_MAX + MARK,	/* enough bytes to decide on the packet at the head */
	BUFFER_SIZE = 4 * KTOP_PACKET_MAX,	/* large, so that moving the rest down is rare */
};

/* One stream on one CPU. */
struct lane {
	struct books books;
	uint64_t first_sequence;		/* of its first packet in this epoch; lower if later ones contradict */
	uint64_t next_sequence, taken, end;	/* as its last packet says, of those that the guest has sent */
	uint64_t put;				/* events that are in packets, up to the end of the last one */
	uint64_t counted;			/* `taken`, with what came ahead */
	bool ahead;				/* some of them came ahead, and the guest may still send them */
};

struct decode {
	struct decode_sink sink;
	struct decode_counts counts;
	bool skipping;				/* bytes were skipped since the last packet */
	bool held;				/* the sink has stopped the last feed */
	bool ahead;				/* see decode_ahead */

	bool booted;
	uint8_t boot_id[KTOP_BOOT_ID];
	struct lane *lanes[STREAMS];
	size_t lane_counts[STREAMS], lane_rooms[STREAMS];
	struct trace_kinds *kinds;		/* of this boot */

	struct event events[DECODE_EVENTS];	/* decoded, not yet handed out */
	size_t event_count;

	const uint8_t *bytes;			/* the buffer, or the bytes that are being fed */
	size_t head, tail;			/* of `bytes`: what is not handled yet */
	size_t searched;			/* bytes at head that were searched: no other packet begins there */
	uint8_t buffer[BUFFER_SIZE];
};

struct decode *decode_new(const struct decode_sink *sink)
{
	struct decode *decode = util_alloc(sizeof(*decode));

	decode->sink = *sink;
	decode->bytes = decode->buffer;
	decode->kinds = trace_kinds_new();
	return decode;
}

static void lanes_clear(struct decode *decode)
{
	for (int i = 0; i < STREAMS; i++) {
		free(decode->lanes[i]);
		decode->lanes[i] = NULL;
		decode->lane_counts[i] = decode->lane_rooms[i] = 0;
	}
}

void decode_free(struct decode *decode)
{
	if (!decode)
		return;
	lanes_clear(decode);
	trace_kinds_free(decode->kinds);
	free(decode);
}

static struct lane *lane_of(struct decode *decode, uint32_t stream, uint32_t cpu)
{
	size_t count = decode->lane_counts[stream];

	if (cpu >= decode->lane_rooms[stream]) {
		decode->lane_rooms[stream] = cpu + 1 + count;
		decode->lanes[stream] = util_grow(decode->lanes[stream], cpu + 1 + count,
			sizeof(struct lane));
	}
	if (cpu >= count) {
		memset(decode->lanes[stream] + count, 0, (cpu + 1 - count) * sizeof(struct lane));
		decode->lane_counts[stream] = cpu + 1;
	}
	return &decode->lanes[stream][cpu];
}

/* ---- one packet ---- */

static struct ktop_wire_event event_at(const uint8_t *at)
{
	struct ktop_wire_event wire;

	memcpy(&wire, at, sizeof(wire));
	return wire;
}

/* Do the events' sizes add up to the packet's, to the byte? */
static bool is_whole(const uint8_t *bytes, size_t size)
{
	size_t at = HEADER;

	while (size - at >= sizeof(struct ktop_wire_event)) {
		size_t step = sizeof(struct ktop_wire_event) + event_at(bytes + at).size;

		if (step > size - at)
			return false;
		at += step;
	}
	return at == size;
}

/* Reads one event. Returns whether it counts as received; `*known`: whether it is handed out. */
static bool read_event(struct decode *decode, const struct packet *packet, const uint8_t *payload,
	size_t size, struct event *event, bool *known)
{
	uint32_t stream = payload_stream(decode->kinds, event->id);

	*known = stream == packet->stream && payload_read(decode->kinds, payload, size, event);
	if (*known && event->kind == EVENT_DESCRIPTOR)
		trace_kinds_learn(decode->kinds, event);
	if (stream == STREAMS)
		decode->counts.unknown_events++;
	else if (!*known)
		decode->counts.bad_events++;
	return *known || stream == STREAMS;
}

static void hand_out(struct decode *decode)
{
	if (decode->event_count)
		decode->sink.events(decode->sink.context, decode->events, decode->event_count);
	decode->event_count = 0;
}

/* Returns how many events the packet has; `*received`: how many of them, behind those known, count as received. */
static uint64_t deliver_events(struct decode *decode, const struct packet *packet, uint64_t known_before,
	uint64_t *received)
{
	uint64_t count = 0, last = packet->begin;

	*received = 0;
	for (size_t at = HEADER; at < packet->size; count++) {
		struct ktop_wire_event wire = event_at(packet->bytes + at);
		uint64_t time = last + (uint32_t)(wire.time - (uint32_t)last);
		const uint8_t *payload = packet->bytes + at + sizeof(wire);
		struct event *event = &decode->events[decode->event_count];
		bool known;

		at += sizeof(wire) + wire.size;
		if (time < last || time > packet->end) {
			decode->counts.bad_events++;
			continue;
		}
		last = time;
		if (count < known_before)
			continue;
		event->id = wire.id;
		event->cpu = packet->cpu;
		event->time = time;
		*received += read_event(decode, packet, payload, wire.size, event, &known);
		decode->event_count += known;
		if (decode->event_count == DECODE_EVENTS)
			hand_out(decode);
	}
	hand_out(decode);
	return count;
}

/* Numbers that contradict what was received are corrected, so that the sum of `struct books` always holds. */
static void count_events(struct lane *lane, uint64_t taken, uint64_t received)
{
	struct books *books = &lane->books;

	books->received += received;
	if (taken < books->received)
		taken = books->received;
	if (books->earlier > taken - books->received)
		books->earlier = taken - books->received;
	if (books->earlier_lost > books->earlier)
		books->earlier_lost = books->earlier;
	books->lost = taken - books->received - books->earlier;
	lane->counted = taken;
}

static void count_packet(struct lane *lane, uint64_t sequence)
{
	struct books *books = &lane->books;
	uint64_t sent = sequence + 1;

	books->packets++;
	if (sent < books->packets)
		sent = books->packets;
	if (lane->first_sequence > sent - books->packets)
		lane->first_sequence = sent - books->packets;
	books->missing_packets = sent - books->packets - lane->first_sequence;
	lane->next_sequence = sent;
}

static void keep_books(struct lane *lane, const struct ktop_wire_packet *wire, uint64_t events,
	uint64_t received, bool ahead)
{
	uint64_t earlier = wire->before + wire->discarded, taken = earlier + events;

	if (lane->books.packets == 0) {
		lane->first_sequence = wire->sequence;
		lane->books.earlier = earlier;
		lane->books.earlier_lost = wire->discarded;
	}
	count_events(lane, lane->ahead && taken < lane->counted ? lane->counted : taken, received);
	if (!ahead) {
		count_packet(lane, wire->sequence);
		lane->taken = taken;
		lane->end = wire->end;
	}
	if (ahead || !lane->ahead || wire->before + events > lane->put) {
		lane->put = wire->before + events;
		lane->ahead = ahead;
	}
}

/*
 * The machine was put back to an earlier state of the same boot (loadvm): sequence, clock and count all go
 * back. If only one of them goes back, the packet is damaged.
 */
static bool is_rewound(const struct lane *lane, const struct ktop_wire_packet *wire)
{
	return lane->books.packets && wire->sequence < lane->next_sequence && wire->begin < lane->end &&
		wire->before + wire->discarded < lane->taken;
}

void decode_learn(struct decode *decode, const struct event *descriptor)
{
	trace_kinds_learn(decode->kinds, descriptor);
}

static bool is_foreign(const struct decode *decode, const struct ktop_wire_packet *wire)
{
	return decode->booted && memcmp(decode->boot_id, wire->boot_id, KTOP_BOOT_ID) != 0;
}

static void begin_epoch(struct decode *decode, const uint8_t *boot_id)
{
	lanes_clear(decode);
	trace_kinds_forget(decode->kinds);
	decode->booted = true;
	memcpy(decode->boot_id, boot_id, KTOP_BOOT_ID);
	decode->sink.boot(decode->sink.context, decode->boot_id);
}

/* Events that the guest took after this lane's packet before, and that did not come. */
static uint64_t lost_before(const struct lane *lane, const struct ktop_wire_packet *wire)
{
	uint64_t taken = wire->before + wire->discarded;

	return lane->books.packets && taken > lane->counted ? taken - lane->counted : 0;
}

static void deliver(struct decode *decode, const uint8_t *bytes,
	const struct ktop_wire_packet *wire)
{
	struct packet packet = {
		.bytes = bytes, .size = wire->packet_size / 8, .boot_id = decode->boot_id,
		.stream = wire->stream, .cpu = wire->cpu, .begin = wire->begin, .end = wire->end,
		.content = (uint32_t)(wire->packet_size / 8 - sizeof(*wire)),
		.ahead = decode->ahead,
	};
	uint64_t events, received, known;
	struct lane *lane;

	if (decode->skipping)
		decode->counts.resyncs++;
	decode->skipping = false;
	if (!decode->booted || is_foreign(decode, wire) ||
			(!decode->ahead && is_rewound(lane_of(decode, wire->stream, wire->cpu), wire)))
		begin_epoch(decode, wire->boot_id);

	lane = lane_of(decode, wire->stream, wire->cpu);
	known = lane->ahead && lane->put > wire->before ? lane->put - wire->before : 0;
	packet.lost = lost_before(lane, wire);
	decode->sink.packet(decode->sink.context, &packet);
	events = deliver_events(decode, &packet, known, &received);
	keep_books(lane, wire, events, received, decode->ahead);
	decode->held = decode->sink.more && !decode->sink.more(decode->sink.context);
}

/* ---- the byte stream ---- */

enum step { STEP_ON, STEP_WAIT };

static enum step skip(struct decode *decode, size_t size)
{
	decode->counts.skipped_bytes += size;
	decode->skipping = true;
	decode->head += size;
	decode->searched = 0;
	return STEP_ON;
}

/* The offset of the first place where `mark` stands, or may stand once more bytes have come; else `size`. */
static size_t find(const uint8_t *bytes, size_t size, const uint8_t *mark, size_t mark_size)
{
	const uint8_t *at = bytes, *end = bytes + size;

	for (; at < end && (at = memchr(at, mark[0], (size_t)(end - at))); at++) {
		size_t left = (size_t)(end - at);

		if (memcmp(at, mark, left < mark_size ? left : mark_size) == 0)
			return (size_t)(at - bytes);
	}
	return size;
}

static bool is_plausible(const struct ktop_wire_packet *wire)
{
	return wire->magic == KTOP_MAGIC && wire->stream < STREAMS && wire->cpu < EVENT_CPUS &&
		wire->begin <= wire->end && wire->content_size == wire->packet_size &&
		wire->packet_size % 8 == 0 && wire->packet_size / 8 >= HEADER &&
		wire->packet_size / 8 <= KTOP_PACKET_MAX;
}

/*
 * Looks for the start of another packet of the same boot inside this one. It shows that this packet was
 * cut: the connection broke, or the size is damaged. The search does not wait for the whole packet, so a
 * size that is too large holds nothing up. Returns the offset of the other packet, or 0. `searched` is then
 * the first place where one may still turn out to begin.
 */
static size_t find_cut(struct decode *decode, const uint8_t *bytes, size_t left, size_t size)
{
	size_t end = size - MAGIC + MARK < left ? size - MAGIC + MARK : left;
	size_t at = decode->searched ? decode->searched : 1;

	if (at < end)
		at += find(bytes + at, end - at, bytes, MARK);
	decode->searched = at;
	return at + MARK <= end ? at : 0;
}

/*
 * Handles what stands at the head; STEP_WAIT: more bytes are needed. What is rejected is skipped one byte
 * at a time, and only a magic costs more than one byte's work. So time is linear in the bytes; at worst,
 * each header among them costs the size of a packet.
 */
static enum step step(struct decode *decode)
{
	static const uint32_t magic = KTOP_MAGIC;
	const uint8_t *at = decode->bytes + decode->head;
	size_t left = decode->tail - decode->head, size, other;
	struct ktop_wire_packet wire;

	other = find(at, left, (const uint8_t *)&magic, MAGIC);
	if (other)
		return skip(decode, other);
	if (left < HEADER)
		return STEP_WAIT;
	memcpy(&wire, at, sizeof(wire));
	if (!is_plausible(&wire))
		return skip(decode, 1);

	size = wire.packet_size / 8;
	other = find_cut(decode, at, left, size);
	if (other)
		return skip(decode, other);
	if (left < size || decode->searched + MAGIC <= size)
		return STEP_WAIT;
	if (!is_whole(at, size))
		return skip(decode, 1);

	/* A new boot is believed when a second packet of it follows: damage can forge one packet, not two alike. */
	if (is_foreign(decode, &wire)) {
		if (left - size < MARK)
			return STEP_WAIT;
		if (memcmp(at, at + size, MARK) != 0)
			return skip(decode, 1);
	}
	deliver(decode, at, &wire);
	decode->head += size;
	decode->searched = 0;
	return STEP_ON;
}

/* Copies bytes behind what is in the buffer. Returns how many of them found room. */
static size_t take(struct decode *decode, const uint8_t *bytes, size_t size)
{
	size_t room;

	if (decode->tail == BUFFER_SIZE) {
		decode->tail -= decode->head;
		memmove(decode->buffer, decode->buffer + decode->head, decode->tail);
		decode->head = 0;
	}
	room = BUFFER_SIZE - decode->tail;
	size = size < room ? size : room;
	if (size)
		memcpy(decode->buffer + decode->tail, bytes, size);
	decode->tail += size;
	return size;
}

/* Handles packets until more bytes are needed or the sink stops the decoder. */
static void handle(struct decode *decode)
{
	while (!decode->held && decode->head < decode->tail && step(decode) == STEP_ON)
		;
}

/* For an empty buffer: handles the fed bytes where they are. Returns how many it has handled. */
static size_t handle_in_place(struct decode *decode, const uint8_t *bytes, size_t size)
{
	decode->bytes = bytes;
	decode->tail = size;
	handle(decode);
	size = decode->head;
	decode->bytes = decode->buffer;
	decode->head = decode->tail = 0;
	return size;
}

/* Handles what is in the buffer, with enough of the fed bytes behind it. Gives back those that it did not need. */
static size_t handle_waiting(struct decode *decode, const uint8_t *bytes, size_t size)
{
	size_t waiting = decode->tail - decode->head;
	size_t taken = take(decode, bytes, size < PACKET_AND_MARK ? size : PACKET_AND_MARK);
	size_t end = decode->head + waiting;

	handle(decode);
	if (decode->head < end)
		return taken;
	taken -= decode->tail - decode->head;
	decode->head = decode->tail = 0;
	return taken;
}

size_t decode_feed(struct decode *decode, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	size_t taken = 0;

	decode->held = false;
	handle(decode);
	while (!decode->held && taken < size)
		if (decode->head < decode->tail) {
			taken += handle_waiting(decode, from + taken, size - taken);
		} else {
			decode->head = decode->tail = 0;
			taken += handle_in_place(decode, from + taken, size - taken);
			if (!decode->held)		/* the rest begins a packet */
				taken += take(decode, from + taken, size - taken);
		}
	decode->counts.bytes += taken;
	return taken;
}

bool decode_held(const struct decode *decode)
{
	return decode->held;
}

void decode_forget(struct decode *decode)
{
	decode->booted = false;
}

void decode_ahead(struct decode *decode, bool on)
{
	decode_cut(decode);
	decode->ahead = on;
}

const uint8_t *decode_boot(const struct decode *decode)
{
	return decode->booted ? decode->boot_id : NULL;
}

uint32_t decode_cpus(const struct decode *decode)
{
	const size_t *counts = decode->lane_counts;

	return (uint32_t)(counts[STREAM_SAMPLES] > counts[STREAM_TRACE] ? counts[STREAM_SAMPLES] :
		counts[STREAM_TRACE]);
}

uint64_t decode_put(const struct decode *decode, enum stream stream, uint32_t cpu)
{
	return cpu < decode->lane_counts[stream] ? decode->lanes[stream][cpu].put : 0;
}

void decode_cut(struct decode *decode)
{
	if (decode->tail > decode->head)
		skip(decode, decode->tail - decode->head);
	decode->head = decode->tail = 0;
	decode->held = false;
}

struct books decode_books(const struct decode *decode, enum stream stream, uint32_t cpu)
{
	if (cpu >= decode->lane_counts[stream])
		return (struct books) { 0 };
	return decode->lanes[stream][cpu].books;
}

struct books decode_books_all(const struct decode *decode, enum stream stream)
{
	struct books all = { 0 };

	for (size_t i = 0; i < decode->lane_counts[stream]; i++) {
		const struct books *books = &decode->lanes[stream][i].books;

		all.received += books->received;
		all.lost += books->lost;
		all.earlier += books->earlier;
		all.earlier_lost += books->earlier_lost;
		all.packets += books->packets;
		all.missing_packets += books->missing_packets;
	}
	return all;
}

struct decode_counts decode_counts(const struct decode *decode)
{
	return decode->counts;
}
