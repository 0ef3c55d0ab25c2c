/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/vm/gdb/gdb_packets.h"

/* The bodies of all good packets in the bytes, each ended by a bar; they come `piece` bytes at a time. */
static const char *bodies_by(const char *bytes, size_t size, size_t piece, uint64_t *damaged)
{
	static char all[4 * GDB_BODY_MAX];
	static struct gdb_reader reader;
	size_t at = 0;
	bool whole;

	memset(&reader, 0, sizeof(reader));
	all[0] = '\0';
	while (at < size) {
		size_t left = size - at < piece ? size - at : piece;

		at += gdb_reader_take(&reader, bytes + at, left, &whole);
		if (whole)
			strcat(strcat(all, reader.body), "|");
	}
	*damaged = reader.damaged;
	return all;
}

static void test_packets(void **state)
{
	static const struct { const char *bytes, *bodies; unsigned damaged; } rows[] = {
		{ "$OK#9a", "OK|", 0 }, { "+$OK#9a+$E14#aa", "OK|E14|", 0 }, { "$#00", "|", 0 },
		{ "$OK#9b$OK#9a", "OK|", 1 },			/* a false sum */
		{ "$OK#9$OK#9a", "OK|", 1 },			/* one that has lost its end */
		{ "$O$OK#9a", "OK|", 1 }, { "$OK#9z$OK#9a", "OK|", 1 },
		{ "noise$OK#9anoise", "OK|", 0 },
		{ "$0* #7a", "0000|", 0 },			/* ' ' - 29 = 3 more */
		{ "$* #4a$OK#9a", "OK|", 1 },			/* nothing to repeat */
		{ "$}\x03#80", "#|", 0 }, { "$}\x04#81", "$|", 0 }, { "$}]#da", "}|", 0 },
		{ "$a}#de$OK#9a", "OK|", 1 },			/* nothing behind the escape */
		{ "$OK#9", "", 0 }, { "", "", 0 },
	};
	uint64_t damaged;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t piece = 1; piece < 9; piece++) {
			assert_string_equal(bodies_by(rows[i].bytes, strlen(rows[i].bytes), piece, &damaged),
				rows[i].bodies);
			assert_int_equal(damaged, rows[i].damaged);
		}
}

/* Neither a long body nor repeats make it write beyond its room. */
static void test_too_long(void **state)
{
	static char bytes[3 * GDB_BODY_MAX];
	uint64_t damaged;

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	bytes[0] = '$';
	memcpy(bytes + sizeof(bytes) - 9, "#00$OK#9a", 9);
	assert_string_equal(bodies_by(bytes, sizeof(bytes), sizeof(bytes), &damaged), "OK|");
	assert_int_equal(damaged, 1);
	for (size_t i = 1; i < sizeof(bytes) - 9; i += 3)
		memcpy(bytes + i, "a*~", 3);
	memcpy(bytes + sizeof(bytes) - 9, "#00$OK#9a", 9);
	assert_string_equal(bodies_by(bytes, sizeof(bytes), sizeof(bytes), &damaged), "OK|");
}

static void test_writing(void **state)
{
	static struct gdb_writer writer;
	char long_body[1024] = { 0 };

	(void)state;
	gdb_writer_put(&writer, "m%x,%x", 0x10, 4);
	assert_int_equal(writer.size, strlen("$m10,4#2e"));
	assert_memory_equal(writer.bytes, "$m10,4#2e", writer.size);
	memset(long_body, 'a', sizeof(long_body) - 1);
	gdb_writer_put(&writer, "%s", long_body);
	assert_true(writer.full);
	assert_int_equal(writer.size, strlen("$m10,4#2e"));
	for (size_t i = 0; i < sizeof(writer.bytes) / 4; i++)
		gdb_writer_put(&writer, "g");
	assert_true(writer.size <= sizeof(writer.bytes));
}

static void test_bytes(void **state)
{
	uint8_t to[4] = { 0 };

	(void)state;
	assert_int_equal(gdb_bytes("0aFf1", 5, to, 4), 2);
	assert_int_equal(to[0], 0x0a);
	assert_int_equal(to[1], 0xff);
	assert_int_equal(gdb_bytes("xx", 2, to, 4), 0);		/* QEMU tells so what it does not know */
	assert_int_equal(gdb_bytes("0102030405", 10, to, 4), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets), cmocka_unit_test(test_too_long), cmocka_unit_test(test_writing),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
