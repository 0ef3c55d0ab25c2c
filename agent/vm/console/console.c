/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/base/wakeup.h"
#include "console.h"

/* ---- its text ---- */

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

/* Unless it is empty. */
static void console_text_end_line(struct console_text *text, struct console_writer *writer)
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

static void text_take(struct console_text *text, struct console_writer *writer, char given)
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
		text_take(text, writer, bytes[i]);
}

/* ---- console ---- */

enum { READ = 16384, TYPED_MOST = 4096, ROWS = 24, COLUMNS = 80 };

/* QEMU's own terminal, and a pty of its guest's serial port. */
enum source { SOURCE_TERMINAL, SOURCE_PORT, SOURCES };

struct console {
	pthread_t thread;
	int wake;			/* an eventfd: readable when the thread has something to do besides reading */
	int ended;			/* an eventfd: readable once the terminal was closed */
	int inside;			/* QEMU's end of the terminal; -1: it is not kept here any more */
	const char *path;		/* the file's; NULL: there is none */
	int file;

	pthread_mutex_t lock;		/* for all below */
	bool over;			/* the thread has to end */
	bool no_port;			/* no serial port of the guest is there */
	int fds[SOURCES];		/* -1: not open */
	struct console_writer writers[SOURCES];
	struct console_text *text;
	uint64_t bytes;
	uint64_t missing;		/* bytes that the file lacks */
	int error;			/* the errno of the last write to it that failed */
	char typed[TYPED_MOST];
	size_t typed_count;
	struct wakeup *wakeup;
	bool told;			/* the wakeup was sent since the last console_extent */
};

/* ---- the thread ---- */

/* What is typed goes to the serial port's own pty, if there is one. */
static enum source typed_to(const struct console *console)
{
	return console->fds[SOURCE_PORT] >= 0 ? SOURCE_PORT : SOURCE_TERMINAL;
}

static void close_source(struct console *console, enum source source)
{
	close(console->fds[source]);
	console->fds[source] = -1;
	console_text_end_line(console->text, &console->writers[source]);
	if (source == SOURCE_TERMINAL)
		eventfd_write(console->ended, 1);
}

/* The file gets it without the lock: a disk may be slow. */
static void save(struct console *console, const char *bytes, size_t size)
{
	size_t done = 0;
	ssize_t wrote = 0;

	while (console->path && done < size && (wrote = write(console->file, bytes + done, size - done)) > 0)
		done += (size_t)wrote;
	if (!console->path || done == size)
		return;
	pthread_mutex_lock(&console->lock);
	console->error = wrote < 0 ? errno : ENOSPC;
	console->missing += size - done;
	pthread_mutex_unlock(&console->lock);
}

/* At the other end of a pty, an error means that nobody has it open. */
static void take(struct console *console, enum source source)
{
	char bytes[READ];
	ssize_t size = read(console->fds[source], bytes, sizeof(bytes));

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size > 0)
		save(console, bytes, (size_t)size);
	pthread_mutex_lock(&console->lock);
	if (size > 0)
		console_text_put(console->text, &console->writers[source], bytes, (size_t)size);
	else
		close_source(console, source);
	console->bytes += size > 0 ? (uint64_t)size : 1;
	if (console->wakeup && !console->told)
		wakeup_send(console->wakeup);
	console->told = true;
	pthread_mutex_unlock(&console->lock);
}

static void send_typed(struct console *console)
{
	ssize_t size;

	pthread_mutex_lock(&console->lock);
	size = write(console->fds[typed_to(console)], console->typed, console->typed_count);
	if (size > 0) {
		console->typed_count -= (size_t)size;
		memmove(console->typed, console->typed + size, console->typed_count);
	}
	pthread_mutex_unlock(&console->lock);
}

static void *read_all(void *context)
{
	struct console *console = context;
	eventfd_t count;

	for (;;) {
		struct pollfd ready[SOURCES + 1] = { { .fd = console->wake, .events = POLLIN } };
		bool over;

		pthread_mutex_lock(&console->lock);
		over = console->over;
		for (int i = 0; i < SOURCES; i++)
			ready[i + 1] = (struct pollfd) { .fd = console->fds[i], .events = POLLIN };
		if (console->typed_count)
			ready[typed_to(console) + 1].events |= POLLOUT;
		pthread_mutex_unlock(&console->lock);
		if (over)
			return NULL;
		if (poll(ready, SOURCES + 1, -1) < 0)
			continue;
		if (ready[0].revents)
			eventfd_read(console->wake, &count);
		for (int i = 0; i < SOURCES; i++) {
			if (ready[i + 1].revents & POLLOUT)
				send_typed(console);
			if (ready[i + 1].revents & ~POLLOUT)
				take(console, (enum source)i);
		}
	}
}

/* ---- opening and closing ---- */

/* Bytes go through as they are: a key of the terminal, such as Ctrl-C, is for the guest. */
static bool make_raw(int fd)
{
	struct termios modes;

	if (tcgetattr(fd, &modes) < 0)
		return false;
	cfmakeraw(&modes);
	modes.c_oflag &= ~(tcflag_t)ONLCR;
	return tcsetattr(fd, TCSANOW, &modes) == 0;
}

static bool open_terminal(struct console *console)
{
	const struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK), unlocked = 0;

	console->fds[SOURCE_TERMINAL] = master;
	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) < 0)
		return false;
	console->inside = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return console->inside >= 0 && ioctl(console->inside, TIOCSWINSZ, &size) == 0 && make_raw(console->inside);
}

/* A FIFO without a reader is refused, and nothing that is opened here makes ktop wait. */
static bool open_file(struct console *console, const char *path, char **error)
{
	struct stat is;

	console->path = path;
	if (!path)
		return true;
	console->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
	if (console->file < 0)
		return util_fail(error, "--console %s: not written: %s; give a file that you may write", path,
			strerror(errno));
	if (fstat(console->file, &is) == 0 && S_ISDIR(is.st_mode))
		return util_fail(error, "--console %s: it is a folder; give a file", path);
	return true;
}

/* What of a console is open, whether its thread runs or not. */
static void clear(struct console *console)
{
	int fds[] = { console->wake, console->ended, console->inside, console->file, console->fds[0], console->fds[1] };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&console->lock);
	console_text_free(console->text);
	free(console);
}

struct console *console_new(const char *file, char **error)
{
	struct console *console = util_alloc(sizeof(*console));
	bool good;

	console->inside = console->file = console->fds[SOURCE_TERMINAL] = console->fds[SOURCE_PORT] = -1;
	console->text = console_text_new();
	pthread_mutex_init(&console->lock, NULL);
	console->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	console->ended = eventfd(0, EFD_CLOEXEC);
	good = open_file(console, file, error);
	if (good && (console->wake < 0 || console->ended < 0 || !open_terminal(console)))
		good = util_fail(error, "no terminal made for QEMU: %s; is /dev/pts mounted, and has it room?",
			strerror(errno));
	if (good && pthread_create(&console->thread, NULL, read_all, console) != 0)
		good = util_fail(error, "no thread for QEMU's console: no memory for it, or too many threads; close "
			"other programs");
	if (good)
		return console;
	clear(console);
	return NULL;
}

static void wake(struct console *console)
{
	eventfd_write(console->wake, 1);
}

void console_free(struct console *console)
{
	if (!console)
		return;
	pthread_mutex_lock(&console->lock);
	console->over = true;
	pthread_mutex_unlock(&console->lock);
	wake(console);
	pthread_join(console->thread, NULL);
	clear(console);
}

int console_inside(const struct console *console)
{
	return console->inside;
}

void console_started(struct console *console)
{
	close(console->inside);
	console->inside = -1;
}

void console_no_port(struct console *console)
{
	pthread_mutex_lock(&console->lock);
	console->no_port = true;
	pthread_mutex_unlock(&console->lock);
}

bool console_open_port(struct console *console, const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (!make_raw(fd)) {
		close(fd);
		return false;
	}
	pthread_mutex_lock(&console->lock);
	console->fds[SOURCE_PORT] = fd;
	pthread_mutex_unlock(&console->lock);
	wake(console);
	return true;
}

/* ---- what others ask ---- */

void console_drain(struct console *console, int wait_ms)
{
	while (poll(&(struct pollfd) { .fd = console->ended, .events = POLLIN }, 1, wait_ms) < 0 && errno == EINTR)
		;
}

void console_listen(struct console *console, struct wakeup *wakeup)
{
	pthread_mutex_lock(&console->lock);
	console->wakeup = wakeup;
	console->told = false;
	pthread_mutex_unlock(&console->lock);
}

struct console_extent console_extent(struct console *console)
{
	struct console_extent extent;

	pthread_mutex_lock(&console->lock);
	console->told = false;
	extent = (struct console_extent) {
		.first = console_text_first(console->text), .end = console_text_end(console->text),
		.bytes = console->bytes, .column = -1, .no_port = console->no_port,
		.open = console->fds[typed_to(console)] >= 0 && !console->no_port,
	};
	for (int i = 0; i < SOURCES; i++)
		extent.end += console->writers[i].count > 0;
	if (console->writers[typed_to(console)].count)
		extent.column = console->writers[typed_to(console)].column;
	pthread_mutex_unlock(&console->lock);
	return extent;
}

/* Behind the lines that have ended are those that have not: the one that is typed to is the last. */
bool console_line(struct console *console, uint64_t number, char line[CONSOLE_LINE])
{
	bool there;
	uint64_t end;

	pthread_mutex_lock(&console->lock);
	there = console_text_line(console->text, number, line);
	end = console_text_end(console->text);
	for (int i = 0; i < SOURCES; i++)
		if (console->writers[i].count && number == end++) {
			console_text_open_line(&console->writers[i], line);
			there = true;
		}
	pthread_mutex_unlock(&console->lock);
	return there;
}

bool console_type(struct console *console, const char *bytes, size_t size)
{
	bool taken;

	pthread_mutex_lock(&console->lock);
	taken = console->fds[typed_to(console)] >= 0 && size <= TYPED_MOST - console->typed_count;
	if (taken) {
		memcpy(console->typed + console->typed_count, bytes, size);
		console->typed_count += size;
	}
	pthread_mutex_unlock(&console->lock);
	wake(console);
	return taken;
}

char *console_trouble(struct console *console)
{
	char *text = NULL;

	pthread_mutex_lock(&console->lock);
	if (console->missing)
		text = util_format("--console %s: %" PRIu64 " byte%s not written: %s; %s", console->path,
			console->missing, util_plural(console->missing), strerror(console->error),
			util_write_remedy(console->error));
	pthread_mutex_unlock(&console->lock);
	return text;
}
