/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "agent/vm/ram/ram_file.h"
#include "kernel-hook/plugin/ram.h"
#include "kernel-hook/wire.h"
#include "gdb_stub.h"
#include "gdb_stub_state.h"

/* ---- the target ---- */

enum { BITS = 8, BITS_MAX = 8 * 255 };

/* Overwrites comments with blanks: a register in a comment does not count. */
static void blank_comments(char *text)
{
	static const char begin[] = "<!--", end[] = "-->";
	char *from = text;

	while ((from = strstr(from, begin))) {
		char *to = strstr(from + strlen(begin), end);
		size_t size = to ? (size_t)(to + strlen(end) - from) : strlen(from);

		memset(from, ' ', size);
		from += size;
	}
}

/* Finds an attribute of the tag [at, end). False: it has none of this name, or the value is too long. */
static bool attribute(const char *at, const char *end, const char *name, char to[GDB_NAME])
{
	size_t size = strlen(name);

	for (; at + size + 2 < end; at++) {
		const char *value = at + size + 2, *close;

		if (strchr(" \t\r\n", *at) == NULL || strncmp(at + 1, name, size) != 0 || at[size + 1] != '=')
			continue;
		if (*value != '"' && *value != '\'')
			return false;
		close = memchr(value + 1, *value, (size_t)(end - value - 1));
		if (close == NULL || close - value - 1 >= GDB_NAME)
			return false;
		memcpy(to, value + 1, (size_t)(close - value - 1));
		to[close - value - 1] = '\0';
		return true;
	}
	return false;
}

static bool number_of(const char *at, const char *end, const char *name, unsigned long most, unsigned long *number)
{
	char text[GDB_NAME], *rest;

	if (!attribute(at, end, name, text) || text[0] < '0' || text[0] > '9')
		return false;
	*number = strtoul(text, &rest, 10);
	return *rest == '\0' && *number <= most;
}

static void take_register(struct gdb_target *target, const char *at, const char *end)
{
	static const char *const names[GDB_NAMED] = {
		[GDB_SP_EL0] = "SP_EL0", [GDB_TCR_EL1] = "TCR_EL1", [GDB_TTBR1_EL1] = "TTBR1_EL1",
		[GDB_PRIV] = "priv", [GDB_SATP] = "satp",
	};
	unsigned long bits = 0, number;
	char name[GDB_NAME];

	if (number_of(at, end, "regnum", UINT32_MAX, &number))
		target->next = (uint32_t)(number < GDB_NUMBERS ? number : GDB_NUMBERS);
	if (target->next >= GDB_NUMBERS)
		return;
	for (unsigned i = 0; i < GDB_NAMED && attribute(at, end, "name", name); i++)
		if (strcmp(name, names[i]) == 0)
			target->named[i] = target->next;
	number_of(at, end, "bitsize", BITS_MAX, &bits);
	target->sizes[target->next++] = bits <= BITS_MAX ? (uint8_t)(bits / BITS) : 0;
}

static void target_take_file(struct gdb_target *target, const char *at, const char *end)
{
	if (target->file_count < GDB_FILES && attribute(at, end, "href", target->files[target->file_count]))
		target->file_count++;
}

static void take_architecture(struct gdb_target *target, const char *at)
{
	size_t size = strcspn(at, "<");

	if (size < GDB_NAME) {
		memcpy(target->architecture, at, size);
		target->architecture[size] = '\0';
	}
}

static bool is_tag(const char *at, const char *name)
{
	size_t size = strlen(name);

	return strncmp(at, name, size) == 0 && at[size] && strchr(" \t\r\n/>", at[size]);
}

/* Reads one more file, and writes to `text` while it does. Skips what makes no sense. */
static void gdb_target_read(struct gdb_target *target, char *text)
{
	const char *at = text;

	blank_comments(text);
	while ((at = strchr(at, '<'))) {
		const char *end = strchr(++at, '>');

		if (end == NULL)
			return;
		if (is_tag(at, "reg"))
			take_register(target, at, end);
		else if (is_tag(at, "xi:include"))
			target_take_file(target, at, end);
		else if (is_tag(at, "architecture"))
			take_architecture(target, end + 1);
		at = end;
	}
}

/* QEMU's name of the architecture, for target_find(). NULL: it is not known here. */
static const char *gdb_target_name(const struct gdb_target *target)
{
	static const struct { const char *architecture, *name; } known[] = {
		{ "i386:x86-64", "x86_64" }, { "i386", "i386" }, { "riscv:rv64", "riscv64" },
		{ "aarch64", "aarch64" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(target->architecture, known[i].architecture) == 0)
			return known[i].name;
	return NULL;
}

long gdb_target_offset(const struct gdb_target *target, unsigned number)
{
	long offset = 0;

	if (number >= GDB_NUMBERS || target->sizes[number] == 0)
		return -1;
	for (unsigned i = 0; i < number; i++)
		offset += target->sizes[i];
	return offset;
}

/* ---- gdb stub ---- */

enum {
	ANSWER_MS = 1000,		/* for all answers of a sample; then the sample is given up */
	GREETING_MS = 5000,		/* for each answer of the greeting */
	LOOK_MS = 100,			/* between two looks at a machine that somebody has stopped */
	FRESH_MS = 1000,			/* for so long, what a sample has told of a CPU counts for the next */
	READ_BYTES = 16384,
	RUNS = 4,			/* after a sample, the machine runs this many times as long as it stood */
	RESTS_MS = 20000,		/* but need not run for longer than this */
};

/* The stop reply that answers `?` has this signal. One with another signal came by itself. */
#define SIGNAL_ASKED "T05"

/* ---- sending ---- */

static void lose(struct gdb_stub *stub, const char *why)
{
	if (stub->state == GDB_GONE)
		return;
	if (!stub->error[0] && !stub->leaves)
		snprintf(stub->error, sizeof(stub->error), "%s", why);
	close(stub->fd);
	stub->fd = -1;
	stub->state = GDB_GONE;
	stub->deadline = UINT64_MAX;
}

static void flush(struct gdb_stub *stub)
{
	struct gdb_writer *writer = &stub->writer;

	while (stub->state != GDB_GONE && stub->sent < writer->size) {
		ssize_t went = send(stub->fd, writer->bytes + stub->sent, writer->size - stub->sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (went < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (went < 0)
			lose(stub, "the connection was closed");
		else
			stub->sent += (size_t)went;
	}
	gdb_writer_clear(writer);
	stub->sent = 0;
	if (stub->state == GDB_LEAVING)
		shutdown(stub->fd, SHUT_WR);	/* QEMU closes once it has read all: then the machine runs */
}

static void enter(struct gdb_stub *stub, enum gdb_state state)
{
	stub->state = state;
	stub->deadline = state == GDB_RUNNING ? UINT64_MAX : stub->now + NS_PER_MS * (uint64_t)(
		state == GDB_PAUSED ? LOOK_MS : state == GDB_GREETING ? GREETING_MS : ANSWER_MS);
}

void gdb_ask(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, const char *format, ...)
{
	char body[GDB_NAME * 4];
	va_list list;

	va_start(list, format);
	vsnprintf(body, sizeof(body), format, list);
	va_end(list);
	gdb_writer_put(&stub->writer, "%s", body);
	if (stub->asked_count < GDB_ASKED)
		stub->asked[stub->asked_count++] = (struct gdb_asked) { .question = question, .cpu = cpu };
}

void gdb_begin_memory(struct gdb_stub *stub)
{
	if (!stub->physical)
		gdb_ask(stub, GDB_ASK_PHYSICAL, 0, GDB_PHYSICAL "1");
	stub->physical = true;
}

bool gdb_ask_memory(struct gdb_stub *stub, enum gdb_question question, uint32_t cpu, uint64_t address, uint32_t size)
{
	uint64_t physical;
	bool good = gdb_is_ram(stub, question, question == GDB_ASK_PAGE ? stub->page_cpu : cpu, address, size,
		&physical);

	if (stub->seeks || !good)
		return stub->seeks;
	gdb_begin_memory(stub);
	gdb_ask(stub, question, cpu, "m%" PRIx64 ",%" PRIx32, physical, size);
	stub->asked[stub->asked_count - 1].size = size;
	if (question == GDB_ASK_POINTER)
		stub->cpus[cpu].pointer_at = physical;
	return true;
}

/* The stub may be the user's, who does not expect it to be left so. */
void gdb_end_memory(struct gdb_stub *stub)
{
	if (stub->physical)
		gdb_ask(stub, GDB_ASK_PHYSICAL, 0, GDB_PHYSICAL "0");
	stub->physical = false;
}

static void forget_questions(struct gdb_stub *stub)
{
	stub->asked_first = stub->asked_count = stub->print_size = 0;
}

/* ---- from state to state ---- */

/*
 * If the machine runs, the first byte stops it, and QEMU drops the rest of the packet. If QEMU answers, the machine was
 * stopped already, by somebody else.
 */
static void put_stop(struct gdb_stub *stub)
{
	gdb_writer_put(&stub->writer, "?");
}

static void leave_now(struct gdb_stub *stub)
{
	enter(stub, GDB_LEAVING);
	flush(stub);
}

/* The machine is let go on after a sample, a complete one or not. */
static void rest(struct gdb_stub *stub)
{
	uint64_t most = (uint64_t)RESTS_MS * NS_PER_MS;

	stub->stopped = stub->now - stub->begun;
	stub->rests = stub->now + (stub->stopped < most / RUNS ? RUNS * stub->stopped : most);
}

/*
 * By the packet `c` the machine would also run amid the end of a migration, and QEMU would abort. The monitor refuses
 * that.
 */
static void put_go_on(struct gdb_stub *stub)
{
	if (stub->obeys)
		gdb_ask_monitor(stub, GDB_ASK_GO_ON, 0, "cont");
	else
		gdb_writer_put(&stub->writer, "c");
}

void gdb_go_on(struct gdb_stub *stub)
{
	bool held = stub->held;

	if (held)
		put_go_on(stub);
	if (held && stub->begun)
		rest(stub);
	stub->held = false;
	if (stub->leaves)
		leave_now(stub);
	else
		enter(stub, held ? GDB_RUNNING : GDB_PAUSED);
}

void gdb_fail(struct gdb_stub *stub, const char *why)
{
	snprintf(stub->error, sizeof(stub->error), "%s", why);
	stub->leaves = true;
	forget_questions(stub);
	gdb_go_on(stub);
}

/* If the machine runs, the first packet stops it, and only the second one is answered. */
void gdb_confuse(struct gdb_stub *stub)
{
	forget_questions(stub);
	gdb_writer_put(&stub->writer, "qC");
	gdb_writer_put(&stub->writer, "qC");
	enter(stub, GDB_CONFUSED);
}

static bool goes_further(const struct gdb_stub *stub)
{
	return gdb_leads_further(stub) || gdb_direct_judges(stub);
}

/* What is asked next, behind the answers of this state. */
static enum gdb_state next_of(const struct gdb_stub *stub)
{
	if (stub->state == GDB_REGISTERS)
		return GDB_STACKS;
	return stub->state == GDB_STACKS && goes_further(stub) ? GDB_FURTHER : GDB_PROGRAMS;
}

static bool is_last(const struct gdb_stub *stub, enum gdb_state state)
{
	return state == GDB_PROGRAMS ||
		(!gdb_leads_to_programs(stub) && (state == GDB_FURTHER || !goes_further(stub)));
}

/*
 * Asks a sample's next questions. Behind its last ones, the machine is let go on: it stands only until QEMU has
 * answered them. True: an answer is awaited.
 */
static bool ask_more(struct gdb_stub *stub)
{
	enum gdb_state next = next_of(stub);
	void (*ask)(struct gdb_stub *) = next == GDB_STACKS ? gdb_ask_stacks :
		next == GDB_FURTHER ? gdb_ask_further : gdb_ask_programs;

	if (gdb_seek(stub, ask))
		return true;
	enter(stub, next);
	ask(stub);
	stub->let_go = is_last(stub, next);
	gdb_end_memory(stub);
	if (stub->let_go)
		put_go_on(stub);
	return stub->asked_count;
}

/* All questions are answered. */
static void go_to_next(struct gdb_stub *stub)
{
	forget_questions(stub);
	if (stub->state == GDB_REGISTERS && (!stub->held || stub->leaves)) {
		gdb_go_on(stub);
		return;
	}
	while (!stub->let_go)
		if (ask_more(stub))
			return;
	gdb_end_sample(stub);
	stub->held = false;
	stub->taken = true;
	rest(stub);
	if (stub->leaves)
		leave_now(stub);
	else
		enter(stub, GDB_RUNNING);
}

/* ---- answers ---- */

/* All questions of this round are answered: those of a sample, or the one that let the machine go on. */
static void end_round(struct gdb_stub *stub)
{
	if (gdb_stub_busy(stub))
		go_to_next(stub);
	else
		forget_questions(stub);
}

/* A stop reply. While the machine ran, nobody here asked for a stop: somebody else has stopped it. */
static void take_stop(struct gdb_stub *stub, const char *body)
{
	if (stub->state == GDB_RUNNING)
		enter(stub, GDB_PAUSED);
	else if (stub->state == GDB_REGISTERS && strncmp(body, SIGNAL_ASKED, strlen(SIGNAL_ASKED)) == 0)
		stub->held = false;
}

static void take_answer(struct gdb_stub *stub, char *body, size_t size)
{
	struct gdb_asked asked;

	if (stub->state == GDB_CONFUSED && strncmp(body, "QC", 2) == 0)
		gdb_go_on(stub);
	if (stub->state == GDB_CONFUSED || stub->asked_first == stub->asked_count)
		return;
	asked = stub->asked[stub->asked_first];
	if (asked.question == GDB_ASK_GO_ON && strcmp(body, "OK") != 0)
		return;				/* to a question that was given up */
	stub->asked_first++;
	if (stub->state == GDB_GREETING) {		/* it asks one question at a time */
		forget_questions(stub);
		enter(stub, GDB_GREETING);
		gdb_take_greeting(stub, asked.question, body, size);
		return;
	}
	gdb_take_sample(stub, asked, body, size);
	if (stub->state != GDB_CONFUSED && stub->asked_first == stub->asked_count)
		end_round(stub);
}

static void take_bytes(struct gdb_stub *stub, const char *bytes, size_t count)
{
	struct gdb_reader *reader = &stub->reader;
	bool whole;

	while (count && stub->state != GDB_GONE) {
		size_t took = gdb_reader_take(reader, bytes, count, &whole);

		bytes += took;
		count -= took;
		if (whole && reader->body[0] == 'T')
			take_stop(stub, reader->body);
		else if (whole && reader->body[0] == 'O' && strcmp(reader->body, "OK") != 0)
			gdb_take_print(stub, reader->body + 1, reader->size - 1);
		else if (whole)
			take_answer(stub, reader->body, reader->size);
	}
}

static void read_some(struct gdb_stub *stub)
{
	char bytes[READ_BYTES];
	ssize_t got = recv(stub->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got > 0)
		take_bytes(stub, bytes, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		lose(stub, "the connection was closed");
}

/* What was asked last has not even gone: to ask again and again would fill the room for what lets the machine go on. */
static bool waits_to_be_read(const struct gdb_stub *stub)
{
	return stub->state == GDB_CONFUSED && stub->sent < stub->writer.size;
}

/* If QEMU's own process is stopped, it answers once it goes on. So ktop waits as long as the connection is there. */
static void be_late(struct gdb_stub *stub)
{
	if (stub->state == GDB_GREETING)
		gdb_fail(stub, "no answer to the greeting");
	else if (stub->state == GDB_PAUSED || stub->state == GDB_LEAVING || waits_to_be_read(stub))
		enter(stub, stub->state);
	else
		gdb_confuse(stub);
}

bool gdb_stub_step(struct gdb_stub *stub, uint64_t now)
{
	stub->now = now;
	stub->taken = false;
	if (stub->state != GDB_GONE)
		read_some(stub);
	if (now >= stub->deadline)
		be_late(stub);
	flush(stub);
	return stub->taken;
}

void gdb_stub_sample(struct gdb_stub *stub, uint64_t now)
{
	bool fresh = stub->state == GDB_RUNNING && now - stub->begun < (uint64_t)FRESH_MS * NS_PER_MS;

	if (stub->state != GDB_RUNNING && stub->state != GDB_PAUSED)
		return;
	stub->now = stub->begun = now;
	enter(stub, GDB_REGISTERS);
	stub->held = true;
	stub->let_go = false;
	stub->chooses = stub->monitor_cpu = stub->told_cpu = GDB_CPUS;
	stub->refused = false;
	put_stop(stub);
	gdb_ask_registers(stub, fresh);
	flush(stub);
}

void gdb_stub_leave(struct gdb_stub *stub, uint64_t now)
{
	stub->now = now;
	stub->leaves = true;
	if (stub->state == GDB_RUNNING || stub->state == GDB_PAUSED) {
		lose(stub, "");
	} else if (stub->state == GDB_GREETING) {
		forget_questions(stub);
		gdb_go_on(stub);
	}
}

/* ---- the rest ---- */

struct gdb_stub *gdb_stub_new(int fd, uint64_t now)
{
	struct gdb_stub *stub = util_alloc(sizeof(*stub));

	stub->fd = fd;
	stub->now = now;
	stub->held = true;
	enter(stub, GDB_GREETING);
	gdb_greet(stub);
	flush(stub);
	return stub;
}

void gdb_stub_free(struct gdb_stub *stub)
{
	if (!stub)
		return;
	if (stub->fd >= 0)
		close(stub->fd);
	ram_file_close(stub->shared);
	free(stub->text);
	free(stub->cpus);
	free(stub);
}

enum gdb_state gdb_stub_state(const struct gdb_stub *stub)
{
	return stub->state;
}

const char *gdb_stub_error(const struct gdb_stub *stub)
{
	return stub->error;
}

struct pollfd gdb_stub_wait(const struct gdb_stub *stub)
{
	return (struct pollfd) {
		.fd = stub->fd, .events = (short)(POLLIN | (stub->sent < stub->writer.size ? POLLOUT : 0)),
	};
}

uint64_t gdb_stub_due(const struct gdb_stub *stub)
{
	return stub->deadline;
}

const char *gdb_stub_arch(const struct gdb_stub *stub)
{
	return gdb_target_name(&stub->target);
}

uint32_t gdb_stub_cpus(const struct gdb_stub *stub)
{
	return stub->cpu_count;
}

void gdb_stub_look(struct gdb_stub *stub, uint64_t address, uint32_t size)
{
	stub->place = address;
	stub->place_size = size < GDB_SEEN ? size : GDB_SEEN;
}

const uint8_t *gdb_stub_seen(const struct gdb_stub *stub, uint32_t size)
{
	return size && stub->seen_size == size ? stub->seen : NULL;
}

void gdb_stub_read(struct gdb_stub *stub, const uint64_t *addresses, uint32_t count)
{
	stub->page_count = count < GDB_PAGES ? count : GDB_PAGES;
	for (uint32_t i = 0; i < stub->page_count; i++) {
		stub->pages[i].address = addresses[i];
		stub->pages[i].size = 0;
	}
}

bool gdb_stub_page(const struct gdb_stub *stub, uint64_t address, const uint8_t **bytes)
{
	for (uint32_t i = 0; i < stub->page_count; i++) {
		const struct gdb_page *page = &stub->pages[i];

		if (page->address != address)
			continue;
		*bytes = page->size == GDB_PAGE ? page->bytes : NULL;
		return true;
	}
	return false;
}

bool gdb_stub_knows_ram(const struct gdb_stub *stub)
{
	return stub->map.count;
}

bool gdb_stub_refused(const struct gdb_stub *stub)
{
	return stub->refused;
}

bool gdb_stub_in_kernel(const struct gdb_stub *stub)
{
	const struct gdb_cpu *cpu = &stub->cpus[stub->page_cpu];

	return cpu->known && cpu->state.mode == KTOP_MODE_KERNEL &&
		(cpu->idle || ram_maps_kernel(&cpu->state, cpu->stack_size));
}

const struct target_state *gdb_stub_cpu(const struct gdb_stub *stub, uint32_t cpu, struct gdb_stack *stack)
{
	const struct gdb_cpu *is = &stub->cpus[cpu];
	uint32_t size = is->stack_size < KTOP_STACK_MAX ? is->stack_size : KTOP_STACK_MAX;
	bool longer = is->stack_size > size;

	*stack = (struct gdb_stack) {
		.bytes = is->stack, .size = size, .linked = is->stack + size,
		.linked_size = longer ? is->stack_size - size : is->linked_size,
		.linked_address = longer ? is->state.sp + size : is->linked_address,
		.user = is->user, .user_size = is->user_size, .user_address = is->user_address,
	};
	if (!is->known || is->idle)
		stack->size = stack->linked_size = stack->user_size = 0;
	return is->known ? &is->state : NULL;
}

bool gdb_stub_busy(const struct gdb_stub *stub)
{
	return stub->state >= GDB_REGISTERS && stub->state <= GDB_PROGRAMS;
}

bool gdb_stub_idle(const struct gdb_stub *stub, uint32_t cpu)
{
	return stub->cpus[cpu].idle;
}

uint64_t gdb_stub_begun(const struct gdb_stub *stub)
{
	return stub->begun;
}

uint64_t gdb_stub_stopped(const struct gdb_stub *stub)
{
	return stub->stopped;
}

uint64_t gdb_stub_rests(const struct gdb_stub *stub)
{
	return stub->rests;
}

/* ---- greeting ---- */

/*
 * The greeting asks what the machine is: the stub's features, the target description file by file, the CPUs; and where
 * its RAM is.
 */

static void ask_file(struct gdb_stub *stub)
{
	gdb_ask(stub, GDB_ASK_FILE, 0, "qXfer:features:read:%s:%zx,7fb",
		stub->file ? stub->target.files[stub->file - 1] : "target.xml", stub->text_size);
}

void gdb_greet(struct gdb_stub *stub)
{
	gdb_ask(stub, GDB_ASK_FEATURES, 0, "qSupported:multiprocess+");
}

static void take_features(struct gdb_stub *stub, const char *body)
{
	if (strstr(body, "qXfer:features:read+"))
		ask_file(stub);
	else
		gdb_fail(stub, "the stub does not describe its registers");
}

static void end_file(struct gdb_stub *stub)
{
	stub->text[stub->text_size] = '\0';
	gdb_target_read(&stub->target, stub->text);
	stub->text_size = 0;
	if (stub->file++ < stub->target.file_count) {
		ask_file(stub);
		return;
	}
	stub->cpu_target = gdb_target_name(&stub->target) ? target_find(gdb_target_name(&stub->target)) : NULL;
	if (stub->cpu_target)
		gdb_ask(stub, GDB_ASK_THREADS, 0, "qfThreadInfo");
	else
		gdb_fail(stub, "a CPU that is not known here: x86_64, i386, riscv64 and aarch64 are");
}

/* An answer is 'm' and a part of the file, or 'l' and its last part. */
static void take_file(struct gdb_stub *stub, const char *body, size_t size)
{
	if ((body[0] != 'm' && body[0] != 'l') || size > GDB_TEXT - stub->text_size) {
		gdb_fail(stub, "the description of its registers cannot be read");
		return;
	}
	if (stub->text == NULL)
		stub->text = util_alloc(GDB_TEXT + 1);
	memcpy(stub->text + stub->text_size, body + 1, size - 1);
	stub->text_size += size - 1;
	if (body[0] == 'm' && size > 1)
		ask_file(stub);
	else
		end_file(stub);
}

static bool is_id(const char *id)
{
	size_t size = strspn(id, "p.0123456789abcdefABCDEF");

	return size && id[size] == '\0' && size < sizeof(((struct gdb_cpu *)NULL)->id);
}

/* ---- CPUs ---- */

static void ask_for_ram(struct gdb_stub *stub)
{
	gdb_ask(stub, GDB_ASK_PHYSICAL, 0, GDB_PHYSICAL "0");
}

/* An answer is 'm' and ids with commas between them. 'l': there are no more. */
static void take_threads(struct gdb_stub *stub, char *body)
{
	char *rest = NULL;

	if (body[0] == 'l' && stub->cpu_count) {
		ask_for_ram(stub);
		return;
	}
	if (body[0] != 'm') {
		gdb_fail(stub, "the stub does not tell its CPUs");
		return;
	}
	if (stub->cpus == NULL)
		stub->cpus = util_alloc(GDB_CPUS * sizeof(*stub->cpus));
	for (char *id = strtok_r(body + 1, ",", &rest); id && stub->cpu_count < GDB_CPUS;
			id = strtok_r(NULL, ",", &rest))
		if (is_id(id))
			strcpy(stub->cpus[stub->cpu_count++].id, id);
	if (stub->cpu_count < GDB_CPUS)
		gdb_ask(stub, GDB_ASK_THREADS, 0, "qsThreadInfo");
	else
		ask_for_ram(stub);
}

/* ---- RAM ---- */

/* A stub that takes physical addresses is asked where there is RAM. */
static void take_physical(struct gdb_stub *stub, const char *body)
{
	if (strcmp(body, "OK") == 0)
		gdb_ask_monitor(stub, GDB_ASK_MAP, 0, RAM_MAP_COMMAND);
	else
		gdb_go_on(stub);
}

static void take_map(struct gdb_stub *stub, const char *body)
{
	stub->obeys = strcmp(body, "OK") == 0;
	ram_map_finish(&stub->map, gdb_stub_arch(stub));
	gdb_go_on(stub);
}

void gdb_take_greeting(struct gdb_stub *stub, enum gdb_question question, char *body, size_t size)
{
	if (question == GDB_ASK_FEATURES)
		take_features(stub, body);
	else if (question == GDB_ASK_FILE)
		take_file(stub, body, size);
	else if (question == GDB_ASK_THREADS)
		take_threads(stub, body);
	else if (question == GDB_ASK_PHYSICAL)
		take_physical(stub, body);
	else
		take_map(stub, body);
}
