/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/cut/recorded_packets.h"
#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "flight.h"

enum {
	SHARE = 8,			/* the budget divided by this is the most for packets */
	META_MOST = 1 << 20,		/* bytes of meta packets after which the guest is asked to tell all again, */
	META_TIMES = 16,		/* and so many times that, after which the oldest are given up */
};

struct kept_packet {
	atomic_uint holders;		/* the flight, and each cut */
	struct budget *budget;		/* paid for it; held */
	uint64_t number;		/* in order of arrival */
	uint64_t end;			/* by the flight's clock */
	uint8_t boot_id[RECORDING_BOOT_ID];
	struct packet packet;
	uint8_t bytes[];
};

struct queue {				/* of packets in order of arrival */
	struct kept_packet **packets;
	size_t first, count, room;	/* those before `first` are gone */
	size_t bytes;
};

struct flight {
	struct budget *budget;		/* held */
	uint64_t lead;
	uint64_t numbers;
	uint64_t clock;			/* ns that the guest's clock went on, over all boots */
	uint64_t boot, last;		/* the present one; its newest time, in guest ns */
	struct queue meta, rest;
	uint64_t asked_at, asked;	/* it was asked to tell all again then, before that packet; 0: it was not */
	bool told;			/* and it does */
	uint64_t given_up;		/* by the clock: for want of memory, all up to there */
};

struct flight_cut {
	struct kept_packet **packets;	/* in order of arrival */
	size_t count;
	const struct kept_packet *first;	/* of them, the first that is no meta packet; NULL: there is none */
	uint64_t begin;			/* clock ticks: where the earliest of its boot's begins */
	uint64_t span;			/* guest ns */
	bool is_short;
	char *name, *kernel;		/* as in struct metadata_machine */
};

/* ---- packets ---- */

static void packet_release(struct kept_packet *kept)
{
	struct budget *budget = kept->budget;

	/* Each holder releases. The last one acquires, and frees only after all others have stopped reading. */
	if (atomic_fetch_sub_explicit(&kept->holders, 1, memory_order_acq_rel) != 1)
		return;
	budget_free(budget, kept, sizeof(*kept) + kept->packet.size);
	budget_release(budget);
}

/* NULL: the budget has no room. */
static struct kept_packet *packet_keep(struct flight *flight, const struct packet *packet)
{
	struct budget *budget = flight->budget;
	struct kept_packet *kept = budget_resize(budget, NULL, 0, sizeof(*kept) + packet->size);

	if (!kept)
		return NULL;
	*kept = (struct kept_packet) {
		.budget = budget_hold(budget), .number = ++flight->numbers, .packet = *packet,
		.end = flight->clock,
	};
	atomic_init(&kept->holders, 1);
	memcpy(kept->bytes, packet->bytes, packet->size);
	kept->packet.bytes = kept->bytes;
	memcpy(kept->boot_id, packet->boot_id, sizeof(kept->boot_id));
	kept->packet.boot_id = kept->boot_id;
	return kept;
}

static void queue_add(struct queue *queue, struct kept_packet *kept)
{
	if (queue->first + queue->count == queue->room) {
		if (queue->first > queue->count)
			memmove(queue->packets, queue->packets + queue->first, queue->count * sizeof(*queue->packets));
		else
			queue->packets = util_grow(queue->packets, queue->room = 2 * queue->room + 64,
				sizeof(*queue->packets));
		if (queue->first > queue->count)
			queue->first = 0;
	}
	queue->packets[queue->first + queue->count++] = kept;
	queue->bytes += sizeof(*kept) + kept->packet.size;
}

static struct kept_packet *queue_first(const struct queue *queue)
{
	return queue->count ? queue->packets[queue->first] : NULL;
}

static void queue_drop(struct queue *queue)
{
	struct kept_packet *kept = queue->packets[queue->first++];

	queue->count--;
	queue->bytes -= sizeof(*kept) + kept->packet.size;
	packet_release(kept);
}

static void queue_clear(struct queue *queue)
{
	while (queue->count)
		queue_drop(queue);
	free(queue->packets);
}

/* ---- what is kept ---- */

/*
 * After many meta packets the guest tells all again. Once what it has told by then is as old as what is kept, no packet
 * before that is needed.
 */
static bool renew_meta(struct flight *flight)
{
	bool asks = !flight->asked && flight->meta.bytes > META_MOST;

	if (asks) {
		flight->asked = flight->numbers + 1;
		flight->asked_at = flight->clock;
		flight->told = false;
	}
	if (!flight->told || !flight->asked || flight->clock < flight->asked_at + flight->lead + NS_PER_SECOND)
		return asks;
	while (queue_first(&flight->meta) && queue_first(&flight->meta)->number < flight->asked)
		queue_drop(&flight->meta);
	flight->asked = 0;
	return false;
}

static void forget_old(struct flight *flight)
{
	const size_t most = budget_share(flight->budget, SHARE);

	while (queue_first(&flight->rest) && (queue_first(&flight->rest)->end + flight->lead < flight->clock ||
			flight->rest.bytes > most)) {
		if (flight->rest.bytes > most)
			flight->given_up = queue_first(&flight->rest)->end;
		queue_drop(&flight->rest);
	}
	for (; flight->meta.bytes > META_TIMES * META_MOST; queue_drop(&flight->meta))
		flight->given_up = flight->clock;
}

void flight_told(struct flight *flight)
{
	flight->told = true;
}

/* Packets of several CPUs overlap. A clock that goes back by more is another: of a new boot, or known only now. */
static void go_on(struct flight *flight, uint64_t now, uint64_t boot)
{
	bool same = flight->boot == boot && now + NS_PER_SECOND > flight->last;

	if (same && now > flight->last)
		flight->clock += now - flight->last;
	if (!same || now > flight->last)
		flight->last = now;
	flight->boot = boot;
}

bool flight_packet(struct flight *flight, const struct packet *packet, uint64_t end, uint64_t boot)
{
	struct kept_packet *kept;

	go_on(flight, end, boot);
	forget_old(flight);
	kept = packet_keep(flight, packet);
	if (kept)
		queue_add(packet->stream == STREAM_META ? &flight->meta : &flight->rest, kept);
	else
		flight->given_up = flight->clock;
	return renew_meta(flight);
}

struct flight *flight_new(struct budget *budget)
{
	struct flight *flight = util_alloc(sizeof(*flight));

	flight->budget = budget_hold(budget);
	return flight;
}

void flight_lead(struct flight *flight, uint64_t lead)
{
	flight->lead = lead > flight->lead ? lead : flight->lead;
}

void flight_free(struct flight *flight)
{
	if (!flight)
		return;
	queue_clear(&flight->meta);
	queue_clear(&flight->rest);
	budget_release(flight->budget);
	free(flight);
}

/* ---- a cut ---- */

static char *copy_of(const char *text)
{
	return text ? util_copy(text, strlen(text)) : NULL;
}

struct flight_cut *flight_cut_new(const struct flight *flight, uint64_t lead, const struct metadata_machine *machine)
{
	struct kept_packet *const *meta = flight->meta.packets + flight->meta.first;
	struct kept_packet *const *rest = flight->rest.packets + flight->rest.first;
	const uint64_t from = flight->clock > lead ? flight->clock - lead : 0;
	struct flight_cut *cut = util_alloc(sizeof(*cut));
	size_t of_meta = flight->meta.count, of_rest = flight->rest.count;

	for (; of_rest && (*rest)->end < from; of_rest--)
		rest++;
	if (of_rest) {
		cut->first = *rest;
		cut->span = rest[of_rest - 1]->end - (*rest)->end;
	}
	for (size_t i = 0; i < of_rest; i++)
		if (memcmp(rest[i]->boot_id, cut->first->boot_id, sizeof(cut->first->boot_id)) == 0 &&
				(i == 0 || rest[i]->packet.begin < cut->begin))
			cut->begin = rest[i]->packet.begin;
	cut->is_short = flight->given_up > from;
	cut->packets = util_grow(NULL, of_meta + of_rest + 1, sizeof(*cut->packets));
	while (of_meta || of_rest) {
		bool is_meta = of_meta && (!of_rest || (*meta)->number < (*rest)->number);

		cut->packets[cut->count++] = is_meta ? *meta++ : *rest++;
		of_meta -= is_meta;
		of_rest -= !is_meta;
	}
	for (size_t i = 0; i < cut->count; i++)
		atomic_fetch_add_explicit(&cut->packets[i]->holders, 1, memory_order_relaxed);
	cut->name = copy_of(machine->name);
	cut->kernel = copy_of(machine->kernel);
	return cut;
}

void flight_cut_free(struct flight_cut *cut)
{
	if (!cut)
		return;
	for (size_t i = 0; i < cut->count; i++)
		packet_release(cut->packets[i]);
	free(cut->packets);
	free(cut->name);
	free(cut->kernel);
	free(cut);
}

/* What the guest has told before: of the same boot it stands at the beginning, of an earlier one it is not needed. */
static void write_packet(struct recording_writer *writer, const struct flight_cut *cut, const struct kept_packet *kept)
{
	const struct kept_packet *first = cut->first;
	const bool before = first && kept->number < first->number;
	struct packet packet = kept->packet;
	uint8_t *copy = NULL;

	if (before && memcmp(kept->boot_id, first->boot_id, sizeof(first->boot_id)) != 0)
		return;
	if (before && packet.end < cut->begin) {
		copy = util_alloc(packet.size);
		memcpy(copy, kept->bytes, packet.size);
		packet.bytes = copy;
		recorded_packet_retime(&packet, copy, cut->begin);
	}
	recording_writer_packet(writer, &packet);
	free(copy);
	recording_writer_wait(writer);
}

uint64_t flight_cut_span(const struct flight_cut *cut)
{
	return cut->span;
}

bool flight_cut_is_short(const struct flight_cut *cut)
{
	return cut->is_short;
}

bool flight_cut_write(const struct flight_cut *cut, const char *folder, struct recording_sums *sums, char **error)
{
	const struct metadata_machine machine = { .name = cut->name, .kernel = cut->kernel };
	struct recording_writer *writer =
		recording_writer_new(&(struct recording_options) { .folder = folder }, &machine);

	for (size_t i = 0; i < cut->count; i++)
		write_packet(writer, cut, cut->packets[i]);
	*sums = recording_writer_sums(writer);
	return recording_writer_close(writer, error);
}
