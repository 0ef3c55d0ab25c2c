/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gdb_packets.h"

enum { SUM_DIGITS = 2, FLIP = 0x20, FEWEST = 29, BODY_SENT = 512 };

/* ---- reading ---- */

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void add(struct gdb_reader *reader, char c, size_t times)
{
	if (times > GDB_BODY_MAX - reader->size) {
		reader->bad = true;
		return;
	}
	memset(reader->body + reader->size, c, times);
	reader->size += times;
}

static void begin(struct gdb_reader *reader)
{
	reader->part = GDB_BODY;
	reader->sum = reader->told = reader->digits = 0;
	reader->size = 0;
	reader->bad = false;
}

/* The number of repeats is told as one printable byte: 29 is added to it. */
static void repeat(struct gdb_reader *reader, uint8_t number)
{
	reader->part = GDB_BODY;
	if (reader->size == 0 || number < FEWEST)
		reader->bad = true;
	else
		add(reader, reader->body[reader->size - 1], (size_t)number - FEWEST);
}

static void take_in_body(struct gdb_reader *reader, char c)
{
	if (c == '#') {
		reader->bad |= reader->part != GDB_BODY;
		reader->part = GDB_SUM;
		return;
	}
	reader->sum += (uint8_t)c;
	if (reader->part == GDB_ESCAPED) {
		reader->part = GDB_BODY;
		add(reader, (char)(c ^ FLIP), 1);
	} else if (reader->part == GDB_REPEATED) {
		repeat(reader, (uint8_t)c);
	} else if (c == '}') {
		reader->part = GDB_ESCAPED;
	} else if (c == '*') {
		reader->part = GDB_REPEATED;
	} else {
		add(reader, c, 1);
	}
}

/* True: this byte ends a packet, and the packet is good. */
static bool take_in_sum(struct gdb_reader *reader, char c)
{
	int digit = digit_of(c);

	reader->bad |= digit < 0;
	reader->told = reader->told * 16 + (digit < 0 ? 0 : (unsigned)digit);
	if (++reader->digits < SUM_DIGITS)
		return false;
	reader->part = GDB_BETWEEN;
	reader->bad |= reader->told != (reader->sum & 0xff);
	reader->damaged += reader->bad;
	reader->body[reader->size] = '\0';
	return !reader->bad;
}

size_t gdb_reader_take(struct gdb_reader *reader, const void *bytes, size_t count, bool *whole)
{
	const char *at = bytes;
	size_t i = 0;

	for (*whole = false; i < count && !*whole; i++) {
		if (at[i] == '$') {	/* never inside a packet: the packet before has lost its end */
			reader->damaged += reader->part != GDB_BETWEEN;
			begin(reader);
		} else if (reader->part == GDB_SUM) {
			*whole = take_in_sum(reader, at[i]);
		} else if (reader->part != GDB_BETWEEN) {
			take_in_body(reader, at[i]);
		}
	}
	return i;
}

size_t gdb_bytes(const char *digits, size_t size, uint8_t *to, size_t most)
{
	size_t done = 0;

	for (; done < most && 2 * done + 1 < size; done++) {
		int high = digit_of(digits[2 * done]), low = digit_of(digits[2 * done + 1]);

		if (high < 0 || low < 0)
			break;
		to[done] = (uint8_t)(high * 16 + low);
	}
	return done;
}

/* ---- writing ---- */

void gdb_writer_clear(struct gdb_writer *writer)
{
	writer->size = 0;
	writer->full = false;
}

void gdb_writer_put(struct gdb_writer *writer, const char *format, ...)
{
	size_t room = sizeof(writer->bytes) - writer->size;
	char body[BODY_SENT];
	unsigned sum = 0;
	va_list list;
	int size;

	va_start(list, format);
	size = vsnprintf(body, sizeof(body), format, list);
	va_end(list);
	if (size < 0 || (size_t)size >= sizeof(body) || (size_t)size + 5 > room) {
		writer->full = true;
		return;
	}
	for (int i = 0; i < size; i++)
		sum += (uint8_t)body[i];
	writer->size += (size_t)snprintf(writer->bytes + writer->size, room, "$%s#%02x", body, sum & 0xff);
}
