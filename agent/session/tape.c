/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/cut/recorded_packets.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_watch.h"
#include "agent/source/source.h"
#include "agent/wire/metadata.h"
#include "session_state.h"
#include "tape.h"

struct tape {
	struct packet_tap tap;
	struct session *session;	/* NULL: nothing more is recorded */
	struct recording_writer *writer;
	struct recorded_packets *small;	/* NULL: packets are recorded as they come */
	bool failed;			/* and a message has told so */
	bool ends;			/* no further packet comes from the session */
};

/* A recording, or a part of it, is read alone: it gets all that was told before, and is to be found out, once more. */
static void begin_part(struct tape *tape)
{
	session_greet(tape->session);
	kernel_watch_again(tape->session->epoch->watch);
}

static void write_packet(void *context, const struct packet *packet)
{
	struct tape *tape = context;

	if (recording_writer_packet(tape->writer, packet))
		begin_part(tape);
	if (tape->ends)			/* what was held comes all at once: more than may wait for a slow disk */
		recording_writer_wait(tape->writer);
}

static void take_packet(void *context, const struct packet *packet)
{
	struct tape *tape = context;

	if (tape->small)
		recorded_packets_add(tape->small, packet, tape->session->epoch);
	else
		write_packet(tape, packet);
}

/* Tells a failure at once. Who records for an hour wants to know after three minutes, not at the end. */
static void tell_failure(void *context)
{
	char why[sizeof(((struct session_message *)NULL)->text)];
	struct tape *tape = context;

	if (tape->failed || !recording_writer_failed(tape->writer, why, sizeof(why)))
		return;
	tape->failed = true;
	session_say(tape->session, true, why);
}

struct tape *tape_new(struct session *session, const struct recording_options *options)
{
	struct source_facts facts = session->source->table->facts(session->source);
	const struct metadata_machine machine = {
		.name = facts.machine,
		.kernel = session->image ? session->image : facts.kernel,
	};
	struct tape *tape = util_alloc(sizeof(*tape));

	tape->session = session;
	tape->small = options->walks ? recorded_packets_new(write_packet, tape) : NULL;
	tape->writer = recording_writer_new(options, &machine);
	tape->tap = (struct packet_tap) { .next = session->taps, .context = tape,
		.packet = take_packet, .step = tell_failure };
	session->taps = &tape->tap;
	if (session->epoch)
		begin_part(tape);
	return tape;
}

bool tape_failed(const struct tape *tape)
{
	return tape->failed;
}

struct recording_sums tape_sums(const struct tape *tape)
{
	struct recording_sums sums = recording_writer_sums(tape->writer);

	sums.samples += tape->small ? recorded_packets_held(tape->small) : 0;
	return sums;
}

static void detach(struct tape *tape)
{
	struct packet_tap **place = tape->session ? &tape->session->taps : NULL;

	tape->ends = true;
	if (place && tape->small)
		recorded_packets_flush(tape->small);
	while (place && *place != &tape->tap)
		place = &(*place)->next;
	if (place)
		*place = tape->tap.next;
	tape->session = NULL;
}

bool tape_writes(struct tape *tape)
{
	detach(tape);
	return recording_writer_busy(tape->writer);
}

bool tape_close(struct tape *tape, char **error)
{
	bool good;

	detach(tape);
	good = recording_writer_close(tape->writer, error);
	recorded_packets_free(tape->small);
	free(tape);
	return good;
}

void tape_leave(struct tape *tape)
{
	if (!tape)
		return;
	detach(tape);
	recording_writer_leave(tape->writer);
	recorded_packets_free(tape->small);
	free(tape);
}
