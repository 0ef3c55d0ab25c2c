/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "agent/base/util.h"
#include "agent/cut/recorded_packets.h"
#include "agent/guest/epoch.h"
#include "agent/guest/kernel_watch.h"
#include "agent/source/source.h"
#include "agent/wire/metadata.h"
#include "session_state.h"
#include "capture.h"

struct capture {
	struct packet_tap tap;
	struct session *session;	/* NULL: nothing more is recorded */
	struct recording_writer *writer;
	struct recorded_packets *small;	/* NULL: packets are recorded as they come */
	bool failed;			/* and a message has told so */
	bool ends;			/* no further packet comes from the session */
};

/* A recording, or a part of it, is read alone: it gets all that was told before, and is to be found out, once more. */
static void begin_part(struct capture *capture)
{
	session_greet(capture->session);
	kernel_watch_again(capture->session->epoch->watch);
}

static void write_packet(void *context, const struct packet *packet)
{
	struct capture *capture = context;

	if (recording_writer_packet(capture->writer, packet))
		begin_part(capture);
	if (capture->ends)		/* what was held comes all at once: more than may wait for a slow disk */
		recording_writer_wait(capture->writer);
}

static void take_packet(void *context, const struct packet *packet)
{
	struct capture *capture = context;

	if (capture->small)
		recorded_packets_add(capture->small, packet, capture->session->epoch);
	else
		write_packet(capture, packet);
}

/* Tells a failure at once. Who records for an hour wants to know after three minutes, not at the end. */
static void tell_failure(void *context)
{
	char why[sizeof(((struct session_message *)NULL)->text)];
	struct capture *capture = context;

	if (capture->failed || !recording_writer_failed(capture->writer, why, sizeof(why)))
		return;
	capture->failed = true;
	session_say(capture->session, true, why);
}

struct capture *capture_new(struct session *session, const struct recording_options *options)
{
	const struct metadata_machine machine = session_machine(session);
	struct capture *capture = util_alloc(sizeof(*capture));

	capture->session = session;
	capture->small = options->walks ? recorded_packets_new(write_packet, capture) : NULL;
	capture->writer = recording_writer_new(options, &machine);
	capture->tap = (struct packet_tap) { .next = session->taps, .context = capture,
		.packet = take_packet, .step = tell_failure };
	session->taps = &capture->tap;
	if (session->epoch)
		begin_part(capture);
	return capture;
}

bool capture_failed(const struct capture *capture)
{
	return capture->failed;
}

struct recording_sums capture_sums(const struct capture *capture)
{
	struct recording_sums sums = recording_writer_sums(capture->writer);

	sums.samples += capture->small ? recorded_packets_held(capture->small) : 0;
	return sums;
}

static void detach(struct capture *capture)
{
	struct packet_tap **place = capture->session ? &capture->session->taps : NULL;

	capture->ends = true;
	if (place && capture->small)
		recorded_packets_flush(capture->small);
	while (place && *place != &capture->tap)
		place = &(*place)->next;
	if (place)
		*place = capture->tap.next;
	capture->session = NULL;
}

bool capture_writes(struct capture *capture)
{
	detach(capture);
	return recording_writer_busy(capture->writer);
}

bool capture_close(struct capture *capture, char **error)
{
	bool good;

	detach(capture);
	good = recording_writer_close(capture->writer, error);
	recorded_packets_free(capture->small);
	free(capture);
	return good;
}

void capture_leave(struct capture *capture)
{
	if (!capture)
		return;
	detach(capture);
	recording_writer_leave(capture->writer);
	recorded_packets_free(capture->small);
	free(capture);
}
