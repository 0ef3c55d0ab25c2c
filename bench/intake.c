/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/base/budget.h"
#include "agent/base/util.h"
#include "agent/guest/epoch.h"
#include "agent/names/symbols.h"
#include "agent/store/stacks.h"
#include "agent/store/store.h"
#include "agent/wire/decode.h"
#include "intake.h"

struct intake {
	struct decode *decode;
	struct epoch *epoch;
	struct budget *budget;
	const char *names;
};

static void begin(void *context, const uint8_t *boot_id)
{
	struct intake *intake = context;

	epoch_release(intake->epoch);
	intake->epoch = epoch_new(boot_id, intake->names, intake->budget);
	if (intake->names)
		symbols_load_kernel(intake->epoch->inputs.symbols, intake->names, NULL);
}

static void take_packet(void *context, const struct packet *packet)
{
	struct intake *intake = context;

	epoch_packet(intake->epoch, packet);
	epoch_ticks(intake->epoch, packet->end);
}

static void take_events(void *context, const struct event *events, size_t count)
{
	struct intake *intake = context;

	epoch_events(intake->epoch, events, count);
}

struct intake *intake_new(const char *names, struct budget *budget)
{
	struct intake *intake = util_alloc(sizeof(*intake));
	const struct decode_sink sink = {
		.context = intake, .boot = begin, .packet = take_packet,
		.events = take_events,
	};

	intake->names = names;
	intake->budget = budget_hold(budget);
	intake->decode = decode_new(&sink);
	return intake;
}

void intake_free(struct intake *intake)
{
	decode_free(intake->decode);
	epoch_release(intake->epoch);
	budget_release(intake->budget);
	free(intake);
}

void intake_feed(struct intake *intake, const void *bytes, size_t size)
{
	decode_feed(intake->decode, bytes, size);
}

struct epoch *intake_epoch(const struct intake *intake)
{
	return intake->epoch;
}

void intake_check(const struct intake *intake, uint64_t samples)
{
	struct books books = decode_books_all(intake->decode, STREAM_SAMPLES);
	uint64_t refused = stacks_refused(intake->epoch->inputs.stacks);
	uint64_t given_up = store_given_up(intake->epoch->inputs.store);

	if (books.received == samples && books.lost == 0 && refused == 0 && given_up == 0)
		return;
	fprintf(stderr, "of %" PRIu64 " samples %" PRIu64 " came, %" PRIu64 " were lost, %" PRIu64
		" had no stack, %" PRIu64 " were given up\n", samples, books.received, books.lost,
		refused, given_up);
	exit(1);
}
