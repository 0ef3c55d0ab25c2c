/* SPDX-License-Identifier: MIT */
/*
 * The fields of descriptors, and trace events that are read by them. The guest is believed only as far as
 * it can be checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/wire/decode.h"
#include "agent/wire/fields.h"
#include "agent/wire/trace_kinds.h"
#include "tests/unit/fakes/field_value.h"
#include "tests/unit/fakes/packets.h"
#include "tests/unit/fakes/recordings.h"

static void values_of_every_type(void **state)
{
	static const uint8_t payload[] = {
		200, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xfb, 0xff, 2, 0, 0x10, 0, 0x20, 0, 3, 0, 'a', 'b', 'c', 0x80,
	};
	struct field fields[FIELDS_MAX];
	int count = fields_parse("u8 a;u16 b;s32 c;s16 d;u16[] e;char[] f;s8 g;", fields);
	struct field_value list, text;

	(void)state;
	assert_int_equal(count, 7);
	assert_true(fields_fit(fields, count, payload, sizeof(payload)));
	assert_int_equal(field_value(fields, 0, payload).number, 200);
	assert_int_equal(field_value(fields, 1, payload).number, 0x201);
	assert_int_equal((int64_t)field_value(fields, 2, payload).number, -1);
	assert_int_equal((int64_t)field_value(fields, 3, payload).number, -5);
	list = field_value(fields, 4, payload);
	assert_int_equal(list.count, 2);
	assert_memory_equal(list.elements, "\x10\0\x20", 4);
	text = field_value(fields, 5, payload);
	assert_int_equal(text.count, 3);
	assert_memory_equal(text.elements, "abc", 3);
	assert_int_equal((int64_t)field_value(fields, 6, payload).number, -128);
	for (size_t size = 0; size < sizeof(payload); size++)
		assert_false(fields_fit(fields, count, payload, size));
	assert_false(fields_fit(fields, count - 1, payload, sizeof(payload)));
	assert_true(fields_fit(fields, 0, payload, 0));
}

static void what_is_no_description(void **state)
{
	static const char *const texts[] = { "f32 a;", "u32 a", "u32;", " a;", "u32", ";", "u8[ a;", "u24 a;" };
	struct field fields[FIELDS_MAX];
	char many[4 * (FIELDS_MAX + 1) + 8] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(fields_parse(texts[i], fields), -1);
	for (int i = 0; i < FIELDS_MAX; i++)
		strcat(many, "u8 ;");
	assert_int_equal(fields_parse(many, fields), FIELDS_MAX);
	strcat(many, "u8 ;");
	assert_int_equal(fields_parse(many, fields), -1);
}

/* ---- through the decoder ---- */

static struct {
	size_t events;
	uint16_t id;
	char name[64];
	int64_t values[8];
	int count;
	size_t text_size;
} seen;

static void on_events(void *context, const struct event *events, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		const struct trace_kind *kind = events[i].trace.kind;

		if (events[i].kind != EVENT_TRACE)
			continue;
		seen.events++;
		seen.id = events[i].id;
		strcpy(seen.name, kind->name);
		seen.count = kind->count;
		for (int at = 0; at < kind->count && at < 8; at++) {
			struct field_value value = field_value(kind->fields, at, events[i].trace.fields);

			seen.values[at] = (int64_t)value.number;
			if (kind->fields[at].list)
				seen.text_size = value.count;
		}
	}
}

static struct packets *packets;
static struct decode *decode;
static size_t fed;

static int set_up(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	fed = 0;
	packets = packets_new(1);
	decode = decode_new(&(struct decode_sink) {
		.boot = recordings_no_boot, .packet = recordings_no_packet, .events = on_events });
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	decode_free(decode);
	packets_free(packets);
	return 0;
}

static void feed(void)
{
	decode_feed(decode, packets->bytes + fed, packets->size - fed);
	fed = packets->size;
}

static void describe(uint8_t stream, uint16_t id, const char *name, const char *fields)
{
	struct ktop_wire_descriptor fixed = { .event = id, .stream = stream };
	struct body body = { 0 };

	body_fixed(&body, &fixed, sizeof(fixed));
	body_text(&body, name);
	body_text(&body, fields);
	packets_begin(packets, KTOP_META, 0, 0);
	packets_event(packets, 0, KTOP_EVENT_descriptor, &body);
	packets_end(packets, 0);
	feed();
}

static void send(uint16_t id, const void *payload, size_t size)
{
	struct body body = { 0 };

	body_fixed(&body, payload, size);
	packets_begin(packets, KTOP_TRACE, 0, 0);
	packets_event(packets, 0, id, &body);
	packets_end(packets, 0);
	feed();
}

static const uint8_t mail[] = { 3, 0, 0, 0, 0xff };

static void an_event_is_known_by_its_descriptor(void **state)
{
	(void)state;
	send(1000, mail, sizeof(mail));
	assert_int_equal(decode_counts(decode).unknown_events, 1);
	describe(KTOP_TRACE, 1000, "mail", "u32 box;s8 change;");
	send(1000, mail, sizeof(mail));
	assert_int_equal(seen.events, 1);
	assert_int_equal(seen.id, 1000);
	assert_string_equal(seen.name, "mail");
	assert_true(seen.count == 2 && seen.values[0] == 3 && seen.values[1] == -1);
	assert_int_equal(decode_counts(decode).unknown_events, 1);
	assert_int_equal(decode_books(decode, STREAM_TRACE, 0).received, 2);
}

/* Such an event counts as lost, like any event that is damaged. */
static void one_that_does_not_agree_with_its_descriptor_is_bad(void **state)
{
	(void)state;
	describe(KTOP_TRACE, 1000, "mail", "u32 box;s8 change;");
	send(1000, mail, sizeof(mail) - 1);
	describe(KTOP_TRACE, 1000, "other", "u32 box;");	/* too late */
	send(1000, mail, sizeof(mail) - 1);
	assert_int_equal(seen.events, 0);
	assert_int_equal(decode_counts(decode).bad_events, 2);
	assert_int_equal(decode_books(decode, STREAM_TRACE, 0).lost, 2);
}

static void what_describes_no_trace_event_is_not_taken(void **state)
{
	const struct ktop_wire_sched_switch from_to = { .from = 5, .to = 6 };

	(void)state;
	describe(KTOP_SAMPLES, 1000, "mail", "u32 box;s8 change;");
	describe(KTOP_TRACE, 1001, "mail", "u33 box;s8 change;");
	describe(KTOP_TRACE, 0, "low", "u32 box;s8 change;");
	describe(KTOP_TRACE, KTOP_EVENT_sched_switch, "sched_switch", "u8 from;");	/* it is known */
	send(1000, mail, sizeof(mail));
	send(1001, mail, sizeof(mail));
	send(0, mail, sizeof(mail));
	assert_int_equal(decode_counts(decode).unknown_events, 3);
	send(KTOP_EVENT_sched_switch, &from_to, sizeof(from_to));
	assert_true(seen.events == 1 && seen.values[0] == 5 && seen.values[1] == 6);
}

static void a_boot_forgets_the_kinds_of_the_last(void **state)
{
	(void)state;
	describe(KTOP_TRACE, 1000, "mail", "u32 box;s8 change;");
	packets_boot(packets, 2);
	send(1000, mail, sizeof(mail));
	send(1000, mail, sizeof(mail));		/* a new boot is believed with its second packet */
	assert_int_equal(seen.events, 0);
	describe(KTOP_TRACE, 1000, "other", "char[] text;");
	send(1000, "\x02\0hi", 4);
	assert_string_equal(seen.name, "other");
	assert_int_equal(seen.text_size, 2);
}

/* Kinds beyond the limit are unknown, and nothing breaks. */
static void more_kinds_than_are_kept(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < TRACE_KINDS + 100; i++)
		describe(KTOP_TRACE, (uint16_t)(64 + 37 * i), "mail", "u32 box;s8 change;");
	send(64, mail, sizeof(mail));
	assert_int_equal(seen.events, 1);
	send((uint16_t)(64 + 37 * (TRACE_KINDS + 99)), mail, sizeof(mail));
	assert_int_equal(decode_counts(decode).unknown_events, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_every_type),
		cmocka_unit_test(what_is_no_description),
		TEST(an_event_is_known_by_its_descriptor),
		TEST(one_that_does_not_agree_with_its_descriptor_is_bad),
		TEST(what_describes_no_trace_event_is_not_taken),
		TEST(a_boot_forgets_the_kinds_of_the_last),
		TEST(more_kinds_than_are_kept),
	};

	return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
