/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/base/util.h"
#include "fake_guest.h"

enum { SEND_MOST = 64 << 10 };		/* bytes at a time: the sanitizer checks all that is offered */

struct fake_guest *fake_guest_new(const char *path)
{
	struct fake_guest *guest = util_alloc(sizeof(*guest));
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strncat(address.sun_path, path, sizeof(address.sun_path) - 1);
	guest->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(guest->listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
			listen(guest->listener, 4) < 0)
		abort();
	guest->fd = -1;
	guest->packets = packets_new(1);
	guest->clock = 5 * (uint64_t)FAKE_GUEST_HZ;
	return guest;
}

void fake_guest_hang_up(struct fake_guest *guest)
{
	if (guest->fd >= 0)
		close(guest->fd);
	guest->fd = -1;
	guest->lines[0] = '\0';
}

void fake_guest_free(struct fake_guest *guest)
{
	fake_guest_hang_up(guest);
	close(guest->listener);
	packets_free(guest->packets);
	free(guest);
}

static void put(struct fake_guest *guest, uint32_t stream, uint32_t cpu, uint16_t id,
	const struct body *body)
{
	guest->clock += FAKE_GUEST_TICKS_PER_MS;
	packets_begin(guest->packets, stream, cpu, guest->clock);
	if (body)
		packets_event(guest->packets, guest->clock, id, body);
	packets_end(guest->packets, guest->clock);
}

void fake_guest_facts(struct fake_guest *guest, const void *build_id, size_t build_id_size)
{
	const struct ktop_wire_guest facts = {
		.cpus = 2, .clock = FAKE_GUEST_HZ, .anchor_address = 0x1000
	};
	struct body body = { 0 };

	body_fixed(&body, &facts, sizeof(facts));
	body_text(&body, "toy\x1b[2J");
	body_text(&body, "1.0");
	body_text(&body, "x86_64");
	body_text(&body, "_start");
	body_list(&body, build_id, build_id_size, 1);
	put(guest, KTOP_META, 0, KTOP_EVENT_guest, &body);
}

void fake_guest_status(struct fake_guest *guest, bool running)
{
	const struct ktop_wire_status status = {
		.running = running, .rate = 997, .sampler_cpu = KTOP_NO_CPU, .sampler = guest->sampler,
	};
	struct body body = { 0 };

	guest->running = running;
	body_fixed(&body, &status, sizeof(status));
	body_text(&body, "");
	put(guest, KTOP_META, 0, KTOP_EVENT_status, &body);
}

void fake_guest_counts(struct fake_guest *guest)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const struct ktop_wire_cpu_status status = {
			.cpu = cpu,
			.stream = KTOP_SAMPLES,
			.enabled = guest->running,
			.taken = guest->taken[cpu],
			.cost = 1000 * guest->taken[cpu],
			.span = 100000 * guest->taken[cpu],
			.size = 4096,
		};
		struct body body = { 0 };

		body_fixed(&body, &status, sizeof(status));
		put(guest, KTOP_META, 0, KTOP_EVENT_cpu_status, &body);
	}
}

static void reply_once(struct fake_guest *guest, bool ok, const char *text)
{
	const struct ktop_wire_reply reply = { .ok = ok };
	struct body body = { 0 };

	body_fixed(&body, &reply, sizeof(reply));
	body_text(&body, text);
	put(guest, KTOP_META, 0, KTOP_EVENT_reply, &body);
}

void fake_guest_reply(struct fake_guest *guest, bool ok, const char *text)
{
	if (guest->echo[0] && strcmp(text, "hello") == 0) {
		reply_once(guest, true, guest->echo);
		guest->echo[0] = '\0';
	}
	reply_once(guest, ok, text);
}

void fake_guest_symbol(struct fake_guest *guest, uint64_t address, uint32_t size, const char *name)
{
	const struct ktop_wire_symbol symbol = { .address = address, .size = size };
	struct body body = { 0 };

	body_fixed(&body, &symbol, sizeof(symbol));
	body_text(&body, name);
	put(guest, KTOP_META, 0, KTOP_EVENT_symbol, &body);
}

void fake_guest_object(struct fake_guest *guest, uint32_t process, uint64_t start, uint64_t end,
	const char *name)
{
	const struct ktop_wire_object object = { .process = process, .start = start, .end = end };
	struct body body = { 0 };

	body_fixed(&body, &object, sizeof(object));
	body_text(&body, name);
	body_list(&body, NULL, 0, 1);
	put(guest, KTOP_META, 0, KTOP_EVENT_object, &body);
}

void fake_guest_keys(struct fake_guest *guest)
{
	static const uint8_t on[] = { 29, 56, 30 }, off[] = { 29, 56, 48 };
	struct body body = { 0 };

	body_list(&body, on, sizeof(on), 1);
	body_list(&body, off, sizeof(off), 1);
	put(guest, KTOP_META, 0, KTOP_EVENT_keys, &body);
}

void fake_guest_sample(struct fake_guest *guest, uint32_t cpu, uint32_t weight, uint64_t leaf,
	uint64_t caller)
{
	const struct ktop_wire_sample sample = {
		.process = KTOP_KERNEL,
		.thread = 7,
		.mode = KTOP_MODE_KERNEL,
		.weight = weight,
		.exact = 1,
	};
	const uint64_t kernel[] = { leaf, caller };
	struct body body = { 0 };

	body_fixed(&body, &sample, sizeof(sample));
	body_list(&body, kernel, 2, sizeof(kernel[0]));
	body_list(&body, NULL, 0, sizeof(kernel[0]));
	put(guest, KTOP_SAMPLES, cpu, KTOP_EVENT_sample, &body);
	guest->taken[cpu]++;
}

void fake_guest_missed(struct fake_guest *guest, uint32_t cpu, uint32_t ticks)
{
	const struct ktop_wire_missed missed = { .ticks = ticks };
	struct body body = { 0 };

	body_fixed(&body, &missed, sizeof(missed));
	put(guest, KTOP_SAMPLES, cpu, KTOP_EVENT_missed, &body);
	guest->taken[cpu]++;
}

void fake_guest_traces(struct fake_guest *guest, uint16_t id, const char *name)
{
	const struct ktop_wire_descriptor descriptor = { .event = id, .stream = KTOP_TRACE };
	const struct ktop_wire_tracing tracing = { .ids = 64 };
	const uint32_t mask[2] = { 0, 1u << (id - KTOP_TRACE_FIRST) };
	struct body body = { 0 }, masked = { 0 };

	body_fixed(&body, &descriptor, sizeof(descriptor));
	body_text(&body, name);
	body_text(&body, "");
	put(guest, KTOP_META, 0, KTOP_EVENT_descriptor, &body);
	body_fixed(&masked, &tracing, sizeof(tracing));
	body_list(&masked, mask, 2, sizeof(mask[0]));
	put(guest, KTOP_META, 0, KTOP_EVENT_tracing, &masked);
}

void fake_guest_beat(struct fake_guest *guest, uint64_t ms)
{
	guest->clock += (ms - 1) * FAKE_GUEST_TICKS_PER_MS;
	put(guest, KTOP_SAMPLES, 0, 0, NULL);
}

/* ktop's echo before hello is not a line that a test waits for. */
static void take_echoes(struct fake_guest *guest)
{
	char *at = guest->lines, *end;

	while ((end = strchr(at, '\n'))) {
		if (strncmp(at, "echo ", 5) != 0) {
			at = end + 1;
			continue;
		}
		*end = '\0';
		util_print(guest->echo, sizeof(guest->echo), "%s", at);
		memmove(at, end + 1, strlen(end + 1) + 1);
	}
}

static void read_lines(struct fake_guest *guest)
{
	size_t used = strlen(guest->lines);
	ssize_t got =
		recv(guest->fd, guest->lines + used, sizeof(guest->lines) - 1 - used, MSG_DONTWAIT);

	if (got == 0)
		fake_guest_hang_up(guest);
	if (got <= 0)
		return;
	guest->lines[used + (size_t)got] = '\0';
	take_echoes(guest);
}

void fake_guest_step(struct fake_guest *guest)
{
	if (guest->fd < 0)
		guest->fd = accept(guest->listener, NULL, NULL);
	if (guest->fd < 0)
		return;
	read_lines(guest);
	while (guest->fd >= 0 && guest->sent < guest->packets->size) {
		size_t left = guest->packets->size - guest->sent;
		ssize_t went = send(guest->fd, guest->packets->bytes + guest->sent,
			left < SEND_MOST ? left : SEND_MOST, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (went <= 0)
			break;
		guest->sent += (size_t)went;
	}
}

bool fake_guest_got(struct fake_guest *guest, const char *line)
{
	size_t size = strlen(line);

	if (strncmp(guest->lines, line, size) != 0 || guest->lines[size] != '\n')
		return false;
	memmove(guest->lines, guest->lines + size + 1, strlen(guest->lines + size + 1) + 1);
	return true;
}

void fake_guest_obey(struct fake_guest *guest)
{
	if (fake_guest_got(guest, "start")) {
		fake_guest_status(guest, true);
		fake_guest_reply(guest, true, "started");
	}
	if (fake_guest_got(guest, "stop")) {
		fake_guest_status(guest, false);
		fake_guest_counts(guest);
		fake_guest_reply(guest, true, "stopped");
	}
}
