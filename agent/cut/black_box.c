/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/wire/event.h"
#include "agent/wire/recording_writer.h"
#include "black_box.h"
#include "kernel-hook/wire.h"
#include "recorded_packets.h"

enum {
	PAGE = KTOP_BLACK_BOX_PAGE,
	CLASSES = BLACK_BOX_LANES,	/* rings of a CPU: KTOP_SAMPLES and KTOP_TRACE */
	CHUNK = 1 << 20,		/* bytes that are searched at a time */
	BOXES_MOST = 64,		/* that are found */
	RING_LEAST = 4096, RING_MOST = 1 << 30,
	ROWS_MOST = 1 << 20,
	OWN_EVENT_MOST = 256,		/* bytes of an event of the kernel's own */
	TRACE_MOST = 512,		/* bytes of the record of a trace event, with its stack */
	PAD_MOST = KTOP_SAMPLE_MAX + KTOP_PROGRAM_STACK_MAX + 2 * KTOP_REGISTERS_MAX * 8,	/* bytes */
	BACK_MOST = 1 << 20,		/* clock ticks by which an event may be older than the one before it */
};

_Static_assert(CLASSES == KTOP_STREAMS - 1, "each stream but that of names has a ring");

struct lane {				/* of a ring; events: */
	uint64_t before, count;		/* sent earlier; those that are recorded */
	uint64_t dropped, lost;		/* that found no room; with those that were given up, and are not recorded */
};

/* A hook that was found. */
struct box {
	const struct memory_image *image;
	const struct black_box_had *had;	/* NULL: nobody has anything */
	struct ktop_wire_black_box head;
	uint64_t *pages;		/* physical addresses */
	struct made {			/* what is written of it */
		uint64_t samples, events;	/* events: of trace */
		uint64_t before;	/* samples and events that came earlier: sent, or given up */
		uint64_t dropped;	/* that had found no room */
		uint64_t skipped;	/* bytes of rings that are no record */
		uint64_t torn;		/* names that were being written */
		uint64_t first, last;	/* clock ticks; UINT64_MAX, 0: there was no event */
	} made;
	struct lane *lanes;		/* of each ring */
};

/* ---- its memory ---- */

/* Reads what is `at` bytes from the beginning of the hook's memory. */
static bool box_read(const struct box *box, uint64_t at, void *to, size_t size)
{
	uint8_t *bytes = to;

	if (at > box->head.size || size > box->head.size - at)
		return false;
	for (at += box->head.skew; size;) {
		size_t piece = PAGE - at % PAGE < size ? PAGE - at % PAGE : size;

		if (!box->image->read(box->image->context, box->pages[at / PAGE] + at % PAGE, bytes, piece))
			return false;
		at += piece;
		bytes += piece;
		size -= piece;
	}
	return true;
}

static bool box_number(const struct box *box, uint64_t at, uint32_t *number)
{
	return box_read(box, at, number, sizeof(*number));
}

/* Are so many pieces of that size there, from that place on? */
static bool box_has(const struct box *box, uint64_t at, uint64_t count, uint64_t size)
{
	return at <= box->head.size && (unsigned __int128)count * size <= box->head.size - at;
}

/* Reads the list of pages, which lies in pages of its own: those that are known by then. */
static bool read_pages(struct box *box, uint64_t physical)
{
	uint64_t list = box->head.at + box->head.skew + sizeof(box->head), own = (box->head.at + box->head.skew) / PAGE;
	uint32_t known = 0;

	while (known < box->head.pages) {
		uint64_t at = list + known * sizeof(*box->pages), page = at / PAGE;
		uint32_t count = (uint32_t)((PAGE - at % PAGE) / sizeof(*box->pages));

		if (count > box->head.pages - known)
			count = box->head.pages - known;
		if (page != own && page >= known)
			return false;
		if (!box->image->read(box->image->context, (page == own ? physical : box->pages[page]) + at % PAGE,
				box->pages + known, count * sizeof(*box->pages)))
			return false;
		known += count;
	}
	return own < box->head.pages && box->pages[own] == physical;
}

/* A page that is listed twice would be read twice: memory without end. */
static bool pages_differ(const struct box *box)
{
	uint8_t *seen = util_alloc(box->image->end / PAGE / 8 + 1);
	bool good = true;

	for (uint32_t i = 0; i < box->head.pages && good; i++) {
		uint64_t page = box->pages[i] / PAGE;

		good = box->pages[i] % PAGE == 0 && box->pages[i] < box->image->end &&
			!(seen[page / 8] >> page % 8 & 1);
		if (good)
			seen[page / 8] |= (uint8_t)(1 << page % 8);
	}
	free(seen);
	return good;
}

static bool tables_fit(const struct box *box)
{
	for (int i = 0; i < KTOP_BLACK_BOX_TABLES; i++) {
		const struct ktop_wire_black_box_table *table = &box->head.tables[i];

		if (table->rows > ROWS_MOST || !box_has(box, table->at, table->rows, box->head.row_size))
			return false;
	}
	return true;
}

static bool layout_fits(const struct box *box)
{
	const struct ktop_wire_black_box *head = &box->head;
	const uint16_t in_ring[] = { head->head, head->tail, head->committed, head->full, head->nested,
		head->given_up };

	for (size_t i = 0; i < sizeof(in_ring) / sizeof(in_ring[0]); i++)
		if (in_ring[i] + sizeof(uint64_t) > head->ring_step)
			return false;
	return head->row_sequence + sizeof(uint32_t) <= head->row_size &&
		head->row_bytes + sizeof(uint32_t) <= head->row_size && head->row_words < head->row_size &&
		box_has(box, head->rate, 1, sizeof(uint32_t)) && box_has(box, head->sampler, 1, sizeof(uint32_t)) &&
		box_has(box, head->events, head->event_words, sizeof(uint32_t)) &&
		head->why_size <= sizeof(head->why) && head->guest_size <= sizeof(head->guest) &&
		head->cpus > 0 && head->cpus <= EVENT_CPUS &&
		head->ring + (uint32_t)CLASSES * head->ring_step <= head->cpu_size &&
		box_has(box, head->cpu_at, head->cpus, head->cpu_size) &&
		box_has(box, head->names_at, head->names, 1) &&
		head->ring_size >= RING_LEAST && head->ring_size <= RING_MOST &&
		!(head->ring_size & (head->ring_size - 1)) &&
		box_has(box, head->rings_at, (uint64_t)head->cpus * CLASSES, head->ring_size) && tables_fit(box);
}

/* NULL: what the box says of itself is possible, in `left` bytes of memory. Else why it is not. */
static const char *box_contradiction(struct box *box, uint64_t physical, uint64_t left)
{
	const struct ktop_wire_black_box *head = &box->head;

	if (head->version != KTOP_BLACK_BOX_VERSION)
		return "it is of another version of the hook";
	if (head->skew >= PAGE || head->at > head->size || (head->at + head->skew) % PAGE || head->size > left ||
			head->pages != (head->skew + head->size + PAGE - 1) / PAGE ||
			!box_has(box, head->at + sizeof(*head), head->pages, sizeof(*box->pages)))
		return "its sizes contradict each other";
	box->pages = util_alloc(head->pages * sizeof(*box->pages));	/* no more than the machine's memory has */
	if (!read_pages(box, physical) || !pages_differ(box))
		return "its pages are elsewhere: it is a copy, or half overwritten";
	return layout_fits(box) ? NULL : "its CPUs, rings or tables are not in its memory";
}

/* ---- rings ---- */

struct ring {
	uint64_t head, tail, committed, full, nested, given_up;	/* as in the hook's ring.h */
	uint64_t size;
	uint8_t *bytes;
	uint8_t *chained;		/* by 8 bytes: records follow each other from here to the end of the piece */
	enum stream stream;
};

struct record {				/* ring.h, struct ktop_record */
	uint16_t id, size;
	uint32_t unused;
	uint64_t time;
};

/* One of wire.h's events, as it lies in a ring. */
struct shape {
	uint16_t id, fixed;		/* bytes of its fixed fields */
	uint8_t stream, lists;
};

#define NOTHING(type, name)
#define ONE(type, name) +1
#define SHAPE(number, of, name) { number, sizeof(struct ktop_wire_##name), of, 0 KTOP_WIRE_##name(NOTHING, ONE) },
static const struct shape shapes[] = { KTOP_WIRE_EVENTS(SHAPE) };

static bool is_shaped(const struct record *record, enum stream stream)
{
	if (record->id >= KTOP_TRACE_USER)
		return stream == STREAM_TRACE && record->size <= OWN_EVENT_MOST;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (shapes[i].id == record->id)
			return shapes[i].stream == (uint8_t)stream && (shapes[i].lists ?
				record->size >= shapes[i].fixed + 2u * shapes[i].lists &&
				record->size < PAD_MOST : record->size == shapes[i].fixed);
	return false;
}

static uint64_t record_bytes(const struct record *record)
{
	return (sizeof(*record) + record->size + 7) & ~UINT64_C(7);
}

/* `offset`: as head and tail count. There are 8 bytes of it at least; a pad needs no more. */
static struct record record_at(const struct ring *ring, uint64_t offset)
{
	uint64_t at = offset & (ring->size - 1);
	struct record record = { .id = 0 };

	memcpy(&record, ring->bytes + at, ring->size - at < sizeof(record) ? 8 : sizeof(record));
	return record;
}

/* Where the next record is. 0: here is none that could end at `to`, or before it. */
static uint64_t next_of(const struct ring *ring, uint64_t offset, uint64_t to, const struct record *record)
{
	if (record->id == 0)		/* a pad fills what is left of the ring's memory */
		return to % ring->size == 0 && to - offset < PAD_MOST ? to : 0;
	if (to - offset < sizeof(*record) || record_bytes(record) > to - offset || !is_shaped(record, ring->stream))
		return 0;
	return offset + record_bytes(record);
}

/*
 * Nobody knows where a record begins that was overwritten in part, or was read long ago; but where the piece ends, one
 * ends. So the piece is looked through from its end: a record counts if it leads to one that counts, and is not newer
 * than that. Returns the first of the longest chain; `to`: there is none. `before`: no event of the piece is newer.
 */
static uint64_t chain(struct ring *ring, uint64_t from, uint64_t to, uint64_t before)
{
	uint64_t first = to;

	ring->chained[(to - from) / 8] = 1;
	for (uint64_t offset = to; offset > from;) {
		struct record record, follows;
		uint64_t next;

		offset -= 8;
		record = record_at(ring, offset);
		next = next_of(ring, offset, to, &record);
		ring->chained[(offset - from) / 8] = 0;
		if (!next || !ring->chained[(next - from) / 8])
			continue;
		follows = next < to ? record_at(ring, next) : (struct record) { .id = 1, .time = before };
		if (record.id && (record.time > before || (follows.id && record.time > follows.time + BACK_MOST)))
			continue;
		ring->chained[(offset - from) / 8] = 1;
		if (record.id)
			first = offset;
	}
	return first;
}

/* NULL: it was read. Else why not. */
static const char *ring_read(const struct box *box, uint32_t cpu, uint32_t class, struct ring *ring)
{
	const struct ktop_wire_black_box *head = &box->head;
	uint64_t at = head->cpu_at + (uint64_t)cpu * head->cpu_size + head->ring + class * head->ring_step;

	ring->stream = (enum stream)(KTOP_SAMPLES + class);
	ring->size = head->ring_size;
	if (!box_read(box, at + head->head, &ring->head, 8) || !box_read(box, at + head->tail, &ring->tail, 8) ||
			!box_read(box, at + head->committed, &ring->committed, 8) ||
			!box_read(box, at + head->full, &ring->full, 8) ||
			!box_read(box, at + head->nested, &ring->nested, 8) ||
			!box_read(box, at + head->given_up, &ring->given_up, 8) ||
			!box_read(box, head->rings_at + ((uint64_t)cpu * CLASSES + class) * ring->size, ring->bytes,
				ring->size))
		return "its pages are not in the machine's memory";
	if (ring->head % 8 || ring->tail % 8 || ring->tail > ring->head || ring->head - ring->tail > ring->size)
		return "its head lies outside";
	return NULL;
}

/* Puts a lane's records from `from` to `to` into packets. After *had more of them, a packet ends. */
static void put_records(const struct ring *ring, uint64_t from, uint64_t to, struct packet_maker *maker,
	uint64_t *had, struct made *made)
{
	while (from < to) {
		struct record record = record_at(ring, from);

		if (record.id) {
			if ((*had)-- == 0)
				packet_maker_flush(maker);
			packet_maker_put(maker, record.time, record.id,
				ring->bytes + (from & (ring->size - 1)) + sizeof(record), record.size);
			made->first = record.time < made->first ? record.time : made->first;
			made->last = record.time > made->last ? record.time : made->last;
		}
		from = next_of(ring, from, to, &record);
	}
}

/* How many events of the lane somebody has. */
static uint64_t box_had(const struct box *box, uint32_t cpu, enum stream stream)
{
	const struct black_box_had *had = box->had;

	return had && cpu < had->cpus && memcmp(had->boot_id, box->head.boot_id, sizeof(had->boot_id)) == 0 ?
		had->events[cpu][stream - STREAM_SAMPLES] : 0;
}

/* Those that begin at `least`, or behind it. */
static uint64_t count_records(const struct ring *ring, uint64_t from, uint64_t to, uint64_t least)
{
	uint64_t count = 0;

	while (from < to) {
		struct record record = record_at(ring, from);

		count += record.id != 0 && from >= least;
		from = next_of(ring, from, to, &record);
	}
	return count;
}

/*
 * What was sent is counted as the drainer counts it, so that a host knows which of it it has: what is in front of the
 * tail was sent or given up, and the newest of it was sent last. `older`, `newer`: where the two pieces begin.
 */
static struct lane lane_of(const struct ring *ring, uint64_t older, uint64_t newer)
{
	const uint64_t round = ring->head - ring->head % ring->size;
	const uint64_t count = count_records(ring, older, round, 0) + count_records(ring, newer, ring->head, 0);
	const uint64_t unread = count_records(ring, older, round, ring->tail) +
		count_records(ring, newer, ring->head, ring->tail);
	const uint64_t sent = ring->committed > unread + ring->given_up ? ring->committed - unread - ring->given_up : 0;
	const uint64_t dropped = ring->full + ring->nested;
	const uint64_t before = sent > count - unread ? sent - (count - unread) : 0;

	return (struct lane) {
		.before = before, .count = count, .dropped = dropped,
		.lost = ring->committed > before + count ? dropped + ring->committed - before - count : dropped,
	};
}

/*
 * The ring's memory begins with a record each time round: so it is two pieces, the older one of which has lost some:
 * also what an event that was being written has touched, or the beginning of a call that is held there.
 */
static void ring_put(struct box *box, struct ring *ring, struct recording_writer *writer, uint32_t cpu)
{
	uint64_t round = ring->head - ring->head % ring->size;
	uint64_t unsure = ring->stream == STREAM_TRACE ? TRACE_MOST : PAD_MOST;
	uint64_t oldest = ring->head < ring->size ? 0 : ring->head - ring->size + (unsure + 7) / 8 * 8;
	uint64_t newer = chain(ring, round, ring->head, UINT64_MAX - BACK_MOST);
	uint64_t limit = newer < ring->head ? record_at(ring, newer).time : UINT64_MAX - BACK_MOST;
	uint64_t older = chain(ring, oldest < round ? oldest : round, round, limit);
	uint64_t had = box_had(box, cpu, ring->stream);
	struct lane *lane = &box->lanes[cpu * CLASSES + (ring->stream - STREAM_SAMPLES)];
	struct packet_maker *maker;

	box->made.skipped += newer - round;
	box->made.skipped += older > ring->tail && ring->tail >= oldest ? older - ring->tail : 0;
	*lane = lane_of(ring, older, newer);
	if (ring->stream == STREAM_SAMPLES)
		box->made.samples += lane->count;
	else
		box->made.events += lane->count;
	box->made.before += lane->before + lane->lost - lane->dropped;
	box->made.dropped += lane->dropped;
	maker = packet_maker_new(writer, box->head.boot_id, ring->stream, cpu, 0);
	packet_maker_books(maker, lane->before, lane->lost);
	had -= lane->before;		/* if it had fewer, its end is far away */
	put_records(ring, older, round, maker, &had, &box->made);
	put_records(ring, newer, ring->head, maker, &had, &box->made);
	packet_maker_flush(maker);
	packet_maker_free(maker);
}

/* ---- names and facts ---- */

static void put_rows(struct box *box, struct packet_maker *meta, const struct ktop_wire_black_box_table *table)
{
	uint8_t payload[UINT8_MAX];
	const uint64_t most = box->head.row_size - box->head.row_words;

	for (uint32_t i = 0; i < table->rows; i++) {
		uint64_t row = table->at + (uint64_t)i * box->head.row_size;
		uint32_t sequence, size;

		if (!box_number(box, row + box->head.row_sequence, &sequence) || sequence == 0)
			return;
		if (!box_number(box, row + box->head.row_bytes, &size))
			return;
		if (sequence % 2 || size > most || size > sizeof(payload) ||
				!box_read(box, row + box->head.row_words, payload, size))
			box->made.torn++;
		else
			packet_maker_put(meta, box->made.first, (uint16_t)table->event, payload, size);
	}
}

/* The names that the kernel has told one by one. What contradicts itself ends them. */
static void put_names(const struct box *box, struct packet_maker *meta)
{
	uint8_t payload[KTOP_SAMPLE_MAX];
	uint16_t head[2];

	for (uint64_t at = box->head.names_at, end = at + box->head.names; at < end; at += sizeof(head) + head[1]) {
		if (!box_read(box, at, head, sizeof(head)) || head[1] > sizeof(payload) ||
				sizeof(head) + head[1] > end - at ||
				(head[0] != KTOP_EVENT_number && head[0] != KTOP_EVENT_arguments) ||
				!box_read(box, at + sizeof(head), payload, head[1]))
			return;
		packet_maker_put(meta, box->made.first, head[0], payload, head[1]);
	}
}

static void put_status(struct box *box, struct packet_maker *meta)
{
	const struct ktop_wire_tracing ids = { .ids = box->head.event_words * 32u };
	struct ktop_wire_status status = { .running = 1 };
	struct made_event event;
	uint32_t number = 0, masks[KTOP_TEXT_MAX / 4];
	uint16_t words = box->head.event_words;

	if (box_number(box, box->head.sampler, &number))
		status.sampler = number < KTOP_SAMPLERS ? (uint8_t)number : KTOP_NONE;
	if (box_number(box, box->head.rate, &number))
		status.rate = number;
	status.sampler_cpu = KTOP_NO_CPU;
	if (words <= sizeof(masks) / sizeof(masks[0]) && box_read(box, box->head.events, masks, 4u * words)) {
		status.trace_mask = words > 1 ? masks[1] : 0;
		made_event_begin(&event, KTOP_EVENT_tracing, &ids, sizeof(ids));
		memcpy(event.bytes + event.size, &words, sizeof(words));
		memcpy(event.bytes + event.size + sizeof(words), masks, 4u * words);
		event.size += sizeof(words) + 4u * words;
		packet_maker_add(meta, box->made.first, &event);
	}
	made_event_begin(&event, KTOP_EVENT_status, &status, sizeof(status));
	made_event_text(&event, (struct text) { .size = 0 });
	packet_maker_add(meta, box->made.first, &event);
}

/*
 * What each ring had counted at the beginning of what is recorded, or at its end. For how long it was on, and what that
 * cost, is not known: 0 tells that.
 */
static void put_counts(struct box *box, struct packet_maker *meta, bool at_end)
{
	for (uint32_t i = 0; i < box->head.cpus * CLASSES; i++) {
		const struct lane *lane = &box->lanes[i];
		const struct ktop_wire_cpu_status fixed = {
			.cpu = i / CLASSES, .stream = (uint8_t)(KTOP_SAMPLES + i % CLASSES), .enabled = 1,
			.taken = lane->before + lane->lost + (at_end ? lane->count : 0), .lost = lane->lost,
			.size = (uint32_t)box->head.ring_size,
		};

		packet_maker_put(meta, at_end ? box->made.last : box->made.first, KTOP_EVENT_cpu_status, &fixed,
			sizeof(fixed));
	}
}

/* The kernel's own events are described before all that has names. */
static void put_facts(struct box *box, struct recording_writer *writer)
{
	struct packet_maker *meta = packet_maker_new(writer, box->head.boot_id, STREAM_META, 0, box->made.first);

	packet_maker_put(meta, box->made.first, KTOP_EVENT_guest, box->head.guest, box->head.guest_size);
	for (int own = 1; own >= 0; own--)
		for (int i = 0; i < KTOP_BLACK_BOX_TABLES; i++)
			if ((box->head.tables[i].event == KTOP_EVENT_descriptor) == own)
				put_rows(box, meta, &box->head.tables[i]);
	put_names(box, meta);
	put_status(box, meta);
	put_counts(box, meta, false);
	packet_maker_flush(meta);
	put_counts(box, meta, true);
	packet_maker_end(meta, box->made.last);
	packet_maker_free(meta);
}

/* ---- all ---- */

static double seconds_of(const struct box *box)
{
	struct ktop_wire_guest guest = { .clock = 0 };

	memcpy(&guest, box->head.guest, sizeof(guest));
	return (double)(box->made.last - box->made.first) / (double)(guest.clock ? guest.clock : NS_PER_SECOND);
}

static void tell_box(const struct box *box, uint32_t number, FILE *said)
{
	const struct made *made = &box->made;
	char *why = util_printable(box->head.why, box->head.why_size);

	if (made->first == UINT64_MAX)
		fprintf(said, "boot %" PRIu32 ": nothing was sampled or traced", number);
	else
		fprintf(said, "boot %" PRIu32 ": %" PRIu64 " sample%s and %" PRIu64 " event%s of %.3f s", number,
			made->samples, util_plural(made->samples), made->events, util_plural(made->events),
			seconds_of(box));
	if (box->head.died)
		fprintf(said, ", up to its end: %s", why);
	fprintf(said, "\n");
	if (made->before || made->dropped)
		fprintf(said, "boot %" PRIu32 ": %" PRIu64 " came before: sent, or overwritten; %" PRIu64
			" had found no room\n", number, made->before, made->dropped);
	if (box->head.names_full)
		fprintf(said, "boot %" PRIu32 ": some names of numbers had found no room\n", number);
	if (made->skipped || made->torn)
		fprintf(said, "boot %" PRIu32 ": %" PRIu64 " bytes of rings and %" PRIu64
			" names are damaged, and left out\n", number, made->skipped, made->torn);
	free(why);
}

/* Lanes first, which tell when all began; a recording's reader takes packets by their times. */
static void box_put(struct box *box, struct recording_writer *writer, FILE *said)
{
	struct ring ring = {
		.bytes = util_alloc(box->head.ring_size), .chained = util_alloc(box->head.ring_size / 8 + 1),
	};

	box->made.first = UINT64_MAX;
	box->lanes = util_alloc(box->head.cpus * CLASSES * sizeof(*box->lanes));
	for (uint32_t i = 0; i < box->head.cpus * CLASSES; i++) {
		const char *why = ring_read(box, i / CLASSES, i % CLASSES, &ring);

		if (why)
			fprintf(said, "the %s of CPU %" PRIu32 " are left out: their ring cannot be right: %s\n",
				i % CLASSES ? "events" : "samples", i / CLASSES, why);
		else
			ring_put(box, &ring, writer, i / CLASSES);
	}
	if (box->made.first != UINT64_MAX)
		put_facts(box, writer);
	free(ring.bytes);
	free(ring.chained);
}

struct search {
	const struct memory_image *image;
	const struct black_box_had *had;
	struct recording_writer *writer;
	FILE *said;
	uint32_t found, refused;
	uint64_t left;			/* bytes of memory that may still be a hook's */
	bool any;			/* something was recorded */
};

/* A box begins here, as it seems. */
static void try_box(struct search *search, uint64_t physical, const void *bytes)
{
	struct box box = { .image = search->image, .had = search->had };
	const char *why;

	if (search->found + search->refused >= BOXES_MOST)
		return;
	memcpy(&box.head, bytes, sizeof(box.head));
	why = box_contradiction(&box, physical, search->left);
	if (why) {
		search->refused++;
		fprintf(search->said, "what looks like a hook at physical %#" PRIx64 " is refused: %s\n", physical,
			why);
	} else {
		search->found++;
		search->left -= box.head.size;
		box_put(&box, search->writer, search->said);
		search->any = search->any || box.made.first != UINT64_MAX;
		tell_box(&box, search->found, search->said);
	}
	free(box.lanes);
	free(box.pages);
}

static void search_pages(struct search *search, uint64_t physical, const uint8_t *bytes, size_t size)
{
	static const char magic[] = KTOP_BLACK_BOX_MAGIC;

	for (size_t at = 0; at + PAGE <= size; at += PAGE)
		if (memcmp(bytes + at, magic, sizeof(magic) - 1) == 0)
			try_box(search, physical + at, bytes + at);
}

/* Memory has holes: where a chunk is not whole, its pages are looked at one by one. */
static void search_image(struct search *search)
{
	const struct memory_image *image = search->image;
	uint8_t *bytes = util_alloc(CHUNK);

	for (uint64_t at = 0; at < image->end; at += CHUNK) {
		if (image->read(image->context, at, bytes, CHUNK)) {
			search_pages(search, at, bytes, CHUNK);
			continue;
		}
		for (uint64_t page = at; page < at + CHUNK; page += PAGE)
			if (image->read(image->context, page, bytes, PAGE))
				search_pages(search, page, bytes, PAGE);
	}
	free(bytes);
}

bool black_box_record(const struct memory_image *image, const struct metadata_machine *machine, const char *folder,
	const struct black_box_had *had, char **said, char **error)
{
	struct search search = { .image = image, .had = had, .left = image->size };
	size_t size;

	search.said = util_text_open(said, &size);
	search.writer = recording_writer_new(&(struct recording_options) { .folder = folder }, machine);
	search_image(&search);
	*said = util_text_close(search.said, said);
	if (!recording_writer_close(search.writer, error))
		return false;
	if (search.found && !search.any)
		return util_fail(error, "nothing is recorded: the kernel's hook was off, or what it wrote is damaged; "
			"have it on from the start (docs/crash.md)");
	return search.found || util_fail(error, "nothing is recorded: no hook was found in the machine's memory; it "
		"needs ktop_facts.physical (docs/crash.md), and a kernel that boots later overwrites it");
}

bool black_box_is_new(const struct black_box_had *had, const void *packet)
{
	struct ktop_wire_packet wire;

	memcpy(&wire, packet, sizeof(wire));
	if (!had->events)
		return true;
	return wire.stream != KTOP_META &&
		(wire.cpu >= had->cpus || wire.before >= had->events[wire.cpu][wire.stream - KTOP_SAMPLES]);
}
