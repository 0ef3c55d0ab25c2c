/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_watch.h"
#include "agent/guest/raw_samples.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/payload.h"
#include "agent/wire/recording_writer.h"
#include "kernel-hook/wire.h"
#include "recorded_packets.h"

enum {
	SHARE = 8,			/* held packets take 1 / SHARE of the budget at most */
	GIVE_MOST = 16,			/* held packets that are walked and go on before one that comes */
	LEVEL = 3,			/* of zstd */
	HEAD = sizeof(struct ktop_wire_packet),
};

struct held {
	struct held *next;
	struct packet packet;
	uint64_t look;			/* the number of the first look that began after it */
	uint32_t owners;		/* samples whose process was found by their page tables */
	uint8_t bytes[];		/* of the packet */
};

struct recorded_packets {
	recorded_taker *take;
	void *context;
	struct epoch *epoch;		/* of the held packets; NULL: none came yet */
	struct held *first, **last;
	size_t bytes;			/* that are charged for held packets */
	uint64_t events;		/* in these */
	size_t waits;			/* where in the first one the event is that still waited; 0: not known */
	ZSTD_CCtx *packer;		/* NULL: there was no memory for it */
	uint8_t made[KTOP_PACKET_MAX];
};

/* ---- samples ---- */

static uint8_t arch_of(enum arch_id arch)
{
	return arch == ARCH_I386 ? KTOP_I386 : arch == ARCH_RISCV64 ? KTOP_RISCV64 :
		arch == ARCH_AARCH64 ? KTOP_AARCH64 : KTOP_X86_64;
}

static void put_frames(struct made_event *made, const void *frames, uint32_t count)
{
	uint64_t words[KTOP_FRAMES_MAX];

	for (uint32_t i = 0; i < count; i++)
		words[i] = sample_frame(frames, i);
	made_event_words(made, words, count);
}

static uint8_t flags_of(const struct sample *sample)
{
	static const uint8_t contexts[CONTEXTS] = {
		[CONTEXT_TASK] = KTOP_TASK, [CONTEXT_IRQ] = KTOP_IRQ, [CONTEXT_SOFTIRQ] = KTOP_SOFTIRQ,
	};

	return (uint8_t)((sample->kernel_cut ? KTOP_KERNEL_CUT : 0) | (sample->user_cut ? KTOP_USER_CUT : 0) |
		(sample->entry ? KTOP_ENTRY : 0) | (sample->user_exact ? KTOP_USER_EXACT : 0) |
		contexts[sample->context]);
}

/* One that the hook took is a sample as hooks without stacks of programs send it. */
static void put_sample(struct made_event *made, const struct sample *sample)
{
	const struct ktop_wire_sample hooks = {
		.process = sample->process, .thread = sample->thread, .mode = (uint8_t)sample->mode,
		.flags = flags_of(sample), .weight = sample->weight, .exact = sample->exact,
	};
	const struct ktop_wire_walked_sample wire = {
		.process = sample->process, .thread = sample->thread, .mode = (uint8_t)sample->mode,
		.flags = flags_of(sample), .arch = arch_of(sample->arch), .weight = sample->weight,
		.exact = sample->exact, .space = sample->space,
	};

	if (sample->walked)
		made_event_begin(made, KTOP_EVENT_walked_sample, &wire, sizeof(wire));
	else
		made_event_begin(made, KTOP_EVENT_sample, &hooks, sizeof(hooks));
	put_frames(made, sample->kernel, sample->kernel_count);
	put_frames(made, sample->user, sample->user_count);
	if (sample->walked)
		made_event_text(made, sample->name);
}

/* What is known of the event's stack. What is no raw sample is known, and `made` is empty then. */
static enum raw_state walk(struct recorded_packets *recorded, const struct held *held, size_t at, uint32_t *owners,
	struct made_event *made)
{
	const uint8_t *payload = held->packet.bytes + at + sizeof(struct ktop_wire_event);
	struct ktop_wire_event wire;
	struct raw_stack stack;
	enum raw_state state;
	struct event event;

	memcpy(&wire, held->packet.bytes + at, sizeof(wire));
	event = (struct event) { .id = wire.id };
	made->size = 0;
	if (payload_stream(NULL, wire.id) != STREAM_SAMPLES || !payload_read(NULL, payload, wire.size, &event) ||
			event.kind != EVENT_RAW_SAMPLE)
		return RAW_KNOWN;
	state = epoch_walk(recorded->epoch, &event, held->look, &stack);
	*owners += event.raw.owner != 0;
	if (state == RAW_KNOWN)
		put_sample(made, &stack.sample);
	if (made->size > wire.size)
		made->size = 0;
	return state;
}

/* ---- memory ---- */

/* Packs a page in place of the event at `to`. False: it is none, or gets no smaller. */
static bool pack(struct recorded_packets *recorded, const struct ktop_wire_event *wire, const uint8_t *payload,
	uint8_t *to, size_t *size)
{
	const size_t fixed = sizeof(struct ktop_wire_packed_memory), lists = fixed + sizeof(uint16_t);
	struct ktop_wire_event head = { .time = wire->time, .id = KTOP_EVENT_packed_memory };
	uint16_t count;
	size_t packed;

	if (wire->id != KTOP_EVENT_memory || wire->size != lists + KTOP_MEMORY_PAGE || !recorded->packer)
		return false;
	packed = ZSTD_compressCCtx(recorded->packer, to + sizeof(head) + lists, KTOP_MEMORY_PAGE - 1, payload + lists,
		KTOP_MEMORY_PAGE, LEVEL);
	if (ZSTD_isError(packed))
		return false;
	count = (uint16_t)packed;
	head.size = (uint16_t)(lists + packed);
	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), payload, fixed);
	memcpy(to + sizeof(head) + fixed, &count, sizeof(count));
	*size = sizeof(head) + head.size;
	return true;
}

/* ---- packets ---- */

/* Puts the event at `at` into the packet that is made, in the smallest form that it has. */
static size_t put_event(struct recorded_packets *recorded, const uint8_t *from, const struct made_event *made,
	size_t size)
{
	uint8_t *to = recorded->made + size;
	struct ktop_wire_event wire;
	size_t packed;

	memcpy(&wire, from, sizeof(wire));
	if (!made->size && pack(recorded, &wire, from + sizeof(wire), to, &packed))
		return size + packed;
	if (made->size) {
		wire.id = made->id;
		wire.size = (uint16_t)made->size;
	}
	memcpy(to, &wire, sizeof(wire));
	memcpy(to + sizeof(wire), made->size ? made->bytes : from + sizeof(wire), wire.size);
	return size + sizeof(wire) + wire.size;
}

/* Once a process is found by its page tables, the next look finds its files. True: that look is still to come. */
static bool has_new_owners(struct recorded_packets *recorded, struct held *held, uint32_t owners)
{
	uint64_t look = kernel_watch_looks(recorded->epoch->watch).begun + 1;
	bool later = owners > held->owners && look > held->look;

	held->owners = owners > held->owners ? owners : held->owners;
	held->look = later ? look : held->look;
	return later;
}

/* Gives the packet on, unless it waits for something; `all`: it cannot wait. */
static bool give(struct recorded_packets *recorded, struct held *held, bool all)
{
	const struct packet *packet = &held->packet;
	struct packet small = *packet;
	struct ktop_wire_packet head;
	struct ktop_wire_event wire;
	struct made_event made;
	uint32_t owners = 0;
	size_t size = HEAD;

	for (size_t at = HEAD; at + sizeof(wire) <= packet->size; at += sizeof(wire) + wire.size) {
		made.size = 0;
		memcpy(&wire, packet->bytes + at, sizeof(wire));
		if (packet->stream == STREAM_SAMPLES && walk(recorded, held, at, &owners, &made) == RAW_WAITS && !all) {
			recorded->waits = at;
			return false;
		}
		size = put_event(recorded, packet->bytes + at, &made, size);
	}
	if (!all && has_new_owners(recorded, held, owners))
		return false;
	memcpy(&head, packet->bytes, sizeof(head));
	head.content_size = head.packet_size = 8 * size;
	memcpy(recorded->made, &head, sizeof(head));
	small.bytes = recorded->made;
	small.size = size;
	recorded->take(recorded->context, &small);
	return true;
}

/* The first one waits for the same event as it did before. */
static bool waits_still(struct recorded_packets *recorded)
{
	struct made_event made;
	uint32_t owners = 0;

	return recorded->waits && walk(recorded, recorded->first, recorded->waits, &owners, &made) == RAW_WAITS;
}

/* Gives the first one on. False: it waits. */
static bool give_first(struct recorded_packets *recorded, bool all)
{
	struct held *held = recorded->first;
	size_t size = sizeof(*held) + held->packet.size;

	if (!all && waits_still(recorded))
		return false;
	recorded->waits = 0;
	if (!give(recorded, held, all))
		return false;
	recorded->first = held->next;
	if (!recorded->first)
		recorded->last = &recorded->first;
	recorded->events -= metadata_events(&held->packet);
	recorded->bytes -= size;
	budget_free(recorded->epoch->inputs.budget, held, size);
	return true;
}

static bool hold(struct recorded_packets *recorded, const struct held *held)
{
	struct budget *budget = recorded->epoch->inputs.budget;
	size_t size = sizeof(*held) + held->packet.size, most = budget_share(budget, SHARE);
	struct held *copy;

	while (recorded->first && size > most - recorded->bytes)
		give_first(recorded, true);
	copy = size > most ? NULL : budget_resize(budget, NULL, 0, size);
	if (!copy)
		return false;
	*copy = *held;
	memcpy(copy->bytes, held->packet.bytes, held->packet.size);
	copy->packet.bytes = copy->bytes;
	copy->packet.boot_id = copy->bytes + offsetof(struct ktop_wire_packet, boot_id);
	*recorded->last = copy;
	recorded->last = &copy->next;
	recorded->bytes += size;
	recorded->events += metadata_events(&held->packet);
	return true;
}

static void set_epoch(struct recorded_packets *recorded, struct epoch *epoch)
{
	if (recorded->epoch == epoch)
		return;
	recorded_packets_flush(recorded);
	epoch_release(recorded->epoch);
	recorded->epoch = epoch_hold(epoch);
}

void recorded_packets_add(struct recorded_packets *recorded, const struct packet *packet, struct epoch *epoch)
{
	struct held held = { .packet = *packet };
	bool given;

	set_epoch(recorded, epoch);
	held.look = kernel_watch_looks(epoch->watch).begun + 1;
	if (packet->stream != STREAM_SAMPLES) {
		give(recorded, &held, true);
		return;
	}
	for (int i = 0; i < GIVE_MOST && recorded->first && give_first(recorded, false); i++)
		continue;
	given = !recorded->first && give(recorded, &held, false);
	if (given || hold(recorded, &held))
		return;
	recorded_packets_flush(recorded);
	give(recorded, &held, true);
}

void recorded_packets_flush(struct recorded_packets *recorded)
{
	while (recorded->first)
		give_first(recorded, true);
}

uint64_t recorded_packets_held(const struct recorded_packets *recorded)
{
	return recorded->events;
}

struct recorded_packets *recorded_packets_new(recorded_taker *take, void *context)
{
	struct recorded_packets *recorded = util_alloc(sizeof(*recorded));

	recorded->take = take;
	recorded->context = context;
	recorded->last = &recorded->first;
	recorded->packer = ZSTD_createCCtx();
	return recorded;
}

void recorded_packets_free(struct recorded_packets *recorded)
{
	struct held *held;

	if (!recorded)
		return;
	while ((held = recorded->first)) {
		recorded->first = held->next;
		budget_free(recorded->epoch->inputs.budget, held, sizeof(*held) + held->packet.size);
	}
	epoch_release(recorded->epoch);
	ZSTD_freeCCtx(recorded->packer);
	free(recorded);
}

void recorded_packet_retime(struct packet *packet, uint8_t *bytes, uint64_t time)
{
	struct ktop_wire_packet head;
	struct ktop_wire_event event;

	memcpy(&head, bytes, sizeof(head));
	head.begin = head.end = packet->begin = packet->end = time;
	memcpy(bytes, &head, sizeof(head));
	for (size_t at = sizeof(head); at + sizeof(event) <= packet->size; at += sizeof(event) + event.size) {
		memcpy(&event, bytes + at, sizeof(event));
		event.time = (uint32_t)time;
		memcpy(bytes + at, &event, sizeof(event));
	}
}

/* ---- packet maker ---- */

enum { HEADER = sizeof(struct ktop_wire_packet) };

struct packet_maker {
	struct recording_writer *writer;
	const uint8_t *boot_id;
	struct ktop_wire_packet head;	/* of the present packet; begin <= end: its last event */
	uint64_t events;		/* in it */
	size_t size;			/* of it, in bytes */
	uint8_t bytes[KTOP_PACKET_MAX];
};

/* ---- events ---- */

void made_event_begin(struct made_event *event, uint16_t id, const void *fixed, size_t size)
{
	event->id = id;
	event->size = size;
	memcpy(event->bytes, fixed, size);
}

static void add_list(struct made_event *event, const void *list, uint16_t count, size_t size)
{
	memcpy(event->bytes + event->size, &count, sizeof(count));
	if (size)
		memcpy(event->bytes + event->size + sizeof(count), list, size);
	event->size += sizeof(count) + size;
}

void made_event_text(struct made_event *event, struct text text)
{
	size_t left = MADE_EVENT_MOST - event->size - sizeof(uint16_t);
	size_t most = left < KTOP_TEXT_MAX ? left : KTOP_TEXT_MAX, size = text.size < most ? text.size : most;

	add_list(event, text.bytes, (uint16_t)size, size);
}

void made_event_words(struct made_event *event, const uint64_t *words, uint32_t count)
{
	add_list(event, words, (uint16_t)count, count * sizeof(*words));
}

/* ---- packets ---- */

struct packet_maker *packet_maker_new(struct recording_writer *writer, const uint8_t *boot_id, enum stream stream,
	uint32_t cpu, uint64_t begin)
{
	struct packet_maker *maker = util_alloc(sizeof(*maker));

	maker->writer = writer;
	maker->boot_id = boot_id;
	maker->size = HEADER;
	maker->head = (struct ktop_wire_packet) {
		.magic = KTOP_MAGIC, .stream = stream, .cpu = cpu, .begin = begin, .end = begin,
	};
	memcpy(maker->head.boot_id, boot_id, KTOP_BOOT_ID);
	return maker;
}

void packet_maker_free(struct packet_maker *maker)
{
	free(maker);
}

/* Also if there is no event in it. The next packet begins where this one ends. */
static void end_packet(struct packet_maker *maker)
{
	maker->head.content_size = maker->head.packet_size = 8 * maker->size;
	memcpy(maker->bytes, &maker->head, HEADER);
	recording_writer_packet(maker->writer, &(struct packet) {
		.bytes = maker->bytes, .size = maker->size, .boot_id = maker->boot_id,
		.stream = (enum stream)maker->head.stream, .cpu = maker->head.cpu,
		.begin = maker->head.begin, .end = maker->head.end,
	});
	recording_writer_wait(maker->writer);
	maker->head.begin = maker->head.end;
	maker->head.sequence++;
	maker->head.before += maker->events;
	maker->events = 0;
	maker->size = HEADER;
}

void packet_maker_flush(struct packet_maker *maker)
{
	if (maker->events)
		end_packet(maker);
}

void packet_maker_books(struct packet_maker *maker, uint64_t before, uint64_t discarded)
{
	maker->head.before = before;
	maker->head.discarded = discarded;
}

void packet_maker_put(struct packet_maker *maker, uint64_t time, uint16_t id, const void *payload, size_t size)
{
	const uint64_t at = time > maker->head.end ? time : maker->head.end;
	const struct ktop_wire_event wire = { .time = (uint32_t)at, .id = id, .size = (uint16_t)size };

	if (maker->size + sizeof(wire) + size > sizeof(maker->bytes) || at - maker->head.begin > UINT32_MAX)
		packet_maker_flush(maker);
	if (!maker->events)			/* nothing is told of the time between two packets */
		maker->head.begin = at;
	memcpy(maker->bytes + maker->size, &wire, sizeof(wire));
	if (size)
		memcpy(maker->bytes + maker->size + sizeof(wire), payload, size);
	maker->size += sizeof(wire) + size;
	maker->head.end = at;
	maker->events++;
}

void packet_maker_add(struct packet_maker *maker, uint64_t time, const struct made_event *event)
{
	packet_maker_put(maker, time, event->id, event->bytes, event->size);
}

void packet_maker_end(struct packet_maker *maker, uint64_t time)
{
	packet_maker_flush(maker);
	maker->head.begin = maker->head.end = time;
	end_packet(maker);
}
