/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/base/util.h"
#include "console_text.h"

enum { TAB = 8, ESCAPE = 27, DELETE = 127, NUMBER_MOST = CONSOLE_CELLS };

/* Both are rings. A line lies in one piece: one that would go over the end of the bytes begins at their beginning. */
struct console_text {
	uint32_t lines[CONSOLE_LINES];	/* where their bytes are; a zero ends each */
	uint64_t first, end;
	uint32_t next;			/* where the next line's bytes go */
	char bytes[CONSOLE_BYTES];
};

struct console_text *console_text_new(void)
{
	return util_alloc(sizeof(struct console_text));
}

void console_text_free(struct console_text *text)
{
	free(text);
}

uint64_t console_text_first(const struct console_text *text)
{
	return text->first;
}

uint64_t console_text_end(const struct console_text *text)
{
	return text->end;
}

bool console_text_line(const struct console_text *text, uint64_t number, char line[CONSOLE_LINE])
{
	bool there = number >= text->first && number < text->end;

	strcpy(line, there ? text->bytes + text->lines[number % CONSOLE_LINES] : "");
	return there;
}

static size_t utf8(uint32_t code, char bytes[4])
{
	if (code < 0x80) {
		bytes[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		bytes[0] = (char)(0xc0 | code >> 6);
		bytes[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		bytes[0] = (char)(0xe0 | code >> 12);
		bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | code >> 18);
	bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

void console_text_open_line(const struct console_writer *writer, char line[CONSOLE_LINE])
{
	size_t used = 0;

	for (int i = 0; i < writer->count; i++)
		used += utf8(writer->cells[i], line + used);
	line[used] = '\0';
}

/* Forgets the oldest lines: so many that there is a place for another, and those that begin in these bytes. */
static void make_room(struct console_text *text, uint32_t from, uint32_t to)
{
	while (text->first < text->end) {
		uint32_t at = text->lines[text->first % CONSOLE_LINES];

		if (text->end - text->first < CONSOLE_LINES && (at < from || at >= to))
			return;
		text->first++;
	}
}

static void end_line(struct console_text *text, struct console_writer *writer)
{
	char line[CONSOLE_LINE];
	uint32_t size;

	console_text_open_line(writer, line);
	size = (uint32_t)strlen(line) + 1;
	if (text->next + size > CONSOLE_BYTES) {
		make_room(text, text->next, CONSOLE_BYTES);
		text->next = 0;
	}
	make_room(text, text->next, text->next + size);
	memcpy(text->bytes + text->next, line, size);
	text->lines[text->end++ % CONSOLE_LINES] = text->next;
	text->next += size;
	writer->count = writer->column = 0;
}

void console_text_end_line(struct console_text *text, struct console_writer *writer)
{
	if (writer->count)
		end_line(text, writer);
}

/* ---- the line that is being written ---- */

static void fill_up(struct console_writer *writer, int column)
{
	while (writer->count < column)
		writer->cells[writer->count++] = ' ';
}

static void put_character(struct console_text *text, struct console_writer *writer, uint32_t code)
{
	if (writer->column >= CONSOLE_CELLS)
		end_line(text, writer);
	fill_up(writer, writer->column);
	writer->cells[writer->column++] = util_is_printable(code) ? code : '?';
	if (writer->count < writer->column)
		writer->count = writer->column;
}

/* Trailing spaces are left out: erased cells are such. */
static void erase(struct console_writer *writer, int from, int to)
{
	for (int i = from; i < to && i < writer->count; i++)
		writer->cells[i] = ' ';
	while (writer->count && writer->cells[writer->count - 1] == ' ')
		writer->count--;
}

static void move_to(struct console_writer *writer, int column)
{
	writer->column = column < 0 ? 0 : column < CONSOLE_CELLS ? column : CONSOLE_CELLS - 1;
}

/* Takes out `number` cells at the column, or puts in as many spaces. */
static void shift(struct console_writer *writer, int number, bool insert)
{
	int at = writer->column, left = writer->count - at, room = CONSOLE_CELLS - at;

	if (left <= 0)
		return;
	number = number < room ? number : room;
	if (insert) {
		int kept = left < room - number ? left : room - number;

		memmove(writer->cells + at + number, writer->cells + at, (size_t)kept * sizeof(*writer->cells));
		writer->count = at + number + kept;
		erase(writer, at, at + number);
	} else {
		number = number < left ? number : left;
		memmove(writer->cells + at, writer->cells + at + number,
			(size_t)(left - number) * sizeof(*writer->cells));
		writer->count -= number;
	}
}

/* The sequence ESC [ NUMBER FINAL. One that moves to another line of a screen begins a new line here. */
static void obey(struct console_text *text, struct console_writer *writer, char final)
{
	int given = writer->number, number = given > 0 ? given : 1;

	switch (final) {
	case 'C':
		move_to(writer, writer->column + number);
		break;
	case 'D':
		move_to(writer, writer->column - number);
		break;
	case 'G': case '`':
		move_to(writer, number - 1);
		break;
	case 'J': case 'K':
		if (given == 1 || given == 2)
			erase(writer, 0, given == 1 ? writer->column + 1 : writer->count);
		else
			erase(writer, writer->column, writer->count);
		break;
	case 'X':
		erase(writer, writer->column, writer->column + number);
		break;
	case 'P': case '@':
		shift(writer, number, final == '@');
		break;
	case 'A': case 'B': case 'E': case 'F': case 'H': case 'd': case 'f':
		console_text_end_line(text, writer);
		writer->column = 0;
		break;
	default:
		break;
	}
}

static void control(struct console_text *text, struct console_writer *writer, unsigned char byte)
{
	switch (byte) {
	case '\r':
		writer->column = 0;
		break;
	case '\n': case '\v': case '\f':
		end_line(text, writer);
		break;
	case '\b':
		move_to(writer, writer->column - 1);
		break;
	case '\t':
		move_to(writer, (writer->column / TAB + 1) * TAB);
		break;
	case ESCAPE:
		writer->state = WRITER_ESCAPE;
		break;
	default:
		break;
	}
}

/* The byte behind an ESC. */
static void begin_sequence(struct console_writer *writer, unsigned char byte)
{
	writer->state = WRITER_TEXT;
	writer->number = -1;
	writer->later = false;
	if (byte == '[')
		writer->state = WRITER_CSI;
	else if (strchr("]PX^_", byte) && byte)
		writer->state = WRITER_STRING;
	else if (byte >= ' ' && byte <= '/')
		writer->state = WRITER_SKIP_ONE;
}

static void take_csi(struct console_text *text, struct console_writer *writer, unsigned char byte)
{
	if (byte >= '0' && byte <= '9' && !writer->later)
		writer->number = writer->number > NUMBER_MOST ? writer->number :
			(writer->number > 0 ? writer->number : 0) * 10 + (byte - '0');
	else if (byte >= ' ' && byte <= '?')
		writer->later = writer->later || byte > '9' || byte < '0';
	if (byte >= ' ' && byte <= '?')
		return;
	writer->state = WRITER_TEXT;
	if (byte >= '@' && byte < DELETE)
		obey(text, writer, (char)byte);
	else
		control(text, writer, byte);
}

/* A byte of a character; a bad one is a '?', and so is a character that another byte cuts short. */
static void take_text(struct console_text *text, struct console_writer *writer, char byte)
{
	bool goes_on = (unsigned char)byte >> 6 == 2;
	uint32_t code;

	if (writer->partial_count && !goes_on) {
		put_character(text, writer, '?');
		writer->partial_count = 0;
	}
	writer->partial[writer->partial_count++] = byte;
	if (util_utf8(writer->partial, (size_t)writer->partial_count, &code))
		put_character(text, writer, code);
	else if (writer->partial_count < 4 && (unsigned char)writer->partial[0] >= 0xc2)
		return;
	else
		put_character(text, writer, '?');
	writer->partial_count = 0;
}

static void take(struct console_text *text, struct console_writer *writer, char given)
{
	unsigned char byte = (unsigned char)given;

	switch (writer->state) {
	case WRITER_ESCAPE:
		begin_sequence(writer, byte);
		if (byte < ' ')
			control(text, writer, byte);
		return;
	case WRITER_SKIP_ONE:
		writer->state = WRITER_TEXT;
		if (byte < ' ')
			control(text, writer, byte);
		return;
	case WRITER_CSI:
		take_csi(text, writer, byte);
		return;
	case WRITER_STRING:		/* up to BEL, or ESC \; one that goes over the end of a line is none */
		writer->state = byte == 7 ? WRITER_TEXT : byte == ESCAPE ? WRITER_STRING_ESCAPE :
			byte == '\n' ? WRITER_TEXT : WRITER_STRING;
		if (byte == '\n')
			end_line(text, writer);
		return;
	case WRITER_STRING_ESCAPE:
		writer->state = WRITER_TEXT;
		if (byte != '\\')
			begin_sequence(writer, byte);
		return;
	case WRITER_TEXT:
		break;
	}
	if (byte < ' ' || byte == DELETE) {
		if (writer->partial_count)
			put_character(text, writer, '?');
		writer->partial_count = 0;
		control(text, writer, byte);
	} else {
		take_text(text, writer, given);
	}
}

void console_text_put(struct console_text *text, struct console_writer *writer, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		take(text, writer, bytes[i]);
}
