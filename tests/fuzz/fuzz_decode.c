/* SPDX-License-Identifier: MIT */
/*
 * What a guest sends: the input unchanged, or as the contents of whole packets, so that it gets past the decoder. All
 * stages behind the decoder take part: the epoch with its store, stacks, threads and layouts, the questions of the
 * screen, and the metadata of a recording.
 *
 * input:  how, step, filter, column; then bytes, or packets
 * how:    bits. 1: packets are made; 2: without an epoch; 4: with metadata. Epoch and metadata take long.
 * packet: stream, CPU, advance, events, then each: id, advance, size, bytes of payload;
 *         id + 128: a valid payload, for which the size is the seed
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/function.h"
#include "agent/query/query.h"
#include "agent/query/question/filter.h"
#include "agent/query/table.h"
#include "agent/wire/decode.h"
#include "agent/wire/fields.h"
#include "agent/wire/metadata.h"
#include "agent/wire/trace_kinds.h"
#include "tests/unit/fakes/field_value.h"
#include "tests/unit/fakes/packets.h"
#include "fuzz.h"
#include "fuzzed_filter.h"

struct world {
	bool light;			/* without an epoch, which takes long */
	struct epoch *epoch;		/* NULL if light */
	struct metadata *metadata;
	uint64_t bytes;			/* in packets that were delivered */
};

static void take_boot(void *context, const uint8_t *boot_id)
{
	struct world *world = context;

	epoch_release(world->epoch);
	metadata_free(world->metadata);
	world->epoch = world->light ? NULL : epoch_new(boot_id, NULL, NULL);
	world->metadata = metadata_new(&(struct metadata_machine) { .name = "vm" });
}

static void take_packet(void *context, const struct packet *packet)
{
	struct world *world = context;

	world->bytes += packet->size;
	metadata_packet(world->metadata, packet);
	if (world->epoch)
		epoch_ticks(world->epoch, packet->end);
}

/* Checks that each value is where the decoder says, and reads each list to its last element. */
static void look_at_fields(const struct event *event)
{
	const struct trace_kind *kind = event->trace.kind;
	const uint8_t *begin = event->trace.fields, *end = begin + event->trace.size;

	for (int i = 0; i < kind->count; i++) {
		struct field_value value = field_value(kind->fields, i, begin);
		const uint8_t *elements = value.elements;

		if (kind->fields[i].list)
			require(elements > begin && elements + value.count * field_size(kind->fields[i].type) <= end);
		else
			require(field_size(kind->fields[i].type) == 8 || kind->fields[i].type >= FIELD_S8 ||
				value.number >> 8 * field_size(kind->fields[i].type) == 0);
	}
}

static void take_events(void *context, const struct event *events, size_t count)
{
	struct world *world = context;

	for (size_t i = 0; i < count; i++)
		if (events[i].kind == EVENT_TRACE)
			look_at_fields(&events[i]);
	if (world->epoch)
		epoch_events(world->epoch, events, count);
}

static void no_boot(void *context, const uint8_t *boot_id)
{
	(void)context, (void)boot_id;
}

static void no_packet(void *context, const struct packet *packet)
{
	(void)context, (void)packet;
}

static void no_events(void *context, const struct event *events, size_t count)
{
	(void)context, (void)events, (void)count;
}

/* ---- what the guest sends ---- */

static void add_event(struct packets *packets, struct fuzz_input *input, uint64_t *clock)
{
	uint8_t id = input_byte(input), advance = input_byte(input), size = input_byte(input);
	uint64_t seed = 1 + size;
	const uint8_t *payload;
	struct body body = { 0 };

	if (id & 128)
		body_random(&body, id & 127, &seed, 1 + size % 64);
	else if ((size = (uint8_t)input_bytes(input, &payload, size)))
		body_fixed(&body, payload, size);
	*clock += (uint64_t)advance << (advance % 48);
	packets_event(packets, *clock, id & 127, &body);
}

static void add_packet(struct packets *packets, struct fuzz_input *input, uint64_t *clock)
{
	uint32_t stream = input_byte(input) % KTOP_STREAMS, cpu = input_byte(input);
	uint8_t advance = input_byte(input), events = input_byte(input) % 16;

	packets_begin(packets, stream, cpu, *clock);
	while (events-- && input->left)
		add_event(packets, input, clock);
	*clock += (uint64_t)advance << (advance % 32);
	packets_end(packets, *clock);
}

static struct packets *make_packets(struct fuzz_input *input, bool whole)
{
	struct packets *packets = packets_new(1);
	uint64_t clock = 0;

	if (!whole)
		packets_raw(packets, input->at, input->left);
	while (whole && input->left)
		add_packet(packets, input, &clock);
	return packets;
}

/* ---- what is asked ---- */

static void add_weight(void *context, const struct query_stack *stack)
{
	require(stack->depth > 0);
	*(uint64_t *)context += stack->weight;
}

static void check_table(struct epoch *epoch, const struct question *question,
	enum table_column column)
{
	struct table *table = query_table(epoch->query, question);
	uint32_t function = table->count ? table->rows[table->count / 2].function : FUNCTION_NONE;
	uint64_t self = 0, stacks = 0, trend[TABLE_TREND];
	struct caller callers[8];

	table_sort(table, epoch->inputs.symbols, column, !filter_lacks(&question->filter, FILTER_MODE));
	for (size_t i = 0; i < table->count; i++)
		self += table->rows[i].self;
	if (query_stacks(epoch->query, question, add_weight, &stacks))
		require(stacks == table->weight);
	require(self == table->weight || !filter_lacks(&question->filter, FILTER_FUNCTION));
	if (function != FUNCTION_NONE) {
		query_trends(epoch->query, question, &function, 1, &trend);
		query_callers(epoch->query, question, function, callers, 8);
	}
	table_free(table);
}

static void ask(struct world *world, uint8_t filter, uint8_t column)
{
	uint64_t now = epoch_now(world->epoch);
	struct question question = {
		.from = filter & 1 ? now / 2 : 0,
		.to = filter & 2 ? now - now / 4 : UINT64_MAX,
		.filter = fuzzed_filter(filter, column >> 6),
	};
	struct cpu_series *cpus = util_alloc(64 * sizeof(*cpus));

	check_table(world->epoch, &question, column % TABLE_COLUMNS);
	query_cpus(world->epoch->query, &question, cpus, 64);
	free(cpus);
}

static void describe(const struct metadata *metadata)
{
	static const uint8_t boot_id[KTOP_BOOT_ID];
	FILE *nowhere = fopen("/dev/null", "w");

	if (!nowhere)
		return;
	metadata_write(metadata, boot_id, nowhere);
	fclose(nowhere);
}

/* ---- the whole ---- */

static void feed(struct decode *decode, const uint8_t *bytes, size_t size, size_t step)
{
	for (size_t at = 0; at < size; at += step)
		decode_feed(decode, bytes + at, size - at < step ? size - at : step);
}

/* The result must not depend on the pieces of the input, and each byte must be in a packet or skipped. */
static void check_books(const struct decode *a, const struct decode *b, uint64_t bytes)
{
	struct decode_counts one = decode_counts(a), other = decode_counts(b);

	require(memcmp(&one, &other, sizeof(one)) == 0);
	require(one.bytes == one.skipped_bytes + bytes);
	for (enum stream stream = 0; stream < STREAMS; stream++) {
		struct books mine = decode_books_all(a, stream), its = decode_books_all(b, stream);

		require(memcmp(&mine, &its, sizeof(mine)) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = { .at = bytes, .left = size };
	uint8_t how = input_byte(&input);
	struct world world = { .light = how & 2 };
	const struct decode_sink sink = { &world, take_boot, take_packet, take_events, NULL };
	const struct decode_sink nobody = { NULL, no_boot, no_packet, no_events, NULL };
	struct decode *decode = decode_new(&sink), *other = decode_new(&nobody);
	size_t step = 1 + 16 * (size_t)input_byte(&input);
	uint8_t filter = input_byte(&input), column = input_byte(&input);
	struct packets *packets = make_packets(&input, how & 1);

	feed(decode, packets->bytes, packets->size, step);
	feed(other, packets->bytes, packets->size, 1 + packets->size);
	decode_cut(decode);
	decode_cut(other);
	check_books(decode, other, world.bytes);
	if (world.metadata && how & 4)
		describe(world.metadata);
	if (world.epoch)
		ask(&world, filter, column);

	epoch_release(world.epoch);
	metadata_free(world.metadata);
	decode_free(decode);
	decode_free(other);
	packets_free(packets);
	return 0;
}
