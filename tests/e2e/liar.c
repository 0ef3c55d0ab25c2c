/* SPDX-License-Identifier: MIT */
/*
 * A VM all of whose texts try to trick the terminal: its kernel's name, the names of its functions, objects and
 * threads, its notes and answers, and the texts of QMP. Usage: liar DIR N. Serves DIR/qmp and DIR/port until standard
 * input ends. A text that there is one of contains trick N; among the functions are all tricks. Without N, prints the
 * number of tricks.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "tests/unit/fakes/fake_guest.h"
#include "tests/unit/fakes/fake_qmp.h"

static const char *const tricks[] = {
	"\033[31;7777m",	/* a colour */
	"\033[2J\033[500;500H",	/* clears the screen, moves the cursor */
	"\033]0;title\007",	/* the window's title */
	"\033]52;c;a3RvcA==\033\\",	/* the clipboard */
	"\033[6n\033[c\033Z",	/* asks the terminal for an answer */
	"\033P+q544e\033\\\033_x\033\\",
	"\033c\033#8\033(0\016",	/* resets; other letters */
	"\xc2\x9b" "31m\xc2\x9d" "0;x\xc2\x9c",	/* C1 in UTF-8 */
	"\x9b" "31m\x9d" "0;x\x9c",	/* C1 alone */
	"\a\b\b\b\t\n\v\f\r\177\005",
	"\xe2\x80\xae" "ver\xe2\x81\xa6o\xd7\x90",	/* changes the direction of writing */
	"\xe2\x80\x8b\xe2\x81\xa0\xef\xbb\xbf\xc2\xad",	/* characters without width */
	"Z\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xe2\x83\xa3",
	"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7\xef\xb8\x8f",
	"\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbf",
	"\xe6\xbc\xa2\xe5\xad\x97\xef\xbc\xa1\xea\xb0\x80",	/* wide characters */
	"\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8",	/* Hangul in pieces */
	"\xf3\xa0\x81\xa1\xf3\xa0\x80\xa0",	/* tags */
	"\xc0\x9b[31m\xed\xa0\x80\xf8\xff\xc1",	/* no UTF-8 */
};
enum { TRICKS = sizeof(tricks) / sizeof(*tricks), STEP_MS = 20, SAMPLES = 40 };
enum { FIRST = 0x1000, SIZE = 0x100, COUNT = 2 * TRICKS };

static void put(struct fake_guest *guest, uint16_t id, const struct body *body)
{
	guest->clock += FAKE_GUEST_TICKS_PER_MS;
	packets_begin(guest->packets, KTOP_META, 0, guest->clock);
	packets_event(guest->packets, guest->clock, id, body);
	packets_end(guest->packets, guest->clock);
}

/* A word with the trick behind it, repeated when a long text is wanted. */
static void add_text(struct body *body, const char *word, int trick, bool is_long)
{
	char text[KTOP_TEXT_MAX] = "";
	size_t used = 0, size = strlen(word) + strlen(tricks[trick]);

	do {
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", word,
			tricks[trick]);
	} while (is_long && used + size < sizeof(text));
	body_text(body, text);
}

static void tell_facts(struct fake_guest *guest, int trick)
{
	const struct ktop_wire_guest facts = { .cpus = 2, .clock = FAKE_GUEST_HZ };
	struct body body = { 0 };

	body_fixed(&body, &facts, sizeof(facts));
	add_text(&body, "kernel", trick, false);
	add_text(&body, "version", trick, false);
	add_text(&body, "arch", trick, false);
	add_text(&body, "anchor", trick, false);
	body_list(&body, NULL, 0, 1);
	put(guest, KTOP_EVENT_guest, &body);
}

static void tell_status(struct fake_guest *guest, int trick)
{
	const struct ktop_wire_status status = {
		.running = true, .rate = 997, .sampler_cpu = KTOP_NO_CPU
	};
	struct body body = { 0 };

	body_fixed(&body, &status, sizeof(status));
	add_text(&body, "note", trick, false);
	put(guest, KTOP_EVENT_status, &body);
}

static void tell_names(struct fake_guest *guest, int trick)
{
	const struct ktop_wire_process process = { .process = 1 };
	const struct ktop_wire_thread thread = { .thread = 7, .process = KTOP_KERNEL };
	const struct ktop_wire_object object = {
		.process = KTOP_KERNEL, .start = FIRST, .end = FIRST + COUNT * SIZE
	};
	struct body body[3] = { { 0 } };

	body_fixed(&body[0], &process, sizeof(process));
	add_text(&body[0], "process", trick, false);
	put(guest, KTOP_EVENT_process, &body[0]);
	body_fixed(&body[1], &thread, sizeof(thread));
	add_text(&body[1], "thread", trick, false);
	put(guest, KTOP_EVENT_thread, &body[1]);
	body_fixed(&body[2], &object, sizeof(object));
	add_text(&body[2], "object", trick, false);
	body_list(&body[2], NULL, 0, 1);
	put(guest, KTOP_EVENT_object, &body[2]);
}

static void tell_functions(struct fake_guest *guest)
{
	for (unsigned i = 0; i < COUNT; i++) {
		const struct ktop_wire_symbol symbol = {
			.address = FIRST + i * SIZE, .size = SIZE
		};
		struct body body = { 0 };

		body_fixed(&body, &symbol, sizeof(symbol));
		add_text(&body, i == 0 ? "function" : "", (int)(i % TRICKS), i >= TRICKS);
		put(guest, KTOP_EVENT_symbol, &body);
	}
}

static void sample(struct fake_guest *guest)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		unsigned leaf = i % COUNT, caller = (i + 1) % COUNT;

		fake_guest_sample(guest, i % 2, 1 + COUNT - leaf, FIRST + leaf * SIZE + 8,
			FIRST + caller * SIZE + 8);
	}
	fake_guest_counts(guest);
	fake_guest_beat(guest, STEP_MS);
}

/* Refuses each control line but hello, with the trick in the answer. */
static void answer(struct fake_guest *guest, int trick)
{
	const struct ktop_wire_reply refusal = { .ok = 0 };
	struct body body = { 0 };
	char *end = strchr(guest->lines, '\n');

	if (fake_guest_got(guest, "hello")) {
		fake_guest_reply(guest, true, "hello");
		return;
	}
	if (!end)
		return;
	memmove(guest->lines, end + 1, strlen(end + 1) + 1);
	body_fixed(&body, &refusal, sizeof(refusal));
	add_text(&body, "refused ", trick, false);
	put(guest, KTOP_EVENT_reply, &body);
}

/* Escapes a text for a string in JSON. */
static char *in_json(const char *text)
{
	char *json = util_alloc(6 * strlen(text) + 1), *to = json;

	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '\\' || *text == '"')
			to += sprintf(to, "\\u%04x", (unsigned char)*text);
		else
			*to++ = *text;
	return json;
}

static struct fake_qmp *qmp(const char *path, int trick)
{
	char *json = in_json(tricks[trick]);
	struct fake_answer answers[] = {
		{ "qmp_capabilities", "\"return\": {}" },
		{ "query-status", "\"return\": {\"status\": \"running\"}" },
		{ "query-cpus-fast", "\"return\": [{}, {}]" },
		{ "query-name", util_format("\"return\": {\"name\": \"vm%s\"}", json) },
		{ "\"property\":\"kernel\"", util_format("\"return\": \"/file%s\"", json) },
		{ "/machine/unattached",
			"\"return\": [{\"name\": \"device[9]\", \"type\": \"child<i8042>\"}]" },
		{ "", util_format("\"error\": {\"desc\": \"error%s\"}", json) },
		{ NULL, NULL },
	};
	static struct fake_answer kept[sizeof(answers) / sizeof(*answers)];

	free(json);
	memcpy(kept, answers, sizeof(answers));
	return fake_qmp_listen(&(struct fake_script) {
		.greeting = fake_greeting, .answers = kept }, path);
}

int main(int count, char **words)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int trick = count == 3 ? atoi(words[2]) : -1;
	struct fake_guest *guest;
	struct fake_qmp *monitor;

	if (trick < 0 || trick >= TRICKS || chdir(words[1]) != 0)
		return printf("%d\n", TRICKS) < 0;
	guest = fake_guest_new("port");
	tell_facts(guest, trick);
	tell_names(guest, trick);
	tell_functions(guest);
	tell_status(guest, trick);
	fake_guest_keys(guest);
	monitor = qmp("qmp", trick);
	while (poll(&input, 1, STEP_MS) == 0) {
		fake_guest_step(guest);
		if (guest->fd >= 0)
			sample(guest);
		answer(guest, trick);
	}
	fake_qmp_free(monitor);
	fake_guest_free(guest);
	return 0;
}
