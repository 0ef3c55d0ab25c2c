/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/wire/decode.h"
#include "agent/wire/metadata.h"
#include "agent/wire/recording_writer.h"
#include "packets.h"
#include "recordings.h"

void recordings_guest(struct packets *packets, uint64_t time, uint64_t hz)
{
	struct ktop_wire_guest wire = { .cpus = RECORDINGS_CPUS, .clock = hz };
	struct body body = { .size = 0 };

	packets_begin(packets, KTOP_META, 0, time);
	body_fixed(&body, &wire, sizeof(wire));
	for (int i = 0; i < 5; i++)
		body_text(&body, "demo");
	packets_event(packets, time, KTOP_EVENT_guest, &body);
	packets_end(packets, time);
}

void recordings_status(struct packets *packets, uint64_t time, bool running)
{
	struct ktop_wire_status wire = { .running = running, .rate = 1000, .sampler_cpu = KTOP_NO_CPU };
	struct body body = { .size = 0 };

	packets_begin(packets, KTOP_META, 0, time);
	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, "");
	packets_event(packets, time, KTOP_EVENT_status, &body);
	packets_end(packets, time);
}

void recordings_missed(struct packets *packets, uint32_t cpu, uint64_t time, int count)
{
	struct body body = { .size = 4 };

	packets_begin(packets, KTOP_SAMPLES, cpu, time);
	for (int i = 0; i < count; i++)
		packets_event(packets, time + (uint64_t)i, KTOP_EVENT_missed, &body);
	packets_end(packets, time + (uint64_t)count);
}

void recordings_own_event(struct packets *packets, uint64_t time)
{
	struct body body = { .size = 4, .bytes = { 42 } };

	packets_begin(packets, KTOP_TRACE, 1, time);
	packets_event(packets, time, RECORDINGS_OWN, &body);
	packets_end(packets, time);
}

void recordings_descriptor(struct packets *packets, uint64_t time)
{
	struct ktop_wire_descriptor wire = { .event = RECORDINGS_OWN, .stream = KTOP_TRACE };
	struct body body = { .size = 0 };

	packets_begin(packets, KTOP_META, 0, time);
	body_fixed(&body, &wire, sizeof(wire));
	body_text(&body, "mail_put");
	body_text(&body, "u32 letters;");
	packets_event(packets, time, KTOP_EVENT_descriptor, &body);
	packets_end(packets, time);
}

static void take_packet(void *context, const struct packet *packet)
{
	recording_writer_packet(context, packet);
}

void recordings_write(const char *folder, const struct packets *packets)
{
	char *error = NULL;
	struct recording_writer *writer;
	struct decode *decode;

	assert_true(recording_folder(folder, &error));
	writer = recording_writer_new(&(struct recording_options) { .folder = folder },
		&(struct metadata_machine) { .name = "vm", .kernel = "/boot/kernel" });
	decode = decode_new(&(struct decode_sink) {
		.context = writer, .boot = recordings_no_boot, .packet = take_packet, .events = recordings_no_events,
	});
	decode_feed(decode, packets->bytes, packets->size);
	decode_free(decode);
	assert_true(recording_writer_close(writer, &error));
}

void recordings_no_boot(void *context, const uint8_t *boot_id)
{
	(void)context;
	(void)boot_id;
}

void recordings_no_packet(void *context, const struct packet *packet)
{
	(void)context;
	(void)packet;
}

void recordings_no_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	(void)events;
	(void)count;
}
